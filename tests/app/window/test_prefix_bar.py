"""What is typed: tokens, unknown words, line breaks."""

import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.shared.next_word import NextWordPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.plain import InkedLabel
from lmviz.app.window import prefix_bar
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.prefix_bar import PrefixBar
from lmviz.inspection.interventions import swap_tokens
from lmviz.looks.ink import Inked
from lmviz.text.first_example import beginning_of
from tests.app.conftest import wait_for_reading

LONG = 20_000


@pytest.fixture
def first_perspective() -> str:
    """One that has the bar."""
    return "attention"


def find(window: MainWindow, kind: type[QWidget], name: str) -> QWidget:
    found = window.findChild(kind, name)
    assert found is not None, name
    return found


def test_what_is_typed_becomes_tokens_and_a_distribution(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    window.show_perspective("attention")
    edit = find(window, QLineEdit, "prefix_edit")
    edit.clear()
    with qtbot.waitSignal(read.reading.changed):
        qtbot.keyClicks(edit, "the hens see")
    qtbot.waitUntil(lambda: not read.reading.is_busy)
    assert read.reading.current.trace.tokens == ("⟨start⟩", "the", "hens", "see")
    panel = next(panel for panel in window.perspective.panels if isinstance(panel, NextWordPanel))
    qtbot.waitUntil(lambda: panel.distribution is not None)
    assert panel.distribution.probabilities.sum() == pytest.approx(1)
    qtbot.waitUntil(
        lambda: (
            panel.distribution.logits.tolist()
            == pytest.approx(read.reading.current.trace["logits"].array[-1])
        )
    )


def test_unknown_words_are_marked_and_said(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    find(window, QLineEdit, "prefix_edit").setText("the <zebra> eats")
    said = find(window, QLabel, "prefix_info").text()
    assert "zebra" in said
    assert "&lt;" in said
    assert "unknown" in said


@pytest.mark.slow
def test_tokens_have_the_width_of_the_window_whatever_is_said_of_them(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    window.resize(1280, 720)
    edit, bar = find(window, QLineEdit, "prefix_edit"), window.prefix_bar
    places = set()
    edit.setText("the")
    wait_for_reading(read, qtbot)
    qtbot.waitUntil(lambda: bar.strip.width() > 0.95 * bar.width() and bar.height() < 100)  # one row
    for text in ("the cows", "the hippopotamus and the rhinoceros, zebras and gnus"):
        edit.setText(text)
        wait_for_reading(read, qtbot)
        assert bar.strip.width() > 0.95 * bar.width()
        places.add((edit.geometry().getRect(), bar.height()))
    assert len(places) == 1


@pytest.mark.slow
def test_return_writes_a_line_break(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    edit = find(window, QLineEdit, "prefix_edit")
    edit.setText("the cows")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert read.reading.prefix == "the cows\n"


@pytest.mark.slow
def test_a_translator_is_given_its_source_above_the_prefix(
    window: MainWindow, read: Session, translator_run: Path, lstm_run: Path, qtbot: QtBot
) -> None:
    source = find(window, QLineEdit, "source_edit")
    assert not source.isVisible()
    assert not named(window)
    read.library.open(translator_run)
    qtbot.waitUntil(source.isVisible)
    assert named(window) == {"source": source, "translation": find(window, QLineEdit, "prefix_edit")}
    assert "translation so far" in find(window, QLineEdit, "prefix_edit").placeholderText()
    find(window, QLineEdit, "prefix_edit").setText("c")
    source.clear()
    qtbot.keyClicks(source, "abc")
    qtbot.waitUntil(lambda: not read.reading.is_busy)
    trace = read.reading.current.trace
    assert trace.sequences["source"].tokens == ("a", "b", "c", "⟨end⟩")
    assert trace.tokens == ("⟨start⟩", "c")
    wanted = pytest.approx(
        lmviz.next_token(translator_run, "c", source="abc").probabilities.tolist(), abs=1e-6
    )
    window.show_perspective("attention")
    panel = next(panel for panel in window.perspective.panels if isinstance(panel, NextWordPanel))

    def shown() -> bool:
        distribution = panel.distribution
        return distribution is not None and distribution.probabilities.tolist() == wanted

    qtbot.waitUntil(shown)
    for name in ("inside", "sample", "attention"):
        window.show_perspective(name)
        qtbot.waitUntil(lambda: not read.work.is_busy("reading"))
        QApplication.processEvents()
    read.library.open(lstm_run)
    qtbot.waitUntil(lambda: not source.isVisible())


def named(window: MainWindow) -> dict[str, QWidget]:
    """The lines that have a name in sight."""
    labels = find(window, QWidget, "prefix_bar").findChildren(QLabel)
    return {label.text(): label.buddy() for label in labels if label.buddy() and label.isVisible()}


@pytest.mark.slow
def test_examples_of_the_text_are_read_one_after_the_other_with_what_is_right_under_each_word(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    corpus = lmviz.load_corpus("four-sentences")
    lmviz.train(
        "rnn", corpus, tmp_path / "run", steps=2, batch=4, width=4, direction="both", validate_every=0
    )
    button = find(window, QPushButton, "example_button")
    assert not button.isVisible()
    session.library.open(tmp_path / "run")
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.text.open("four-sentences")
    qtbot.waitUntil(button.isVisible)
    strip, bar = window.prefix_bar.strip, window.prefix_bar
    sentences = list(corpus.training_documents)
    for number in (0, 1, 2, 3, 0):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert session.reading.prefix == sentences[number]
        qtbot.waitUntil(lambda: not session.reading.is_busy and all(answer.label for answer in strip.answers))
        shares = session.reading.current.trace["probabilities"].array
        assert [answer.label for answer in strip.answers] == [
            corpus.labels[at] for at in shares.argmax(axis=1)
        ]
        tags = [corpus.labels[int(tag)] for tag in corpus.training_examples.target[number]]
        for answer, tag in zip(strip.answers, tags, strict=True):
            assert tag in answer.right.split(" or ")
            assert answer.wrong == (answer.label not in answer.right.split(" or "))
    wrong = sum(answer.wrong for answer in strip.answers)
    assert f"{5 - wrong} right of 5" in find(window, QLabel, "prefix_info").text()
    height = bar.height()
    session.reading.set_prefix("time flies like")  # no sentence of the text: nothing is known to be right
    qtbot.waitUntil(lambda: not session.reading.is_busy and all(answer.label for answer in strip.answers))
    assert [answer.right for answer in strip.answers] == ["", "", ""]
    assert bar.height() == height


@pytest.mark.slow
def test_the_position_one_looks_at_stays_in_sight_in_a_narrower_window(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    window.resize(1900, 800)
    read.reading.set_prefix(" ".join(["the cows eat grass"] * 9))
    wait_for_reading(read, qtbot)
    strip = window.prefix_bar.strip

    def is_in_sight() -> bool:
        area = strip.token_rectangle(read.focus.position).toRect()
        return strip.visibleRegion().contains(area.center())

    qtbot.waitUntil(is_in_sight)
    for width in (1000, 1400, 900):
        window.resize(width, 800)
        qtbot.waitUntil(lambda width=width: strip.window().width() == width)
        QApplication.processEvents()
        qtbot.waitUntil(is_in_sight)


@pytest.mark.slow
def test_swapped_words_stand_under_the_prefix_as_they_are_read(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    bar = find(window, PrefixBar, "prefix_bar")
    bar.edit.setText("the zebra eats grass")
    qtbot.waitUntil(lambda: not read.reading.is_busy and len(read.reading.current.trace) == 5)
    assert bar.strip.tokens == ("⟨start⟩", "the", "zebra", "eats", "grass")
    read.surgery.add(swap_tokens(2, 4))
    qtbot.waitUntil(lambda: read.reading.current.baseline is not None)
    assert bar.strip.tokens == ("⟨start⟩", "the", "grass", "eats", "zebra")
    assert read.reading.current.trace.tokens[2] == "grass"
    assert "as surgery has them" in find(window, QLabel, "prefix_info").text()
    read.surgery.undo()
    qtbot.waitUntil(lambda: read.reading.current.baseline is None)
    assert bar.strip.tokens == ("⟨start⟩", "the", "zebra", "eats", "grass")
    assert "surgery" not in find(window, QLabel, "prefix_info").text()


def test_a_text_that_takes_long_says_how_far_it_is_and_escape_goes_back(
    window: MainWindow, read: Session, gate: threading.Event, qtbot: QtBot
) -> None:
    said, edit = find(window, QLabel, "prefix_info"), find(window, QLineEdit, "prefix_edit")
    panels = [panel for panel in window.perspective.panels if isinstance(panel, NextWordPanel)]
    qtbot.waitUntil(lambda: panels[0].distribution is not None)
    before = read.reading.current
    read.work.ask("hold", gate.wait, lambda _: None, print)
    edit.setText("the hens see the dog")
    qtbot.waitUntil(lambda: said.accessibleName() == "reading 6 tokens · Esc: back to the text before")
    qtbot.waitUntil(lambda: panels[0].card.late == "of the text before")
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    assert edit.text() == before.trace.text
    assert read.reading.current is before
    qtbot.waitUntil(lambda: panels[0].card.late == "")
    assert "reading" not in said.accessibleName()
    gate.set()


@pytest.mark.slow
def test_a_text_that_is_too_long_to_be_typed_is_cut_and_said(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    edit = find(window, QLineEdit, "prefix_edit")
    most = edit.maxLength()
    for text in ("a" * most, "a" * (most + 1)):
        window.notice.clear()
        read.reading.set_prefix(text)
        assert len(read.reading.prefix) == most
        assert ("32,767 characters" in window.notice.sentence) == (len(text) > most)
    window.notice.clear()
    edit.setCursorPosition(0)
    edit.insert("the cows")  # as what is pasted
    assert "32,767 characters" in window.notice.sentence
    read.reading.set_prefix("the cows")


@pytest.mark.slow
def test_an_empty_prefix_proposes_words_of_the_open_text_and_the_right_arrow_types_them(
    window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    edit = window.findChild(QLineEdit, "prefix_edit")
    for name in ("farm", "stories"):
        with qtbot.waitSignal(session.text.changed, timeout=LONG):
            session.text.open(name)
        words = beginning_of(session.text.corpus)
        assert 2 <= len(words.split()) <= 5
        assert words in session.text.corpus.validation_documents.text
        assert f"“{words}”" in edit.placeholderText()
    qtbot.keyClick(edit, Qt.Key.Key_Right)
    assert session.reading.prefix == words
    edit.setText("")
    with qtbot.waitSignal(session.library.model_changed, timeout=LONG):
        session.library.open("reviews-lstm")
    session.reading.set_prefix("")
    assert "such as" not in edit.placeholderText(), "a classifier reads other texts"


@pytest.mark.slow
def test_after_another_text_is_pasted_its_last_position_is_looked_at(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    read.focus.choose_position(1)
    edit = window.findChild(QLineEdit, "prefix_edit")
    edit.selectAll()
    edit.insert("eat grass eat the corn")  # as what is pasted
    wait_for_reading(read, qtbot)
    assert len(read.reading.encoding) > 3
    assert read.focus.position == len(read.reading.encoding) - 1


def test_a_word_more_is_spelled_and_told_once(
    window: MainWindow,
    read: Session,
    qtbot: QtBot,
    drawn: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spelled, told = [], []
    name, info = prefix_bar.token_name, find(window, InkedLabel, "prefix_info")
    pieces = info.set_pieces

    def shown(token: str, special: bool) -> str:
        spelled.append(token)
        return name(token, special)

    def tell(said: Sequence[Inked]) -> None:
        told.append("".join(piece.text for piece in said))
        pieces(said)

    monkeypatch.setattr(prefix_bar, "token_name", shown)
    monkeypatch.setattr(info, "set_pieces", tell)
    with qtbot.waitSignal(read.reading.changed):
        read.reading.set_prefix("the hens see the hens")
    drawn()
    assert len(spelled) == len(read.reading.encoding)
    assert told[-1].endswith("position 6 of 6")
    assert all(before != said for before, said in pairwise(told))


def test_what_is_said_of_the_tokens_gives_its_room_back(
    window: MainWindow, read: Session, drawn: Callable[[], None]
) -> None:
    bar, info = window.prefix_bar, find(window, InkedLabel, "prefix_info")
    drawn()
    before = bar.edit.y(), bar.height()
    window.set_projector(True)
    drawn()
    window.set_projector(False)
    drawn()
    assert (bar.edit.y(), bar.height()) == before
    assert info.height() <= 2 * info.fontMetrics().lineSpacing()
    read.reading.set_prefix("the " + "unheardofwordofgreatlength" * 3)
    drawn()
    assert info.height() > 2 * info.fontMetrics().lineSpacing()
    read.reading.set_prefix("the cows")
    drawn()
    assert (bar.edit.y(), bar.height()) == before


def test_while_another_model_is_coming_no_word_stands_there_that_was_not_typed(
    window: MainWindow, read: Session, gate: threading.Event, qtbot: QtBot
) -> None:
    """What the model before has read are ids, which mean other words to the next."""
    bar, of_the_farm = find(window, PrefixBar, "prefix_bar"), read.library.model
    read.library.open("stories-gru")
    qtbot.waitUntil(lambda: read.library.model is not of_the_farm)
    read.reading.set_prefix("the cows eat grass")
    qtbot.waitUntil(lambda: read.reading.current is not None and len(read.reading.current.trace) == 5)
    qtbot.waitUntil(lambda: not read.reading.is_busy)
    before = read.reading.current
    read.work.ask("hold", gate.wait, lambda _: None, print)
    read.library.choose(of_the_farm)
    assert read.library.model == of_the_farm
    assert read.reading.current is before
    qtbot.waitUntil(lambda: bar.strip.tokens == ("⟨start⟩", "the", "cows", "eat", "grass"))
    gate.set()
