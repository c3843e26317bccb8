"""What counts cover is said, and both sides of pairs are counted."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.panels.corpus.concordance import ConcordancePanel
from lmviz.app.panels.corpus.corpus_text import CorpusTextPanel
from lmviz.app.panels.corpus.vocabulary import VocabularyPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.window.main_window import MainWindow

LONG = 60_000
PAIRS = "".join(f"the cat {n} sees\tle chat {n} voit\n" for n in range(20))


@pytest.fixture
def opened(window: MainWindow, session: Session, tmp_path: Path, drawn: Callable[[], None], qtbot: QtBot):
    def show(text: str, **settings: object) -> MainWindow:
        (tmp_path / "text.txt").write_text(text, encoding="utf-8")
        window.show_perspective("corpus")
        with qtbot.waitSignal(session.text.changed, timeout=LONG):
            session.text.open(tmp_path / "text.txt", **settings)
        drawn()
        return window

    return show


def choose(window: MainWindow, name: str, value: str) -> None:
    picker = window.findChild(QComboBox, name)
    picker.setCurrentIndex(picker.findData(value))
    picker.activated.emit(picker.currentIndex())


def titles(window: MainWindow, panel: type) -> list[str]:
    return [card.title for card in window.findChild(panel).findChildren(Card)]


def test_the_targets_of_pairs_are_found_and_counted(
    opened, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window = opened(PAIRS)
    edit = window.findChild(QLineEdit, "concordance_edit")
    choose(window, "concordance_side", "target")
    edit.setText("chat")
    learned = len(session.text.corpus.training_documents)
    told = f"{learned} places in the text to learn from"
    qtbot.waitUntil(lambda: told in titles(window, ConcordancePanel), timeout=LONG)
    window.findChild(ConcordancePanel)._places.part_clicked.emit(1)
    assert session.text.place == session.text.corpus.training_stream.starts[1]
    choose(window, "vocabulary_side", "target")
    drawn()
    table = window.findChild(VocabularyPanel).findChild(TableView)
    assert {table.model().index(row, 1).data() for row in range(5)} >= {"chat", "le", "voit"}


@pytest.mark.slow
def test_a_text_with_one_side_has_no_choice_of_it(opened) -> None:
    window = opened("the cow eats hay\n" * 30, tokenizer="characters")
    assert window.findChild(QComboBox, "concordance_side").isHidden()
    assert window.findChild(QComboBox, "vocabulary_side").isHidden()
    model = window.findChild(VocabularyPanel).findChild(TableView).model()
    assert "character" in [model.headerData(n, _horizontal()) for n in range(model.columnCount())]


@pytest.mark.slow
def test_many_unknown_words_are_said_with_what_helps(
    opened, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window = opened("".join(f"the word{n} is new\n" for n in range(60)), documents="line")
    assert "of the held-out words are unknown" in window.findChild(QLabel, "many_unknown").text()
    assert window.findChild(QPushButton, "byte_pairs_button").isVisible()
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "minimum_count_2_button").click()
    drawn()
    assert session.text.corpus.options.minimum_count == 2
    assert not window.findChild(QLabel, "many_unknown").isVisible()


@pytest.mark.slow
def test_rates_of_unknown_words_say_of_which_side_they_are(opened, session: Session) -> None:
    window = opened("".join(f"the cat {n} sees\tle chat{n} {n} voit\n" for n in range(60)))
    sources, targets = (session.text.corpus.statistics(side).unknown_rate for side in ("source", "target"))
    assert sources < targets
    said = window.findChild(QLabel, "many_unknown").text()
    assert said.startswith(f"{percentage(targets)} of the held-out words of the targets are unknown")
    both = f"{percentage(sources)} of sources and {percentage(targets)} of targets unknown in validation"
    assert both in window.findChild(CorpusTextPanel).card.aside


def _horizontal():
    from PySide6.QtCore import Qt

    return Qt.Orientation.Horizontal
