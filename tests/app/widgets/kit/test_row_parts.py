import re
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, QRectF

import lmviz.app
from lmviz.app.widgets.kit.row_parts import AlongRow, RowParts

ROW = QRectF(0, 0, 200, 20)


class Rows(RowParts):
    """One row, as its test draws it."""

    draw = staticmethod(lambda rows, painter: None)

    def paint(self, painter, event):
        self.draw(self, painter)


@pytest.fixture
def rows(shown):
    def build(draw):
        view = Rows()
        view.draw = draw
        shown(view, 200, 20)
        return view, view.grab().toImage()

    return build


def pixels_of(image, ink, y=10):
    ratio = image.devicePixelRatio()
    return [x for x in range(200) if image.pixelColor(round(x * ratio), round(y * ratio)).rgb() == ink.rgb()]


def test_a_number_of_a_stretch_lies_between_its_ends():
    stretch = AlongRow(-1.0, 3.0, 100.0, 300.0)
    assert [stretch.at(value) for value in (-1, 0, 3)] == [100, 150, 300]
    assert stretch.between(ROW, 0.0, -1.0).getCoords()[::2] == (100, 150)
    assert stretch.between(ROW, 1.0, 1.0, least=2.0).width() == 2


def test_a_label_without_room_is_cut_and_the_pointer_brings_the_whole(rows):
    label = "a label that is much longer than its place"
    view, _ = rows(lambda view, painter: view.write_label(painter, QRectF(0, 0, 60, 20), label))
    assert view.whole_at(QPointF(30, 10)) == label
    assert view.label_width([label], 0.3) == 0.3 * view.width()


def test_a_bar_that_has_any_width_can_be_seen_and_one_of_none_cannot(rows):
    for width, seen in ((0.01, 1), (0.0, 0), (30.0, 30)):
        area = QRectF(50, 0, width, 20)
        view, image = rows(
            lambda view, painter, area=area: view.draw_bar(painter, area, 10, view.theme.key, radius=0)
        )
        assert len(pixels_of(image, view.theme.key)) == seen


def test_a_bar_with_a_sign_lies_on_the_side_and_has_the_colour_of_its_sign(rows):
    stretch = AlongRow(-2.0, 2.0, 0.0, 200.0)
    for end, left, right in ((1.0, 100, 149), (-1.0, 50, 99)):
        view, image = rows(
            lambda view, painter, end=end: view.draw_signed_bar(
                painter, ROW, stretch, (0.0, end), 10, radius=0
            )
        )
        drawn = pixels_of(image, view.theme.signed(end))
        assert (min(drawn), max(drawn)) == (left, right)


def test_of_a_pair_what_is_lies_below_what_was(rows):
    view, image = rows(lambda view, painter: view.draw_pair(painter, ROW, 8, (120.0, 60.0), view.theme.key))
    assert not pixels_of(image, view.theme.key, y=5)
    assert len(pixels_of(image, view.theme.key, y=14)) >= 55


def test_which_colour_a_sign_has_is_said_once():
    sources = Path(lmviz.app.__file__).parent.rglob("*.py")
    said = [path.name for path in sources if re.search(r"signed_positive\s+if", path.read_text("utf-8"))]
    assert said == ["roles.py"], "use `theme.signed(value)`"
