"""Names beside a plot, each at the height of its line or as near as the others leave room, with a leader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter
from lmviz.app.widgets.kit.pointing import DOWN, Pointable

SIZE = 11.5
LINE = 16  # pixels at scale 1 from one name to the next
LEADER = 14  # pixels at scale 1 from the plot to the names
GAP = 8  # pixels at scale 1 between a name and its figure
LEAST_NAME = 24  # pixels at scale 1 of a longer name, which gets its figure's room where it has less
MOST = 0.42  # of the width of plot and names together


@dataclass(frozen=True)
class PlotName:
    """A name and its figure, at a height in pixels from the upper edge; `strong` is written bold.

    `faint` is for a curve that is hidden, `is_curve` for what a click hides and shows again,
    and the pointer brings a `note`.
    """

    name: str
    figure: str
    height: float
    color: QColor
    strong: bool = False
    faint: bool = False
    is_curve: bool = True
    note: str = ""


class PlotNames(Pointable):
    """`PlotNames()`: `set_names(names, top, bottom)`, the most important first; the last ones give way.

    Signal: `name_clicked(str)`, of a curve, also by Enter on the one to which Up and Down have led.
    """

    name_clicked = Signal(str)

    arrows, points_by_key, takes_clicks = DOWN, True, True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: list[PlotName] = []
        self._curves: list[str] = []  # the names of those that a click hides, and shows again
        self._places: list[float] = []
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("names of the curves")

    @property
    def places(self) -> dict[str, QRectF]:
        """Where each name is written."""
        left, line = self.length(LEADER), self.length(LINE)
        width = self.width() - left
        return {
            item.name: QRectF(left, place - line / 2, width, line)
            for item, place in zip(self._names, self._places, strict=True)
        }

    def set_names(self, names: Sequence[PlotName], top: float, bottom: float) -> None:
        """Write these names between two heights, as many as there is room for."""
        line = self.length(LINE)
        kept = list(names[: max(0, int((bottom - top) / line))])
        kept.sort(key=lambda item: item.height)
        self._names = kept
        self._places = spread([item.height for item in kept], line, top + line / 2, bottom - line / 2)
        self.setAccessibleDescription(", ".join(f"{item.name} {item.figure}" for item in kept))
        pointed = self._curves[self._hovered] if self._hovered >= 0 else ""
        self._curves = [item.name for item in kept if item.is_curve]
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if self._curves else Qt.FocusPolicy.NoFocus)
        self.set_hovered(self._curves.index(pointed) if pointed in self._curves else -1)
        self._count, self._is_counted = len(self._curves), True  # they ask for no other room
        self.update()

    def wanted_width(self, names: Sequence[PlotName], whole: float) -> int:
        """How wide the names want to be, beside a plot that together with them is so wide."""
        widest = max((_width(item) for item in names), default=0.0)
        room = self.length(LEADER) + widest + self.length(GAP)
        return round(min(room, MOST * whole)) if names else 0

    def sizeHint(self) -> QSize:
        return QSize(self.width(), 0)

    def part_rectangle(self, index: int) -> QRectF:
        return self.places[self._curves[index]]

    def clicked_on(self, index: int) -> None:
        self.name_clicked.emit(self._curves[index])

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        start, shared = self.length(LEADER), _shared([item.name for item in self._names if item.is_curve])
        for item, place in zip(self._names, self._places, strict=True):
            color = self.theme.faint_text if item.faint else item.color
            painter.setPen(QPen(color, self.length(1)))
            if not item.faint:
                bend = start - self.length(4)
                painter.drawPolyline(
                    [QPointF(0, item.height), QPointF(bend, place), QPointF(start - 2, place)]
                )
            area, font = self.places[item.name], metrics(SIZE, bold=item.strong)
            if item.note:
                self.hide_part(area, f"{item.name} {item.figure}: {item.note}")
            beside = area.width() - font.horizontalAdvance(item.figure) - self.length(GAP)
            if beside < min(self.length(LEAST_NAME), font.horizontalAdvance(item.name)):
                self.hide_part(area, f"{item.name} {item.figure}")  # the plot itself shows its height
            else:
                painter.fit(area, item.figure, color, SIZE, bold=item.strong, where=AT_RIGHT)
                area.setWidth(beside)
            shown = self.shown_in(area, item.name, font)
            if shown != item.name:  # what tells alike names apart comes last
                shown = self.shown_in(area, item.name.removeprefix(shared), font)
            painter.write(area, shown, size=SIZE, bold=item.strong)
        if self._curves:
            self.draw_focus(painter, self.part_rectangle(max(self._hovered, 0)))


def _shared(names: Sequence[str]) -> str:
    """The words with which all names begin; empty where there is only one name."""
    words = [name.split()[:-1] for name in names]
    alike = takewhile(lambda same: len(set(same)) == 1, zip(*words, strict=False))
    return "".join(f"{first} " for first, *_ in alike) if len(names) > 1 else ""


def spread(heights: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Places for ascending heights, `gap` apart at least, between two ends, each as near as can be.

    Neighbours that are too near form a block, which stands at the mean of what they want.
    """
    blocks: list[tuple[float, int]] = []  # the middle of each, and how many it holds
    for height in heights:
        middle, held = min(max(height, top), bottom), 1
        while blocks and blocks[-1][0] + gap * (blocks[-1][1] + held) / 2 > middle:
            other, others = blocks.pop()
            middle = (other * others + middle * held) / (others + held)
            held += others
            half = gap * (held - 1) / 2
            middle = min(max(middle, top + half), bottom - half)
        blocks.append((middle, held))
    return [middle + gap * (place - (held - 1) / 2) for middle, held in blocks for place in range(held)]


def _width(item: PlotName) -> float:
    font = metrics(SIZE, bold=item.strong)
    return font.horizontalAdvance(item.name) + font.horizontalAdvance(item.figure) + 8
