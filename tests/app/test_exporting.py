"""Whatever a panel shows can leave the window: picture, numbers, and Python that gives the same numbers."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from lmviz.app.exporting import choose_numbers, choose_picture, copy_recipe, fill_export_menu
from lmviz.app.main_window import MainWindow
from lmviz.app.session import Session
from lmviz.inspection.interventions import zero

LONG = 30_000


@pytest.fixture
def panels(window: MainWindow, read: Session, qtbot: QtBot) -> dict[str, object]:
    """The panels of Inside on a small LSTM, a stage and a cell chosen."""
    window.show_perspective("inside")
    read.choose_stage(2)
    read.choose_cell(("layers/0/input", (1, 3)))
    found = {panel.objectName(): panel for panel in window.perspective.panels}
    qtbot.waitUntil(lambda: found["why_view"].shown is not None, timeout=LONG)
    qtbot.waitUntil(lambda: found["state_view"].view.address == "layers/0/input", timeout=LONG)
    return found


def choose(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))


def test_a_picture_of_a_panel(panels: dict[str, object], tmp_path: Path, monkeypatch) -> None:
    choose(tmp_path / "state.png", monkeypatch)
    choose_picture(panels["state_view"])
    image = QImage(str(tmp_path / "state.png"))
    assert (image.width(), image.height()) == (
        2 * panels["state_view"].width(),
        2 * panels["state_view"].height(),
    )


def test_the_numbers_of_a_panel(
    panels: dict[str, object], read: Session, tmp_path: Path, monkeypatch
) -> None:
    choose(tmp_path / "state.csv", monkeypatch)
    choose_numbers(panels["state_view"])
    table = np.loadtxt(tmp_path / "state.csv", delimiter=",", ndmin=2)
    np.testing.assert_allclose(table, read.reading.trace["layers/0/input"].array.T, rtol=1e-6)


def test_several_arrays_are_offered_as_npz(panels: dict[str, object], tmp_path: Path, monkeypatch) -> None:
    offered = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: offered.append(given[2]) or ("", ""))
    choose_numbers(panels["state_view"])
    choose_numbers(panels["stage_view"])
    assert [Path(name).suffix for name in offered] == [".csv", ".npz"]


@pytest.mark.parametrize(("name", "bound"), [("state_view", "values"), ("why_view", "equation")])
def test_the_python_of_a_panel_gives_what_it_shows(
    panels: dict[str, object], read: Session, name: str, bound: str
) -> None:
    copy_recipe(panels[name])
    scope: dict[str, object] = {}
    exec(QGuiApplication.clipboard().text(), scope)
    if bound == "values":
        expected = read.reading.trace["layers/0/input"].array.T  # units by positions, as it is drawn
        np.testing.assert_allclose(scope["values"], expected, rtol=1e-5)
    else:
        value = read.reading.trace["layers/0/input"].array[1, 3]
        assert f"{value:.2f}".lstrip("0") in scope["equation"]


def test_what_cannot_be_written_is_a_sentence(
    panels: dict[str, object], read: Session, tmp_path: Path, monkeypatch, qtbot: QtBot
) -> None:
    choose(tmp_path / "state.bmp", monkeypatch)
    with qtbot.waitSignal(read.failed) as failure:
        choose_picture(panels["state_view"])
    assert failure.args[0] == "export"


def test_the_menu_offers_only_what_there_is(panels: dict[str, object]) -> None:
    menu = QMenu()
    fill_export_menu(menu, panels["surgery_view"])
    assert [action.isEnabled() for action in menu.actions()] == [True, False, False]


def test_the_lines_behind_a_count_can_be_taken_along(
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    text_file: Path,
    tmp_path: Path,
    monkeypatch,
    qtbot: QtBot,
) -> None:
    session.open_model(make_run("ngram", 3, order=3))
    session.open_corpus(text_file, documents="line")
    qtbot.waitUntil(lambda: session.model is not None and session.corpus is not None, timeout=LONG)
    session.set_prefix("the hens eat")
    qtbot.waitUntil(
        lambda: session.reading is not None and session.reading.trace.text == session.prefix, timeout=LONG
    )
    window.show_perspective("inside")
    panel = next(panel for panel in window.perspective.panels if panel.objectName() == "unit_view")
    assert panel.recipe() == "", "nothing has been found yet"
    qtbot.waitUntil(lambda: bool(panel.exported_arrays()), timeout=LONG)
    choose(tmp_path / "places.csv", monkeypatch)
    choose_numbers(panel)
    with (tmp_path / "places.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.reader(file))
    copy_recipe(panel)
    scope: dict[str, object] = {}
    exec(QGuiApplication.clipboard().text(), scope)
    assert written == [[str(part) for part in place] for place in scope["places"]]
    text, (position, *_) = session.corpus.training_text, scope["places"][0]
    assert len(written) == text.count("hens eat")
    assert session.corpus.tokenizer.decode(session.corpus.training[position : position + 2]) == "hens eat"
    session.choose_position(1)  # another context
    qtbot.waitUntil(lambda: panel.recipe() not in ("", QGuiApplication.clipboard().text()), timeout=LONG)


def exported(panel, qtbot: QtBot) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    """What a panel exports as numbers, and what its Python binds."""
    qtbot.waitUntil(lambda: bool(panel.exported_arrays()) and bool(panel.recipe()), timeout=LONG)
    scope: dict[str, object] = {}
    exec(panel.recipe(), scope)
    return panel.exported_arrays(), scope


def shown(window: MainWindow, perspective: str) -> dict[str, object]:
    window.show_perspective(perspective)
    return {panel.objectName(): panel for panel in window.perspective.panels}


@pytest.mark.parametrize("is_changed", [False, True])
def test_what_is_predicted_leaves_as_numbers_and_as_python(
    window: MainWindow, read: Session, qtbot: QtBot, is_changed: bool
) -> None:
    if is_changed:
        read.add_intervention(zero("layers/0/hidden", unit=1))
        qtbot.waitUntil(lambda: not read.is_reading and read.reading.baseline is not None, timeout=LONG)
    read.set_sampling(temperature=0.7, top_k=5)
    panels = shown(window, "sample")
    arrays, scope = exported(panels["distribution_view"], qtbot)
    probabilities = scope["distribution"].probabilities
    np.testing.assert_allclose(arrays["probabilities"], probabilities[arrays["ids"]], rtol=1e-5)
    assert np.count_nonzero(probabilities) == 5
    arrays, scope = exported(panels["chain_rule_view"], qtbot)
    tokens = scope["likelihood"].tokens
    expected = [np.nan if token.surprisal is None else token.surprisal for token in tokens]
    np.testing.assert_allclose(arrays["bits"], expected, rtol=1e-5)
    read.set_beam(width=2, length=3)
    assert panels["beam_view"].recipe() == "", "nothing has been searched"
    qtbot.waitUntil(lambda: read.can_write)
    while not read.is_beam_grown:
        with qtbot.waitSignal(read.beam_changed, timeout=LONG):
            read.grow_beam()
    arrays, scope = exported(panels["beam_view"], qtbot)
    np.testing.assert_allclose(arrays["score"], [node.score for node in scope["tree"].nodes[1:]], rtol=1e-5)


def test_what_is_compared_leaves_as_numbers_and_as_python(
    window: MainWindow, read: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    first = read.model
    read.open_model(make_run("ngram", 3, order=3))
    qtbot.waitUntil(lambda: len(read.models) == 2 and not read.is_reading, timeout=LONG)
    read.compare([(first, first.snapshots[-1])])
    panels = shown(window, "compare")
    qtbot.waitUntil(lambda: len(panels["compare_view"].found) == 2, timeout=LONG)
    arrays, scope = exported(panels["compare_view"], qtbot)
    for mine, theirs in zip(arrays.values(), scope["distributions"], strict=True):
        np.testing.assert_allclose(mine, theirs.probabilities, rtol=1e-4, atol=1e-7)
    qtbot.waitUntil(lambda: panels["surprisal_view"].disagreement is not None, timeout=LONG)
    arrays, scope = exported(panels["surprisal_view"], qtbot)
    divergence = arrays["disagreement"]
    assert np.nanmax(divergence) == pytest.approx(np.max(scope["found"].divergence[1:]), rel=1e-3)


def test_what_a_text_shows_leaves_as_numbers_and_as_python(
    window: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    session.open_corpus(text_file, documents="line")
    qtbot.waitUntil(lambda: session.corpus is not None, timeout=LONG)
    panels = shown(window, "corpus")
    arrays, scope = exported(panels["vocabulary_view"], qtbot)
    assert [(token, int(count)) for token, count in arrays["vocabulary"]] == scope["vocabulary"]
    panels["concordance_view"].findChild(QLineEdit).setText("the hens")
    arrays, scope = exported(panels["concordance_view"], qtbot)
    assert [(token, int(count)) for token, count in arrays["words"]] == scope["words"]
    assert scope["words"]


def test_a_training_leaves_as_numbers_and_as_python(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    panels = shown(window, "train")
    _, scope = exported(panels["loss_view"], qtbot)
    lines = [line for line in read.model.run.metrics() if line.get("loss") is not None]
    assert scope["losses"][str(read.model.folder)]["loss"] == [(line["step"], line["loss"]) for line in lines]
    panel = panels["over_time_view"]
    qtbot.waitUntil(lambda: set(panel.rows) == set(read.model.snapshots), timeout=LONG)
    _, scope = exported(panel, qtbot)
    assert set(scope["probabilities"]) == set(panel.rows)
    for step, row in panel.rows.items():
        np.testing.assert_allclose(row, scope["probabilities"][step], rtol=1e-4, atol=1e-7)
