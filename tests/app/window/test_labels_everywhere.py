"""With a model of any other task than the next token, every panel shows something and nothing fails."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from covering import others_slow, walk_through
from pytestqt.exceptions import TimeoutError as WaitedTooLong
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.text.corpus import load_corpus
from lmviz.training.run import Run
from tests.app.blank_panels import shows_something
from tests.app.conftest import wait_for_reading

TEXTS = {
    "tagger": "time flies like an arrow",
    "classifier": "the film is not bad",
    "translator": "rouge voiture",
    "captioner": "2 dots",
}
TRANSFORMERS = [f"transformer {name}" for name in ("tagger", "classifier", "translator")]


@pytest.fixture
def labelled(label_runs: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    """The folder of a model by its name: a GRU, or the Transformer of the same task and text."""

    def find(name: str) -> Path:
        task = name.removeprefix("transformer ")
        if name == task:
            return label_runs[task]
        corpus = load_corpus(Run.open(label_runs[task]).description.corpus["sources"][0])
        options = {"steps": 3, "batch": 2, "width": 8, "heads": 2, "layers": 2, "validate_every": 2}
        lmviz.train("transformer", corpus, tmp_path / "runs" / name, **options)
        return tmp_path / "runs" / name

    return find


@pytest.mark.parametrize("name", others_slow([*TEXTS, *TRANSFORMERS], "captioner"))  # whose source is no text
@walk_through("inside", "compare")
def test_no_panel_complains_or_is_blank(
    window: MainWindow,
    session: Session,
    labelled: Callable[[str], Path],
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
    name: str,
    perspectives: tuple[str, ...],
) -> None:
    session.library.open(labelled(name))
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.text.open(session.library.model.description.corpus["sources"][0])
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.reading.set_source("blue car")
    session.reading.set_prefix(TEXTS[name.removeprefix("transformer ")])
    wait_for_reading(session, qtbot)
    said: list[str] = []
    wrong: list[tuple[str, str]] = []
    session.work.any_failed.connect(said.append)
    for perspective in perspectives:
        window.show_perspective(perspective)
        drawn()  # and the tabs that fit the model are in front
        for panel in window.perspective.panels:
            panel.parentWidget().raise_()
            qtbot.waitUntil(lambda panel=panel: panel.is_in_sight)
            drawn()
            answered()
            drawn()
            with suppress(WaitedTooLong):  # what is written begins with its first tokens
                qtbot.waitUntil(lambda panel=panel: panel.complaint or shows_something(panel))
            if panel.complaint or not shows_something(panel):
                wrong.append((panel.objectName(), panel.complaint or "blank"))
    assert (wrong, said) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("name", others_slow([*TEXTS, *TRANSFORMERS], "classifier"))
def test_what_makes_no_sense_says_what_would(
    window: MainWindow, session: Session, labelled: Callable[[str], Path], qtbot: QtBot, name: str
) -> None:
    """A kind of model to open, or another panel, which then has something to show of this one."""
    session.library.open(labelled(name))
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_source("blue car")
    session.reading.set_prefix(TEXTS[name.removeprefix("transformer ")])
    wait_for_reading(session, qtbot)
    model, wrong = session.library.model, []
    for perspective in shown_perspectives():
        window.show_perspective(perspective.name)
        qtbot.waitUntil(lambda perspective=perspective: window.perspective.name == perspective.name)
        titles = {panel.parentWidget().windowTitle(): panel for panel in window.perspective.panels}
        said = {title: panel.out_of_place(model) for title, panel in titles.items()}
        for title, sentence in said.items():
            named = re.findall(r"See ([A-Z][a-z ]+), or|\. ([A-Z][a-z ]+) shows", sentence)
            if sentence and not named and not re.search(r"[Oo]pen (a|one)\b", sentence):
                wrong.append((title, sentence))
            wrong += [(title, sentence) for names in named for other in names if other and said[other]]
    assert not wrong
