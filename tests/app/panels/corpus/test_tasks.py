"""The Corpus perspective with texts for tasks: what was recognised, how it is shown, how it is changed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.widgets.text.examples_view import ExamplesView
from lmviz.app.window.main_window import MainWindow

LONG = 20_000
TAGGED = "time/n flies/v like/p an/d arrow/n\n" + "time/n flies/n like/v an/d arrow/n\n" * 39
SPOILT = TAGGED + "spoilt\nand so on\n" + TAGGED


@pytest.fixture
def opened(
    window: MainWindow, session: Session, tmp_path: Path, drawn: Callable[[], None], qtbot: QtBot
) -> Callable[..., MainWindow]:
    """Opens a text in the Corpus perspective."""

    def show(text: str, **settings: object) -> MainWindow:
        (tmp_path / "text.txt").write_text(text, encoding="utf-8")
        window.show_perspective("corpus")
        with qtbot.waitSignal(session.text.changed, timeout=LONG):
            session.text.open(tmp_path / "text.txt", validation=0.0, **settings)
        drawn()
        return window

    return show


def said(window: MainWindow, name: str) -> str:
    label = window.findChild(QLabel, name)
    return label.text() if not label.isHidden() else ""


def examples(window: MainWindow):
    view = window.findChild(ExamplesView, "examples_view")
    return view.examples if view.isVisible() else ()


def test_tags_stand_under_their_words(opened, session: Session) -> None:
    window = opened(TAGGED)
    assert said(window, "recognised").startswith(
        "Words with a tag behind a slash: 40 sentences, 4 tags (n, d, v, p)."
    )
    first = examples(window)[0]
    assert first.words == ("time", "flies", "like", "an", "arrow")
    assert first.tags == ("n", "v", "p", "d", "n")
    table = window.findChild(TableView)
    shown = {
        table.model().index(row, 1).data(): table.model().index(row, 3).data()
        for row in range(table.model().rowCount())
    }
    assert shown["flies"] == "n 39 · v 1"


@pytest.mark.slow
def test_a_click_on_a_word_is_a_place_in_the_text(opened, session: Session, qtbot: QtBot) -> None:
    window = opened(TAGGED)
    view = window.findChild(ExamplesView, "examples_view")
    place = view.part_rectangle(6).center().toPoint()
    with qtbot.waitSignal(session.text.place_changed):
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place)
    assert session.text.place == 6


@pytest.mark.slow
def test_lines_that_were_left_out_are_named(opened) -> None:
    window = opened(SPOILT)
    assert said(window, "left_out") == (
        "Line 41 has no word and tag in 'spoilt'. Line 42 has no word and tag in 'and'."
    )
    assert "and 2 lines left out" in said(window, "recognised")
    assert said(opened(TAGGED), "left_out") == ""


@pytest.mark.slow
def test_the_task_can_be_changed(opened, session: Session, drawn: Callable[[], None], qtbot: QtBot) -> None:
    window = opened(TAGGED)
    picker = window.findChild(QComboBox, "task_field")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        picker.setCurrentText("next-token")
    drawn()
    assert session.text.corpus.task == "next-token"
    assert said(window, "recognised") == "Plain text: a model learns the next token."
    assert examples(window) == ()
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        picker.setCurrentText("recognised")
    drawn()
    assert len(examples(window)) == 40


@pytest.mark.slow
def test_labels_stand_before_their_texts(opened) -> None:
    window = opened("good\tthe film was fine\nbad\tthe film was dull\n" * 9 + "good\tfine\n")
    assert [(shown.label, shown.words[-1]) for shown in examples(window)[:2]] == [
        ("good", "fine"),
        ("bad", "dull"),
    ]
    button = window.findChild(QPushButton, "corpus_other_language_button")
    assert not button.isVisible(), "labels have no other language"


@pytest.mark.slow
def test_the_other_language_is_added(
    opened, session: Session, tmp_path: Path, monkeypatch, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window = opened("the cat\nthe dog sees the cat\nyes\n")
    button = window.findChild(QPushButton, "corpus_other_language_button")
    assert button.isVisible()
    (tmp_path / "other.txt").write_text("die Katze\nder Hund sieht die Katze\nja\n", encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "other.txt"), ""))
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        button.click()
    drawn()
    assert session.text.corpus.task == "translation"
    assert said(window, "recognised") == "Two files, line by line: 3 pairs. From text.txt to other.txt."
    assert examples(window)[0].words == ("the", "cat", "⟨end⟩")
    assert examples(window)[0].target == ("⟨start⟩", "die", "Katze", "⟨end⟩")
    assert not button.isVisible()
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QComboBox, "tokenizer_picker").setCurrentText("characters")
        window.findChild(QComboBox, "tokenizer_picker").activated.emit(0)
    assert session.text.corpus.task == "translation"  # both files were read again


@pytest.mark.slow
def test_a_file_in_another_language_beside_the_open_one_is_proposed(
    window: MainWindow, session: Session, tmp_path: Path, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window.show_perspective("corpus")
    (tmp_path / "pairs.de").write_text("die Katze\nder Hund\nja\n", encoding="utf-8")
    (tmp_path / "pairs.en").write_text("the cat\nthe dog\nyes\n", encoding="utf-8")
    (tmp_path / "others.en").write_text("a cow\n", encoding="utf-8")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(tmp_path / "pairs.de", documents="line")
    drawn()
    button = window.findChild(QPushButton, "corpus_pair_button")
    assert button.isVisible()
    assert button.text() == "Pairs with pairs.en"
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        button.click()
    drawn()
    assert session.text.corpus.task == "translation"
    assert said(window, "recognised") == "Two files, line by line: 3 pairs. From pairs.de to pairs.en."
    assert not button.isVisible()
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(tmp_path / "others.en", documents="line")
    drawn()
    assert not button.isVisible()


@pytest.mark.slow
def test_a_pasted_text_keeps_its_form_when_it_is_read_again(
    window: MainWindow, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window.show_perspective("corpus")
    QGuiApplication.clipboard().setText(TAGGED)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "corpus_paste_button").click()
    drawn()
    assert session.text.corpus.task == "tagging"
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QComboBox, "task_field").setCurrentText("next-token")
    assert "time/n" in session.text.corpus.training_text
    assert len(session.text.own) == 1
