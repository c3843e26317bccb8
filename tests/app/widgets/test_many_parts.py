"""A law: over a picture with a thousand parts the pointer never waits.

The issue's limits are for a quiet machine: a part is found in 1 ms, what the pointer is on is drawn anew in
16 ms, and a picture is shown in 100 ms. They are counted here in units, each the time in which this machine,
as busy as it is, draws a thousand words: some 3 ms on a quiet one. Unit and picture are measured in turn,
again and again while a picture is over a limit, and the quickest of both are compared.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from covering import others_slow
from many_parts import MAKERS, words
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize
from PySide6.QtGui import QPixmap, QRegion
from PySide6.QtWidgets import QWidget
from quickest import seconds

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.kit.axes import PointableAxes
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import Parts

MANY = 1000
BOUNDED = {
    **dict.fromkeys(("PresetCards", "FamilyCards", "PollChoices", "MeasuredCards"), 12),
    **dict.fromkeys(("AlgorithmLines", "ArithmeticCard", "Legend"), 40),
    **dict.fromkeys(("CircuitPicture", "SizePlot", "NetworkPicture", "UnitPicture"), 150),
    "PlotNames": 60,
}
"""How many parts there are at most of a kind of which there are never a thousand."""
FINDING, REPAINTING, SHOWING = 0.3, 5.5, 34.0  # units
SLOWER = {
    "GradientWave": 30,
    "AlignmentArcs": 18,
    "ConfusionGrid": 13,
    "PositionBars": 11,
    "SurprisalPlot": 11,
    "PositionCurve": 9,
    "CircuitPicture": 9,
    "TreeView": 8,
    "BeforeAfterBars": 8,
    "TapeList": 8,
    "PushedLinesView": 8,
    "FiringLines": 8,
    "ShiftArrows": 8,
    "WordBarsPlot": 8,
}
"""Pictures with so much in sight at once that drawing them anew takes longer, in units: none waits for that
much as it looks for the part."""
WINDOW = QSize(900, 600)
HOVERS = 5
TRIES = 8


def kinds(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_every_kind_of_picture_with_parts_is_held_to_the_law() -> None:
    """Those of the kit are bases; those of panels draw what their base does."""
    concrete = {
        kind.__name__
        for kind in kinds(Parts)
        if kind.__module__.startswith("lmviz.app.widgets") and not inspect.isabstract(kind)
    }
    bases = {base.__name__ for kind in kinds(Parts) for base in kind.__mro__[1:]}
    assert concrete - bases - MAKERS.keys() == set()


def unit() -> float:
    """Seconds of the processor in which a thousand words are drawn."""

    def draw_words() -> None:
        picture = QPixmap(1200, 800)
        with Painter(picture) as painter:
            painter.setFont(current_theme().font(12))
            for place, word in enumerate(words(1000)):
                area = QRectF(place % 20 * 60, place // 20 * 16, 58, 15)
                painter.box(area, current_theme().hover, radius=3)
                painter.write(area, word)

    return min(seconds(draw_words) for _ in range(5))


@pytest.mark.parametrize("name", others_slow(MAKERS, "ProductStrip", "ConfusionGrid", "CurveRows"))
def test_the_pointer_never_waits(name: str, qtbot, shown) -> None:
    count, units, tries = BOUNDED.get(name, MANY), [], []
    limits = FINDING, SLOWER.get(name, REPAINTING), max(SHOWING, 2 * SLOWER.get(name, 0))
    for _ in range(TRIES):
        units.append(unit())
        tries.append(measured(name, count, shown))
        finding, repainting, showing = (min(each) / min(units) for each in zip(*tries, strict=True))
        if finding <= limits[0] and repainting <= limits[1] and showing <= limits[2]:
            return
    taken = f"finding {finding:.2f}, repainting {repainting:.1f}, showing {showing:.1f}"
    pytest.fail(f"In units, {taken} take more than {limits}.")


def measured(name: str, count: int, shown: Callable[..., QWidget]) -> tuple[float, float, float]:
    """Seconds to find a part, on an average; to draw what is pointed at anew; and to show the picture."""
    made: list[QWidget] = []

    def show() -> None:
        widget = MAKERS[name](count)
        width = max(WINDOW.width(), min(widget.minimumSizeHint().width(), 4 * WINDOW.width()))
        least = widget.minimumSizeHint().height()
        height = widget.heightForWidth(width) if widget.hasHeightForWidth() else least
        widget.resize(width, max(WINDOW.height(), height))
        draw(widget)
        made.append(widget)

    showing = seconds(show)
    [widget] = made
    shown(widget, widget.width(), widget.height())
    places = list(across(widget))
    found = [widget.index_at(place) for place in places]  # which measures what is measured once
    finding = seconds(lambda: [widget.index_at(place) for place in places]) / len(places)
    pointed = list(dict.fromkeys(found))[:HOVERS]

    def point_at(part: object) -> None:
        widget.hover(part)
        draw(widget)

    repainting = min(seconds(partial(point_at, part)) for part in pointed)
    widget.hover(widget.nowhere)
    return finding, repainting, showing


def draw(widget: QWidget) -> None:
    """Draw as much as a window shows of it."""
    if isinstance(widget, PointableAxes):
        widget.grab()
    else:
        widget.render(QPixmap(WINDOW), QPoint(), QRegion(0, 0, WINDOW.width(), WINDOW.height()))


def across(widget: QWidget) -> Iterator[QPointF]:
    """Places all over what is drawn, as the widget counts them."""
    left, top, wide, high = 2.0, 2.0, WINDOW.width() - 4.0, WINDOW.height() - 4.0
    if isinstance(widget, PointableAxes):
        (left, right), (top, bottom) = widget.box.viewRange()
        wide, high = right - left, bottom - top
    for row in range(8):
        for column in range(12):
            yield QPointF(left + wide * column / 11, top + high * row / 7)
