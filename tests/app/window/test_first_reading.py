"""A text of one's own is read by the tokens that a first training is quick with; the others are offered."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.runs import first_reading

LONG = 30_000


@pytest.fixture
def many_words(tmp_path: Path) -> Path:
    """A text of more words than a model of words is quick with."""
    path = tmp_path / "many.txt"
    path.write_text(" ".join(f"w{number}" for number in range(first_reading.MANY_WORDS + 1_000)), "utf-8")
    return path


def paces(monkeypatch: pytest.MonkeyPatch, by_words: float, by_characters: float) -> None:
    """Have steps take so many seconds."""

    def pace(corpus, *_):
        return by_words if corpus.options.tokenizer == "words" else by_characters

    monkeypatch.setattr(first_reading, "_pace", pace)


def test_where_words_would_take_too_long_characters_are_read_and_words_are_offered(
    window: MainWindow, session: Session, many_words: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    paces(monkeypatch, by_words=1.8, by_characters=0.03)
    window.open_paths([many_words])
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)
    assert session.text.corpus.options.tokenizer == "characters"
    said = window.notice.sentence
    assert said.startswith("The text was read by characters: 2,000 steps by words, 4,")
    assert said.endswith("would take about 1 h here, by characters about 1 min.")
    button = window.notice.findChild(QPushButton)
    assert button.text() == "Read by words"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.text.corpus.options.tokenizer == "words", timeout=LONG)
    assert window.notice.sentence == ""
    assert session.text.first_reading is None, "a person has chosen"


@pytest.mark.slow
def test_where_both_are_slow_a_smaller_model_is_planned(
    session: Session, many_words: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    paces(monkeypatch, by_words=3.0, by_characters=0.3)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(many_words)
    assert (session.plan.current.configuration.layers, session.plan.current.configuration.width) == (2, 64)
    wider = FAMILIES["transformer"].configuration(width=96)
    session.plan.change(wider)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(many_words)
    assert session.plan.current.configuration == wider, "what a person chose stays"


@pytest.mark.slow
def test_where_words_are_quick_enough_they_are_read(
    session: Session, many_words: Path, text_file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    paces(monkeypatch, by_words=0.02, by_characters=0.001)
    for file, is_measured in ((many_words, True), (text_file, False)):
        with qtbot.waitSignal(session.text.changed, timeout=LONG):
            session.text.open(file)
        assert session.text.corpus.options.tokenizer == "words"
        assert (session.text.first_reading is not None) == is_measured


@pytest.mark.slow
def test_shakespeare_like_texts_are_measured_for_real(many_words: Path) -> None:
    found = first_reading.first_reading(many_words.read_text("utf-8") * 20, lambda share: None)
    assert found is not None
    assert found.seconds_by_words > found.seconds_by_characters > 0
