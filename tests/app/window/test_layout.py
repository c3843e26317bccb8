"""In every panel nothing is cut and nothing covered: at both sizes of the window, and in large type."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from covering import others_slow
from layout_faults import faults_of, noted_texts
from PySide6.QtGui import QPolygonF
from PySide6.QtWidgets import QAbstractButton
from pytestqt.exceptions import TimeoutError
from pytestqt.qtbot import QtBot

from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.configuration_form import UNFOLD
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.window.main_window import MainWindow
from lmviz.text.tokenizer import visible
from tests.app.conftest import wait_for_reading

SIZES = ((1440, 900), (1280, 720))
NAMES = [perspective.name for perspective in PERSPECTIVES]
LETTERS = "the cows eat grass and the hens eat corn while the dog sleeps near the old red barn."
TEXTS = {
    "ngram": LETTERS,
    "lstm": "the cows eat grass the hens",
    "transformer": "the cows eat grass the hens",
    "tagger": "time flies like an arrow",
    "classifier": "the film is not bad",
    "translator": "rouge voiture",
    "captioner": "2 dots",
}
SETTINGS = {"ngram": {"order": 4}, "lstm": {"width": 8}, "transformer": {"width": 8, "heads": 2, "layers": 2}}
SMALL = SIZES[-1]
QUICK = [("transformer", SMALL, names) for names in (("inside", "sample"), ("train", "attention"))]
CASES = [*((kind, size, tuple(NAMES)) for kind in TEXTS for size in SIZES), *QUICK]


@pytest.fixture
def opened(
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    label_runs: dict[str, Path],
    text_file: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> Callable[[str], None]:
    """Call it with a kind of model to open a small one, its text and a prefix; the n-gram counts letters."""

    def open_kind(kind: str) -> None:
        from lmviz.api.training import train
        from lmviz.text.corpus import load_corpus

        if kind == "ngram":
            letters = load_corpus(text_file, tokenizer="characters", documents="line")
            run = tmp_path / "ngram"
            train("ngram", letters, run, **SETTINGS["ngram"])
            session.text.open(text_file, tokenizer="characters", documents="line")
        elif kind in label_runs:
            run = label_runs[kind]
        else:
            run = make_run(kind, 3, **SETTINGS[kind])
            session.text.open(text_file, documents="line")
        session.library.open(run)
        qtbot.waitUntil(lambda: session.library.model is not None)
        if kind in label_runs:
            session.text.open(session.library.model.description.corpus["sources"][0])
        qtbot.waitUntil(lambda: session.text.corpus is not None)
        session.reading.set_source("blue car")
        session.reading.set_prefix(TEXTS[kind])
        wait_for_reading(session, qtbot)

    return open_kind


@pytest.fixture
def look(
    window: MainWindow,
    session: Session,
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
) -> Callable[[], list[str]]:
    """Call it to look at every panel of the perspective, also behind others; what is wrong there."""

    def look_now() -> list[str]:
        found: list[str] = []

        def is_right() -> bool:
            found[:] = faults_of(window)
            return not found

        drawn()
        answered()
        drawn()
        with suppress(TimeoutError):  # which would not say what
            qtbot.waitUntil(is_right, timeout=1500)
        return found

    def look_at_all() -> list[str]:
        found, model = look_now(), session.library.model
        assert model is not None
        for panel in window.perspective.panels:
            if not panel.is_in_sight and not panel.out_of_place(
                model
            ):  # else it says why, in the room of others
                window.perspective.bring_forward(panel.objectName())
                qtbot.waitUntil(lambda panel=panel: panel.is_in_sight)
                found += look_now()
        return list(dict.fromkeys(f"{window.perspective.name}: {fault}" for fault in found))

    return look_at_all


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "case", others_slow(CASES, *QUICK), ids=lambda case: f"{case[0]} {case[1]} {'+'.join(case[2][:2])}"
)
def test_nothing_is_cut_or_covered(
    window: MainWindow,
    opened: Callable[[str], None],
    look: Callable[[], list[str]],
    case: tuple[str, tuple[int, int], tuple[str, ...]],
) -> None:
    kind, size, names = case
    window.resize(*size)
    opened(kind)
    found: list[str] = []
    for name in names:
        window.show_perspective(name)
        found += look()
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "enlarged",
    [(percent, size, kind) for percent, size in zip((150, 200), SIZES, strict=True) for kind in TEXTS],
    ids=str,
)
def test_nothing_is_cut_or_covered_in_large_type(
    window: MainWindow,
    opened: Callable[[str], None],
    look: Callable[[], list[str]],
    enlarged: tuple[int, tuple[int, int], str],
) -> None:
    """Where the room is short, a perspective scrolls."""
    percent, size, kind = enlarged
    window.resize(*size)
    window.set_type_size(percent)
    opened(kind)
    found: list[str] = []
    for name in NAMES:
        window.show_perspective(name)
        found += look()
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("factor", ["1.25", "2"])
def test_nothing_is_cut_or_covered_on_a_screen_of_many_pixels(factor: str) -> None:
    """Qt takes over the scale of the screen when a program starts."""
    chosen = ["-m", "", "-k", "test_nothing_is_cut_or_covered and 1440 and transformer and not large_type"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, __file__]
    ended = subprocess.run(
        command, env={**os.environ, "QT_SCALE_FACTOR": factor}, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout[-3000:]
    assert "1 passed" in ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("size", others_slow(SIZES, SMALL), ids="{0[0]}x{0[1]}".format)
def test_nothing_is_cut_with_gradients_changes_and_all_settings(
    window: MainWindow,
    session: Session,
    opened: Callable[[str], None],
    look: Callable[[], list[str]],
    size: tuple[int, int],
    qtbot: QtBot,
) -> None:
    from lmviz.inspection.interventions import scale_head, swap_tokens

    window.resize(*size)
    opened("transformer")
    session.gradients.show(True)
    session.surgery.add(scale_head(0, 1, 0.5))
    session.surgery.add(swap_tokens(0, 1, ("the", "cows")))
    wait_for_reading(session, qtbot)
    found: list[str] = []
    for name in ("inside", "attention"):
        window.show_perspective(name)
        found += look()
    session.gradients.show(False)
    window.show_perspective("train")
    for button in window.findChildren(QAbstractButton):
        if button.text() == UNFOLD and button.isVisible():
            button.click()
    found += look()
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_the_words_of_the_lens_are_read_in_a_small_window(
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
) -> None:
    window.resize(*SMALL)
    session.library.open(make_run("transformer", 3, width=8, heads=2, layers=4))
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix(TEXTS["transformer"])
    wait_for_reading(session, qtbot)
    window.show_perspective("inside")
    window.bring_in_front("lens_view")
    drawn()
    answered()
    panel = next(panel for panel in window.perspective.panels if panel.objectName() == "lens_view")
    words = {visible(session.reading.current.answer(int(id))) for id in panel.lens.ids[:, 0, 0]}
    names = {f"{layer} {block}" for layer in (1, 2, 3, 4) for block in ("attention", "feed-forward")}
    texts: list[tuple[str, QPolygonF, bool]] = []
    with noted_texts(texts):
        panel.findChild(HeatmapView).grab()
    assert words | names <= {text for text, _, _ in texts}
