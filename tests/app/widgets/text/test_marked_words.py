"""Words of which one is marked: pointed at, clicked and reached by keys alike in all such widgets."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.text.label_table import LabelTable
from lmviz.app.widgets.text.labelled_words import LabelledWord, LabelledWords
from lmviz.app.widgets.text.marked_words import MarkedWords
from lmviz.app.widgets.text.word_effects import WordEffect, WordEffects
from lmviz.looks.label_row import LabelRow, TableLabel

WORDS = ("the", "cows", "eat")
Show = Callable[[MarkedWords, tuple[str, ...]], None]
Shown = tuple[MarkedWords, Show, tuple[int, int], str]


def show_labels(view: LabelledWords, words: tuple[str, ...]) -> None:
    view.set_words([LabelledWord(word, "X", 0.5, wrong=word == "cows") for word in words])


def show_effects(view: WordEffects, words: tuple[str, ...]) -> None:
    view.set_words([WordEffect(word, 0.25, -0.5) for word in words], 1.0)


def show_table(view: LabelTable, words: tuple[str, ...]) -> None:
    labels = tuple(TableLabel("X", 0.5, word == "cows") for word in words)
    view.set_rows(words, [LabelRow("a model", "#FF0000", labels)], ["X"] * len(words))


KINDS = (
    (LabelledWords, show_labels, (Qt.Key.Key_Up, Qt.Key.Key_Down), "X 50.0 %"),
    (WordEffects, show_effects, (Qt.Key.Key_Up, Qt.Key.Key_Down), "erasing does  −0.5000"),
    (LabelTable, show_table, (Qt.Key.Key_Left, Qt.Key.Key_Right), "a model: X 50.0 %"),
)


@pytest.fixture(params=KINDS, ids=lambda kind: kind[0].__name__)
def shown(request: pytest.FixtureRequest, qtbot: QtBot) -> Iterator[Shown]:
    kind, show, keys, said = request.param
    window = QWidget()
    qtbot.addWidget(window)
    view = kind(parent=window)
    show(view, WORDS)
    window.resize(400, 300)
    view.resize(400, 200)
    with qtbot.waitExposed(window):
        window.show()
    yield view, show, keys, said
    window.close()


def centre(view: MarkedWords, index: int) -> QPoint:
    return view.part_rectangle(index).center().toPoint()


def test_a_word_is_read_out_where_the_pointer_is(shown: Shown, qtbot: QtBot) -> None:
    view, show, _, said = shown
    with qtbot.waitSignal(view.part_hovered, check_params_cb=lambda index: index == 1):
        QTest.mouseMove(view, centre(view, 1))
    card = view.window().findChild(HoverCard)
    assert "cows" in card.title
    assert any(said in line for line in card.lines)
    show(view, ("the", "hens"))
    assert "hens" in card.title, "the card says what is under the pointer now"
    show(view, ("the",))
    assert card.isHidden()


def test_a_word_is_clicked_with_the_pointer_and_with_keys(shown: Shown, qtbot: QtBot) -> None:
    view, _, (back, forth), _ = shown
    clicked: list[int] = []
    view.part_clicked.connect(clicked.append)
    view.part_clicked.connect(view.set_current)
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=centre(view, 1))
    for key in (forth, forth, back):
        QTest.keyClick(view, key)
    assert clicked == [1, 2, 1], "at the end a key clicks nothing, which would take the mark away"


def test_the_mark_stays_while_its_word_is_there(shown: Shown, qtbot: QtBot) -> None:
    view, show, _, _ = shown
    everything = view.accessibleDescription()
    view.set_current(2)
    assert view.current == 2
    assert "eat" in view.accessibleDescription()
    assert view.accessibleDescription() != everything
    show(view, ("the", "hens"))
    assert view.current == 1
    assert "hens" in view.accessibleDescription()
    view.set_current(-1)
    assert view.current == -1


def test_dots_at_either_end_of_a_long_table_lead_to_the_words_beyond(qtbot: QtBot) -> None:
    view = LabelTable()
    qtbot.addWidget(view)
    view.resize(400, 100)
    show_table(view, tuple(f"word{n:02}" for n in range(30)))
    view.part_clicked.connect(view.set_current)
    view.set_current(0)
    view.show()
    first = view.in_sight
    assert first.start == 0
    assert view.minimumSizeHint().width() < 400
    edge, middle = view.part_rectangle(first.stop - 1).right(), centre(view, 0).y() - 30
    after = QPoint(round(edge) + 6, middle)
    QTest.mouseMove(view, after)
    assert view.findChild(HoverCard).title == f"{30 - first.stop} more"
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=after)
    assert view.in_sight == range(first.stop, 2 * first.stop)
    before = QPoint(round(view.part_rectangle(first.stop).left()) - 6, middle)
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=before)
    assert view.in_sight == first
