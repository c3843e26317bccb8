"""The legend of a plot: a line and a name for each curve, small enough for a card's title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter, cut
from lmviz.app.widgets.kit.pointing import ACROSS, DOWN, Pointable

SIZE = 12
STROKE = 14
GAP = 14
LINE, MOST_LINES = 18, 3
WIDEST = 280  # pixels at scale 1 that a name may take; a run may be called anything, its time stands last


@dataclass(frozen=True)
class LegendEntry:
    """One curve: its name, its colour, whether it is shown now, and the kind of its line."""

    name: str
    color: QColor
    shown: bool = True
    line: Qt.PenStyle = Qt.PenStyle.SolidLine


class Legend(Pointable):
    """`Legend()`: `set_entries(entries)`. With `hides` a click on an entry, or Enter on the one to which
    arrow keys have led, is for hiding its curve: signal `entry_clicked(str)` with the curve's name.

    With `wraps` it takes the width it is given, and as many lines as that needs, but no more than three: then
    it says how many curves are left out.
    """

    entry_clicked = Signal(str)

    arrows, points_by_key = ACROSS | DOWN, True

    def __init__(self, parent: QWidget | None = None, *, wraps: bool = False, hides: bool = False) -> None:
        super().__init__(parent)
        self._entries: tuple[LegendEntry, ...] = ()
        self._wraps, self._hides = wraps, hides
        across = QSizePolicy.Policy.Ignored if wraps else QSizePolicy.Policy.Fixed
        self.setSizePolicy(across, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if hides else Qt.FocusPolicy.NoFocus)
        if hides:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("legend")

    def set_entries(self, entries: Sequence[LegendEntry]) -> None:
        """Show these curves, in this order."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            self.setAccessibleDescription(", ".join(entry.name for entry in entries))
            self._take_lines()
            self.show_count(len(entries))

    def _name(self, entry: LegendEntry) -> str:
        return cut(entry.name, self.length(WIDEST), metrics(SIZE))

    def places(self) -> list[tuple[LegendEntry, QRectF]]:
        """The entries there is room for, and where each is drawn."""
        measure, left, top, line = metrics(SIZE), 0.0, 0.0, self.length(LINE)
        places: list[tuple[LegendEntry, QRectF]] = []
        for entry in self._entries:
            width = self.length(STROKE + 5) + measure.horizontalAdvance(self._name(entry))
            if self._wraps and left > 0 and left + width > self._right_edge(top + line, len(places)):
                left, top = 0.0, top + line
                if top + line > MOST_LINES * line + 1:
                    break
            places.append((entry, QRectF(left, top, width, line)))
            left += width + self.length(GAP)
        return places

    def part_rectangle(self, index: int) -> QRectF | None:
        places = self.places()
        return places[index][1] if index < len(places) else None

    def clicked_on(self, index: int) -> None:
        if self._hides:
            self.entry_clicked.emit(self._entries[index].name)

    def _right_edge(self, bottom: float, placed: int) -> float:
        """How far entries may reach; the last line keeps room to say how many are left out."""
        is_last = bottom + 1 > MOST_LINES * self.length(LINE) and placed < len(self._entries) - 1
        return self.width() - is_last * metrics(SIZE).horizontalAdvance("+00")

    def _take_lines(self) -> None:
        """Be as high as the entries need in the present width."""
        if self._wraps:
            places = self.places()
            self.setFixedHeight(round(places[-1][1].bottom()) if places else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._take_lines()

    def adopt_theme(self) -> None:
        self._take_lines()
        super().adopt_theme()

    def sizeHint(self) -> QSize:
        places = self.places()
        return QSize(round(places[-1][1].right()) + 1 if places else 0, round(self.length(LINE)))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        places = self.places()
        for entry, area in places:
            color = entry.color if entry.shown else self.theme.faint_text
            start, end = QPointF(area.left(), area.center().y()), self.length(STROKE)
            painter.line(start, start + QPointF(end, 0), QPen(color, self.length(2), entry.line))
            ink = self.theme.muted_text if entry.shown else self.theme.faint_text
            text = area.adjusted(self.length(STROKE + 5), 0, 2, 0)
            painter.write(text, self.shown_in(text, entry.name, metrics(SIZE)), ink, SIZE)
        left_out = len(self._entries) - len(places)
        if left_out:
            rest = QRectF(self.rect()).adjusted(places[-1][1].right(), places[-1][1].top(), 0, 0)
            painter.write(rest, f"+{left_out}", self.theme.muted_text, where=AT_RIGHT)
        self.draw_focus(painter, self.part_rectangle(max(self._hovered, 0)))
