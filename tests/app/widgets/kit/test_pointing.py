"""Parts of a widget: a subclass says where they are and what is said of them, and the rest follows."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtTest import QTest

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable, beside


class Boxes(Pointable):
    """Boxes side by side, ten pixels wide."""

    arrows, marks_clicked = ACROSS, True

    def __init__(self, count):
        super().__init__()
        self.pointed, self.clicked = [], []
        self.part_hovered.connect(self.pointed.append)
        self.part_clicked.connect(self.clicked.append)
        self.show_count(count)

    def part_rectangle(self, index):
        return QRectF(10 * index, 0, 10, 20)

    def paint(self, painter, event):
        self.draw_marks(painter)
        for left, text in ((0, "a"), (50, "a long name")):
            self.write_cut(painter, QRectF(left, 0, 30, 20), text, current_theme().text, 11)

    def readout(self, index):
        return f"box {index}", [f"of {self._count}"]

    def description(self):
        return f"box {self.current}"


@pytest.fixture
def boxes(shown):
    return shown(Boxes(4), 100, 20)


def test_the_card_stands_at_the_part_under_the_pointer_and_says_anew_what_has_changed(boxes, point):
    point(boxes, QPoint(25, 5))
    card = boxes.findChild(HoverCard)
    assert (boxes.hovered, card.title, card.lines) == (2, "box 2", ("of 4",))
    boxes.show_count(3)
    assert card.lines == ("of 3",)
    boxes.show_count(2)
    assert (boxes.hovered, card.isHidden()) == (-1, True)
    assert boxes.pointed[-1] == 2


def test_beside_all_parts_there_is_no_card(boxes, point):
    point(boxes, QPoint(25, 5))
    QTest.mouseMove(boxes, QPoint(90, 5))
    assert boxes.findChild(HoverCard).isHidden()
    assert boxes.pointed[-2:] == [2, -1]


def test_keys_choose_the_part_beside_and_enter_the_same_again(boxes):
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Return, Qt.Key.Key_Left):
        QTest.keyClick(boxes, key)
    assert boxes.clicked == [0, 1, 1, 0]
    assert boxes.accessibleDescription() == "box 0"


def test_a_part_is_marked_before_its_click_is_told(boxes, point):
    told = []
    boxes.part_clicked.connect(lambda index: told.append((index, boxes.current)))
    point(boxes, QPoint(25, 5), click=True)
    assert told == [(2, 2)]


def test_where_a_class_does_not_say_so_a_click_marks_nothing(boxes, point, monkeypatch):
    monkeypatch.setattr(Boxes, "marks_clicked", False)
    point(boxes, QPoint(25, 5), click=True)
    assert (boxes.clicked, boxes.current) == ([2], -1)


def test_what_is_chosen_stays_as_long_as_it_is_there(boxes, point):
    point(boxes, QPoint(35, 5), click=True)
    boxes.show_count(6)
    assert boxes.current == 3
    boxes.show_count(3)
    assert (boxes.current, boxes.accessibleDescription()) == (2, "box 2")
    boxes.set_current(9)
    assert boxes.current == 2, "no part that is not there can be chosen"


def test_a_part_that_is_not_there_cannot_be_pointed_at(boxes):
    boxes.set_hovered(3)
    assert boxes.hovered == 3
    boxes.set_hovered(4)  # as from a longer text elsewhere
    assert boxes.hovered == -1


def test_colours_lie_behind_the_part_under_the_pointer_and_the_chosen_one(boxes):
    bare = boxes.grab().toImage().pixelColor(15, 17)
    boxes.set_hovered(2)
    boxes.set_current(3)
    image, theme = boxes.grab().toImage(), current_theme()
    seen = [image.pixelColor(10 * index + 5, 17) for index in range(4)]
    assert seen == [bare, bare, theme.hover, theme.accent_wash]
    boxes.show_count(3)
    assert boxes.grab().toImage().pixelColor(35, 17) == bare, "no part is chosen that is not there"


def test_of_words_that_are_cut_the_pointer_brings_the_whole(boxes):
    boxes.grab()
    assert [boxes.whole_at(QPointF(left, 10)) for left in (5, 55)] == ["", "a long name"]


def test_arrows_lead_to_every_part_wherever_it_stands():
    places = [(3.0, 1.0), (1.0, 2.0), (float("nan"), 0.0), (2.0, 0.0)]
    for key, order in ((Qt.Key.Key_Right, [1, 3, 0, 0]), (Qt.Key.Key_Down, [3, 0, 1, 1])):
        at, passed = -1, []
        for _ in order:
            at = beside(places, at, key)
            passed.append(at)
        assert passed == order
    assert beside(places, 0, Qt.Key.Key_Left) == 3
    assert beside(places[2:3], -1, Qt.Key.Key_Left) == -1
