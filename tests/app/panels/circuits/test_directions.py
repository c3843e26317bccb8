"""The list of directions in the window: how it is filled, kept and read again, and what it says of one."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.circuits.directions import DirectionsPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import number
from lmviz.app.window.main_window import MainWindow
from lmviz.looks.parts import Firings, LookPart
from lmviz.readouts.direction import StateDirection

ONLY_PANELS = ("directions",)
TEXT = "the cows eat grass"


@pytest.fixture
def panel(window: MainWindow, session: Session, own_run: Path, qtbot: QtBot) -> DirectionsPanel:
    """The panel with a small Transformer and a text."""
    [found] = [item for item in window.perspective.panels if isinstance(item, DirectionsPanel)]
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(own_run)
    session.reading.set_prefix(TEXT)
    qtbot.waitUntil(lambda: session.reading.current is not None and session.directions.file is not None)
    return found


def lines(panel: DirectionsPanel) -> Firings:
    """The part that shows where the direction is strong, without lines while that is not known."""

    def found(parts: Sequence[LookPart]) -> Iterator[Firings]:
        for part in parts:
            yield from found(part.inner)
            if isinstance(part, Firings):
                yield part

    return next(found(panel.shown_look.parts), Firings())


def add_word(panel: DirectionsPanel, word: str, qtbot: QtBot) -> None:
    before = len(panel.session.directions.listed)
    edit = panel.findChild(QLineEdit, "direction_word_edit")
    qtbot.waitUntil(edit.isVisible)
    edit.setText(word)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(panel.session.directions.listed) == before + 1)


def test_words_are_added_named_looked_at_and_kept_beside_the_run(
    panel: DirectionsPanel, session: Session, own_run: Path, tmp_path: Path, qtbot: QtBot
):
    add_word(panel, "corn", qtbot)
    add_word(panel, "grass", qtbot)
    qtbot.waitUntil(lambda: "values" in panel.exported_arrays() and len(panel.found.reads) == 2)
    corn, grass = session.directions.listed
    expected = lmviz.word_direction(own_run, "corn", corn.address)
    assert corn.vector == pytest.approx(expected.vector, abs=1e-6)
    exported = panel.exported_arrays()
    assert exported["cosines"] == pytest.approx(np.array([[1, corn.cosine(grass)], [corn.cosine(grass), 1]]))
    states = lmviz.trace(own_run, TEXT)[grass.address].array
    assert exported["values"] == pytest.approx(grass.along(states), abs=1e-5)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(exported["values"], abs=1e-5)
    [(word, _)] = grass.words(lmviz.open_model(own_run), 1)
    assert panel.found.writes[1].startswith(word.strip())

    name = panel.findChild(QLineEdit, "direction_name_edit")
    name.setText("meadow")
    qtbot.keyClick(name, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.directions.direction.name == "meadow")
    qtbot.waitUntil(
        lambda: [one.name for one in lmviz.open_direction(session.directions.file)] == ["", "meadow"]
    )

    saved = tmp_path / "two.safetensors"
    session.directions.save_file(saved)
    qtbot.waitUntil(saved.exists)
    qtbot.mouseClick(panel.findChild(QPushButton, "remove_direction_button"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.directions.listed == (corn,))
    assert session.directions.direction is corn
    session.directions.open_file(saved)
    qtbot.waitUntil(lambda: len(session.directions.listed) == 3)
    assert session.directions.direction.name == "meadow"


def test_where_it_is_strong_is_what_python_finds_and_a_click_types_it(
    panel: DirectionsPanel, session: Session, own_run: Path, tmp_path: Path, qtbot: QtBot
):
    path = tmp_path / "farm.txt"
    path.write_text("the hens see the dog\nthe cows eat corn\n" * 30, encoding="utf-8")
    session.text.open(path, documents="line")
    add_word(panel, "corn", qtbot)
    qtbot.waitUntil(lambda: bool(lines(panel).lines))
    expected = lmviz.direction_places(
        own_run, session.directions.direction, session.text.corpus, count=8, tokens=8_000
    )
    assert [line.said for line in lines(panel).lines] == [
        number(place.value, 2) for place in expected.strongest
    ]
    assert [line.place for line in lines(panel).lines] == [place.at for place in expected.strongest]
    lines(panel).clicked(0)
    written = session.library.model.tokenizer.decode(list(expected.strongest[0].ids))
    qtbot.waitUntil(lambda: session.reading.prefix == written)


@pytest.mark.slow
def test_the_means_of_a_set_are_added_and_what_is_damaged_is_said(
    panel: DirectionsPanel, session: Session, own_run: Path, tmp_path: Path, qtbot: QtBot
):
    rows = [("the cows eat", "the hens eat"), ("the cows see", "the hens see")]
    session.many.take(lmviz.text_set([{"text": text, "changed": other} for text, other in rows]))
    button = panel.findChild(QPushButton, "direction_means_button")
    qtbot.waitUntil(lambda: button.isVisible() and button.isEnabled())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(session.directions.listed) == 1)
    [found] = session.directions.listed
    expected = lmviz.direction(
        own_run, [text for text, _ in rows], [other for _, other in rows], found.address
    )
    assert isinstance(found, StateDirection)
    assert found.length * found.vector == pytest.approx(expected.length * expected.vector, abs=1e-5)
    edit = panel.findChild(QLineEdit, "direction_word_edit")
    edit.setText("zebra")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "is no token" in panel.complaint)
    assert edit.isVisible()  # the list stays
    add_word(panel, "corn", qtbot)
    assert not panel.complaint
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"\x08\0\0\0\0\0\0\0{}      ")
    session.directions.open_file(broken)
    qtbot.waitUntil(lambda: "holds no directions" in panel.complaint)
