"""Special tokens of another program's model in the window: read as such, as letters, or by their ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import foreign_tokenizers
import numpy as np
import pytest
from foreign_tokenizers import CHAT, END_OF_TURN, TURN
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.opening.beginning import open_last
from lmviz.app.opening.scenes import scene_of
from lmviz.app.opening.settings import Settings
from lmviz.app.session.session import Session
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.app.window.main_window import MainWindow
from lmviz.desktop.scene import save_scene
from tests.app.conftest import wait_for_reading


@pytest.fixture
def first_perspective() -> str:
    """One that has the bar."""
    return "attention"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return foreign_tokenizers.chat_folder(tmp_path_factory.mktemp("chat") / "it")


@pytest.fixture
def chat(window: MainWindow, session: Session, folder: Path, qtbot: QtBot) -> Session:
    """The prompt of a chat, read by the model of the folder."""
    session.library.open(folder)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix(CHAT)
    wait_for_reading(session, qtbot)
    return session


def find(window: MainWindow, kind: type[QWidget], name: str) -> QWidget:
    found = window.findChild(kind, name)
    assert found is not None, name
    return found


def strip(window: MainWindow) -> TokenStrip:
    found = find(window, TokenStrip, "prefix_tokens")
    assert isinstance(found, TokenStrip)
    return found


def switch(window: MainWindow) -> QAbstractButton:
    found = find(window, QAbstractButton, "special_tokens_switch")
    assert isinstance(found, QAbstractButton)
    return found


def insert(window: MainWindow, index: int, qtbot: QtBot) -> None:
    """Type an id, and Return."""
    line = find(window, QLineEdit, "token_id_edit")
    line.setText(str(index))  # type: ignore[attr-defined]  # a line
    qtbot.keyClick(line, Qt.Key.Key_Return)


def in_the_window(session: Session) -> np.ndarray:
    """The logits of what comes next, as the window reads."""
    return session.reading.current.trace["logits"].at(position=-1)


def test_they_are_read_as_such_and_by_the_switch_as_letters(
    window: MainWindow, chat: Session, folder: Path, qtbot: QtBot
) -> None:
    model = lmviz.open_model(folder)
    as_such = lmviz.trace(model, CHAT)
    letters = lmviz.trace(model, CHAT, special_tokens=False)
    np.testing.assert_allclose(in_the_window(chat), as_such["logits"].array[-1], rtol=1e-5)
    assert strip(window).tokens[0] == "im_start"
    for spells_out, expected in ((True, letters), (False, as_such)):
        qtbot.mouseClick(switch(window), Qt.MouseButton.LeftButton)
        assert switch(window).isChecked() == spells_out
        assert len(strip(window).tokens) == len(expected)  # at once, with the click
        qtbot.waitUntil(lambda wanted=expected: len(chat.reading.current.trace) == len(wanted))
        np.testing.assert_allclose(in_the_window(chat), expected["logits"].array[-1], rtol=1e-5)
        code = chat.reading.current.moment.opening
        assert ("special_tokens=False" in code) == spells_out
        np.testing.assert_array_equal(lmviz.trace(eval(code), CHAT).ids, expected.ids)


@pytest.mark.slow
def test_scenes_and_the_next_start_keep_the_switch(
    window: MainWindow, chat: Session, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    qtbot.mouseClick(switch(window), Qt.MouseButton.LeftButton)
    scene = save_scene(scene_of(chat, "attention").beside(tmp_path), tmp_path / "it.lmviz")
    settings.keep_session(chat, "attention")
    for begin_again in (
        lambda: window.open_paths([scene]),
        lambda: open_last(chat, settings.last_session),
    ):
        if switch(window).isChecked():
            qtbot.mouseClick(switch(window), Qt.MouseButton.LeftButton)
        begin_again()
        qtbot.waitUntil(switch(window).isChecked)
        qtbot.waitUntil(lambda: chat.reading.current.moment.spells_out and not chat.reading.is_busy)


@pytest.mark.slow
def test_what_comes_next_follows_the_switch(window: MainWindow, chat: Session, qtbot: QtBot) -> None:
    chat.writing.look_ahead()
    qtbot.waitUntil(lambda: chat.writing.prospect is not None)
    qtbot.mouseClick(switch(window), Qt.MouseButton.LeftButton)
    assert chat.writing.prospect is None
    chat.writing.look_ahead()
    qtbot.waitUntil(lambda: chat.writing.prospect is not None and not chat.reading.is_busy)
    assert chat.writing.prospect.moment == chat.reading.moment_of(CHAT)
    found, expected = chat.writing.prospect.distribution.probabilities, in_the_window(chat)
    expected = np.exp(expected - np.logaddexp.reduce(expected))
    np.testing.assert_allclose(found, expected, atol=2 * expected[chat.reading.tokenizer.padding_id])
    end = chat.reading.tokenizer.id_of(END_OF_TURN)
    chat.writing.write(end)
    qtbot.waitUntil(lambda: chat.writing.branches.node.is_end)


@pytest.mark.slow
def test_models_that_stand_beside_it_read_alike(
    window: MainWindow, chat: Session, folder: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    other = foreign_tokenizers.chat_folder(tmp_path / "other", seed=1)
    chat.library.open_beside(other)
    qtbot.waitUntil(lambda: len(chat.library.models) == 2)
    beside = next(model for model in chat.library.models if model != chat.library.model)
    chat.comparison.choose([(beside, beside.snapshots[-1])])
    qtbot.mouseClick(switch(window), Qt.MouseButton.LeftButton)
    models = chat.comparison.models
    assert len(models) == 2
    found: list[list[int]] = []

    def count(models: Iterator[lmviz.Model]) -> list[int]:
        return [len(lmviz.trace(model, CHAT, taps=["logits"])) for model in models]

    chat.comparison.ask(models, "counted", count, found.append, pytest.fail)
    qtbot.waitUntil(lambda: bool(found))
    assert found[0] == [len(lmviz.trace(folder, CHAT, special_tokens=False))] * 2
    assert chat.comparison.chosen[0][0] in chat.library.models


@pytest.mark.slow
def test_nothing_of_it_is_shown_for_a_model_of_ones_own(
    window: MainWindow, chat: Session, lstm_run: Path, folder: Path, qtbot: QtBot
) -> None:
    assert switch(window).isVisible()
    assert find(window, QLineEdit, "token_id_edit").isVisible()
    chat.library.open(lstm_run)
    qtbot.waitUntil(lambda: not switch(window).isVisible())
    assert not find(window, QLineEdit, "token_id_edit").isVisible()
    assert strip(window).tokens
    chat.library.open(folder)
    qtbot.waitUntil(lambda: switch(window).isVisible())


@pytest.mark.slow
def test_an_id_that_is_not_written_out_yet_or_has_separators_is_no_fault(
    window: MainWindow, chat: Session, qtbot: QtBot
) -> None:
    line, said = find(window, QLineEdit, "token_id_edit"), find(window, QLabel, "token_by_id_said")
    shown = find(window, TokenStrip, "token_by_id")
    qtbot.keyClicks(line, "+")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert not shown.isVisible()
    assert chat.reading.prefix == CHAT
    qtbot.keyClicks(line, "7")
    assert shown.isVisible()
    line.clear()  # type: ignore[attr-defined]  # a line
    qtbot.keyClicks(line, "100,000")
    assert "there are" in said.text()  # type: ignore[attr-defined]  # a label
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert "100000" in said.text().replace(",", "")  # type: ignore[attr-defined]  # a label
    assert chat.reading.prefix == CHAT


@pytest.mark.slow
def test_a_token_is_inserted_by_its_id_at_the_cursor(window: MainWindow, chat: Session, qtbot: QtBot) -> None:
    edit = find(window, QLineEdit, "prefix_edit")
    chat.reading.set_prefix("The bat")
    edit.setCursorPosition(3)  # type: ignore[attr-defined]  # a line
    end = chat.reading.tokenizer.id_of(END_OF_TURN)
    find(window, QLineEdit, "token_id_edit").setText(str(end))  # type: ignore[attr-defined]  # a line
    assert find(window, TokenStrip, "token_by_id").tokens == ("im_end",)  # type: ignore[attr-defined]  # a strip
    insert(window, end, qtbot)
    assert chat.reading.prefix == f"The{END_OF_TURN} bat"
    assert end in chat.reading.encoding.ids
    assert edit.cursorPosition() == len(f"The{END_OF_TURN}")  # type: ignore[attr-defined]  # a line


@pytest.mark.slow
def test_an_id_that_cannot_stand_there_is_refused_in_a_sentence(
    window: MainWindow, chat: Session, qtbot: QtBot
) -> None:
    said = find(window, QLabel, "token_by_id_said")
    size = chat.reading.tokenizer.vocabulary_size
    find(window, QLineEdit, "token_id_edit").setText(str(size))  # type: ignore[attr-defined]  # a line
    assert said.text() == f"there are {size:,}, from 0"  # type: ignore[attr-defined]  # a label
    insert(window, size, qtbot)
    assert chat.reading.prefix == CHAT
    qtbot.mouseClick(switch(window), Qt.MouseButton.LeftButton)
    insert(window, chat.reading.tokenizer.id_of(TURN), qtbot)
    assert "would be read as other tokens" in said.text()  # type: ignore[attr-defined]  # a label
    assert chat.reading.prefix == CHAT


@pytest.mark.slow
def test_a_chip_of_a_special_token_is_dark(window: MainWindow, chat: Session) -> None:
    area = strip(window).token_rectangle(0)
    chip, plain = (
        strip(window).grab().toImage().pixelColor(int(place.center().x()), int(place.top()) + 2)
        for place in (area, strip(window).token_rectangle(1))
    )
    assert chip.lightness() < 80 < 180 < plain.lightness()
