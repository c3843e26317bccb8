"""With a model of any other task than the next token, every panel shows something and nothing fails."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QDockWidget
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from tests.app.conftest import wait_for_reading

HEAD, EDGE = 46, 12  # pixels: the line of the title, and the frame of a card
TEXTS = {
    "tagger": "time flies like an arrow",
    "classifier": "the film is not bad",
    "translator": "rouge voiture",
}
PAIRS = "red car\tvoiture rouge\nblue car\tvoiture bleue\nred house\tmaison rouge\n" * 8
REVIEWS = "good\tthe film is good\nbad\tthe film is bad\ngood\tthe film is not bad\n" * 8


@pytest.fixture(scope="module")
def label_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of a small tagger, classifier and translator that read both ways."""
    from lmviz.api import train
    from lmviz.text.corpus import load_corpus

    folder = tmp_path_factory.mktemp("runs")
    corpora = {"tagger": load_corpus("four-sentences")}
    for name, text in (("classifier", REVIEWS), ("translator", PAIRS)):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
        corpora[name] = load_corpus(folder / f"{name}.txt")
    for name, corpus in corpora.items():
        train("gru", corpus, folder / name, steps=3, batch=2, width=6, direction="both", validate_every=2)
    return {name: folder / name for name in corpora}


@pytest.mark.parametrize("name", list(TEXTS))
def test_no_panel_complains_or_is_blank(
    window: MainWindow,
    session: Session,
    label_runs: dict[str, Path],
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
    name: str,
) -> None:
    session.library.open(label_runs[name])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.text.open(session.library.model.description.corpus["sources"][0])
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.reading.set_source("blue car")
    session.reading.set_prefix(TEXTS[name])
    wait_for_reading(session, qtbot)
    said: list[str] = []
    wrong: list[tuple[str, str]] = []
    session.work.any_failed.connect(said.append)
    for perspective in shown_perspectives():
        window.show_perspective(perspective.name)
        drawn()  # and the tabs that fit the model are in front
        for panel in window.perspective.panels:
            dock = panel.parentWidget()
            if isinstance(dock, QDockWidget):
                dock.raise_()
            qtbot.waitUntil(lambda panel=panel: panel.is_in_sight)
            drawn()
            answered()
            drawn()
            if panel.complaint or not shows_something(panel):
                wrong.append((panel.objectName(), panel.complaint or "blank"))
    assert (wrong, said) == ([], [])


def shows_something(panel: Panel) -> bool:
    """Whether more than the title stands in it: something below that has another colour than the rest."""
    image = panel.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), dtype=np.uint32).reshape(image.height(), -1)
    return len(np.unique(pixels[HEAD:-EDGE, EDGE:-EDGE])) > 1
