"""A picture that has more room than usual is drawn larger, type included, and can become small again."""

import pytest
from PySide6.QtCore import QSize

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.growing_canvas import MOST_GROWTH, EnlargedCanvas, GrowingCanvas


class Square(GrowingCanvas):
    usual_size = (200, 100)

    def minimumSizeHint(self):
        return QSize(round(self.usual_length(100)), round(self.usual_length(50)))


@pytest.fixture
def square(shown):
    return shown(Square(), 200, 100)


def drawn(canvas):
    """A length and the height of type, in pixels."""
    return canvas.length(10), canvas.theme.font(12).pixelSize(), canvas.metrics(12).height()


def test_lengths_and_type_grow_together(square):
    before = drawn(square)
    square.resize(400, 200)
    assert all(later > 1.3 * earlier for earlier, later in zip(before, drawn(square), strict=True))


def test_nothing_is_smaller_than_usual_or_larger_than_it_may_be(square):
    square.resize(100, 50)
    assert square.length(10) == current_theme().scale * 10
    square.resize(4000, 2000)
    assert square.growth == MOST_GROWTH


def test_the_side_with_less_room_counts(square):
    square.resize(4000, 100)
    assert square.growth == 1


def test_its_least_size_stays_as_it_was(square):
    before = square.minimumSizeHint()
    square.resize(400, 200)
    assert square.minimumSizeHint() == before


def test_what_is_enlarged_from_outside_asks_for_more_room(qtbot):
    class Line(EnlargedCanvas):
        def sizeHint(self):
            return QSize(round(self.length(100)), round(self.length(20)))

    line = Line()
    qtbot.addWidget(line)
    line.set_growth(1.5)
    assert line.sizeHint() == QSize(150, 30)
