"""The die: bars of cumulative probabilities lying flat, and the random number that falls on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import (
    Property,
    QEasingCurve,
    QPointF,
    QPropertyAnimation,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.app.widgets.base.growing_canvas import GrowingCanvas
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.kit.painter import Painter, cut
from lmviz.app.widgets.kit.pointing import Pointable

LABEL_SIZE, SHARE_SIZE = 11.5, 10.5
ABOVE, BELOW, BETWEEN = 30, 18, 10  # pixels at scale 1: for the number, for the scale, and between two bars
HIGHEST, HIGH = 56, 0.28  # a bar in pixels at scale 1, and where it can be higher as a share of the height
TWO_LINES = 34
UPRIGHT_LINE, UPRIGHT_SIZES = 18, (12, 11, 10)
LANDING = 420  # milliseconds
THINNEST = 3  # a line between thinner segments would hide them


@dataclass(frozen=True, eq=False)
class _Stack:
    """Words side by side from 0 to 1: `edges` (word + 1,), and the share of all others together."""

    labels: tuple[str, ...]
    edges: np.ndarray
    rest: float = 0.0

    @classmethod
    def of(cls, labels: Sequence[str], probabilities: Sequence[float] | np.ndarray, rest: float) -> _Stack:
        sums = np.cumsum(np.asarray(probabilities, dtype=np.float64))
        return cls(tuple(labels), np.concatenate([[0.0], sums]), rest)

    def at(self, draw: float | None) -> int:
        """The word on which a draw falls; −1 without one, the number of words for the rest."""
        return -1 if draw is None else int(np.searchsorted(self.edges[1:], draw, side="right"))

    def name(self, index: int) -> str:
        return self.labels[index] if index < len(self.labels) else "another word"


NOTHING = _Stack((), np.zeros(1))


class CumulativeBar(Pointable, GrowingCanvas):
    """`CumulativeBar()`: a bar from 0 to 1, one segment for each candidate in its order.

    `set_shares(labels, probabilities, rest=0)` stacks them, `rest` being the share of all others
    together; `set_before(...)` puts a second bar above, of before a change, None takes it away;
    `set_draw(u, animated=True)` shows where a uniform number lands, in both, None takes it away;
    `set_hovered(index)` highlights a segment from outside.
    Signals: `share_hovered(int)` (−1 on leaving) and `share_clicked(int)`; the rest cannot be clicked.
    """

    spoken_as = "Chart"

    share_hovered = Signal(int)
    share_clicked = Signal(int)
    usual_size = (380, 150)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stack = NOTHING
        self._earlier: _Stack | None = None
        self._draw: float | None = None
        self._marker = 0.0
        self._fall = QPropertyAnimation(self, b"marker", self)
        self._fall.setDuration(LANDING)
        self._fall.setEasingCurve(QEasingCurve.Type.OutBounce)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("the die: cumulative probability")

    @property
    def landed_on(self) -> int:
        """The segment on which the draw falls; −1 without a draw, the number of labels for the rest."""
        return self._stack.at(self._draw)

    @property
    def landed_before(self) -> int:
        """The same in the bar of before the change."""
        return -1 if self._earlier is None else self._earlier.at(self._draw)

    @property
    def sentence(self) -> str:
        """Where the draw lands, in words; empty without one."""
        if self._draw is None or not self._stack.labels:
            return ""
        now = self._stack.name(self.landed_on)
        if self._earlier is None:
            return f"u = {number(self._draw)} → {now}"
        before = self._earlier.name(self.landed_before)
        return f"u = {number(self._draw)}, the same roll: {before} before, {now} after"

    def set_shares(
        self, labels: Sequence[str], probabilities: Sequence[float] | np.ndarray, rest: float = 0.0
    ) -> None:
        """Stack candidates, (candidate,), in the order in which they are drawn from."""
        self._stack = _Stack.of(labels, probabilities, rest)
        self.set_hovered(-1)
        self._describe()
        self.update()

    def set_before(
        self,
        labels: Sequence[str] | None,
        probabilities: Sequence[float] | np.ndarray = (),
        rest: float = 0.0,
    ) -> None:
        """Stack candidates as they were before a change; None for no such bar."""
        had = self._earlier is not None
        self._earlier = None if labels is None else _Stack.of(labels, probabilities, rest)
        if had != (self._earlier is not None):
            self.updateGeometry()
        self._describe()
        self.update()

    def set_draw(self, draw: float | None, *, animated: bool = True) -> None:
        """Let a number between 0 and 1 land on the bar."""
        self._fall.stop()
        self._draw = draw
        self._describe()
        if draw is None:
            self.update()
        elif animated and self.isVisible():
            self._fall.setStartValue(0.0)
            self._fall.setEndValue(draw)
            self._fall.start()
        else:
            self._set_marker(draw)

    def description(self) -> str:
        if self._draw is None:
            return ""
        return f"{number(self._draw)} lands on {self._stack.name(self.landed_on)}"

    def _get_marker(self) -> float:
        return self._marker

    def _set_marker(self, marker: float) -> None:
        self._marker = marker
        self.update()

    marker = Property(float, _get_marker, _set_marker)
    """Where the marker is drawn while it falls."""

    def sizeHint(self) -> QSize:
        return QSize(round(self.usual_length(360)), self._height(HIGHEST))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.usual_length(140)), self._height(20))

    def _height(self, bar: float) -> int:
        bars = bar + (bar + BETWEEN if self._earlier is not None else 0)
        return round(self.usual_length(ABOVE + bars + BELOW))

    def part_rectangle(self, index: int) -> QRectF:
        """Where the segment of a candidate is drawn."""
        edges = self._stack.edges
        return _stretch(self._bar(), edges[index], edges[index + 1])

    def _bars(self) -> tuple[QRectF | None, QRectF]:
        """Where the bar of before is drawn, if there is one, and that of now."""
        number_of = 1 if self._earlier is None else 2
        between = self.length(BETWEEN) * (number_of - 1)
        room = self.height() - self.length(ABOVE + BELOW) - between
        height = max(1.0, min(max(self.length(HIGHEST), HIGH * self.height()), room / number_of))
        left = 0.0
        if self._earlier is not None:
            left = self.metrics(SHARE_SIZE + 1).horizontalAdvance("before") + self.length(8)
        spare = max(0.0, room - number_of * height) / 2
        top = self.length(ABOVE) + spare
        width = max(1.0, self.width() - left - self.length(1))
        first = QRectF(left, top, width, height)
        if self._earlier is None:
            return None, first
        return first, first.translated(0, height + between)

    def _bar(self) -> QRectF:
        return self._bars()[1]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        before, now = self._bars()
        if not self._stack.labels:
            return
        for stack, bar, name in self._drawn(before, now):
            self._draw_stack(painter, stack, bar)
            if name:
                area = QRectF(0, bar.top(), bar.left(), bar.height())
                painter.write(area, name, self.theme.muted_text, SHARE_SIZE + 1)
        self._draw_scale(painter, now)
        if self._draw is not None:
            self._draw_marker(painter, now if before is None else before, now)

    def _drawn(self, before: QRectF | None, now: QRectF) -> Iterator[tuple[_Stack, QRectF, str]]:
        if self._earlier is not None and before is not None:
            yield self._earlier, before, "before"
        yield self._stack, now, "" if before is None else "after"

    def _is_settled(self) -> bool:
        return self._fall.state() != QPropertyAnimation.State.Running

    def _draw_stack(self, painter: Painter, stack: _Stack, bar: QRectF) -> None:
        """Thin segments at the end are drawn as one block, so that a long tail costs nothing."""
        words = len(stack.labels)
        landed = stack.at(self._draw) if self._is_settled() else -1
        thin = np.flatnonzero(np.diff(stack.edges) * bar.width() < self.length(THINNEST))
        first_thin = int(thin[0]) if len(thin) else words
        painter.setPen(QPen(self.theme.surface, self.length(1)))
        for index in range(first_thin):
            stretch = _stretch(bar, stack.edges[index], stack.edges[index + 1])
            fill = self._fill(stack, index, landed)
            painter.setBrush(fill)
            painter.drawRoundedRect(stretch, self.length(3), self.length(3))
            self._draw_label(painter, stack, index, stretch, mix(self.theme.surface, fill, fill.alphaF()))
            painter.setPen(QPen(self.theme.surface, self.length(1)))
        if stack.rest > 0:
            last = float(stack.edges[-1])
            painter.setBrush(self.theme.validation if landed == words else self.theme.line)
            painter.drawRect(_stretch(bar, last, min(1.0, last + stack.rest)))
        painter.box(_stretch(bar, stack.edges[first_thin], stack.edges[-1]), self._fill(stack, words, -1))
        for index in (self.hovered if stack is self._stack else -1, landed):
            if first_thin <= index < words:
                painter.setBrush(self._fill(stack, index, landed))
                stretch = _stretch(bar, stack.edges[index], stack.edges[index + 1])
                stretch.setWidth(max(stretch.width(), self.length(1.5)))
                painter.drawRect(stretch)

    def _fill(self, stack: _Stack, index: int, landed: int) -> QColor:
        is_now = stack is self._stack
        if index == landed:
            color = QColor(self.theme.validation)
            color.setAlphaF(1.0 if is_now else 0.45)
            return color
        color = QColor(self.theme.accent)
        strength = 1.0 if is_now and index == self.hovered else max(0.32, 0.86 - 0.09 * index)
        color.setAlphaF(strength if is_now else 0.6 * strength)
        return color

    def _draw_label(
        self, painter: Painter, stack: _Stack, index: int, stretch: QRectF, ground: QColor
    ) -> None:
        """The word, and its share where both fit one below the other; a long word reads upwards."""
        label, share = stack.labels[index], percentage(stack.edges[index + 1] - stack.edges[index])
        room = stretch.width() - self.length(6)
        painter.setPen(self.theme.on(ground))
        if self.metrics(LABEL_SIZE, token=True, bold=True).horizontalAdvance(label) > room:
            self._draw_upright(painter, label, stretch)
            return
        painter.setFont(self.theme.token_font(LABEL_SIZE, QFont.Weight.DemiBold))
        both = stretch.height() >= self.length(TWO_LINES)
        both = both and self.metrics(SHARE_SIZE).horizontalAdvance(share) <= room
        middle, line = stretch.center().y(), self.length(16)
        centre = Qt.AlignmentFlag.AlignCenter
        top = middle - line if both else middle - line / 2
        painter.drawText(QRectF(stretch.left(), top, stretch.width(), line), centre, label)
        if both:
            painter.setFont(self.theme.font(SHARE_SIZE))
            painter.drawText(QRectF(stretch.left(), middle, stretch.width(), line), centre, share)

    def _draw_upright(self, painter: Painter, label: str, stretch: QRectF) -> None:
        """A word from bottom to top, where a segment is wide enough for its line."""
        if stretch.width() < self.length(UPRIGHT_LINE):
            return
        sizes = {size: self.metrics(size, token=True, bold=True) for size in UPRIGHT_SIZES}
        room = stretch.height() - self.length(6)
        size = next(
            (size for size in sizes if sizes[size].horizontalAdvance(label) <= room), UPRIGHT_SIZES[-1]
        )
        painter.save()
        painter.setFont(self.theme.token_font(size, QFont.Weight.DemiBold))
        painter.translate(stretch.center())
        painter.rotate(-90)
        area = QRectF(-room / 2, -stretch.width() / 2, room, stretch.width())
        shown = cut(label, room, sizes[size])
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, shown)
        painter.restore()

    def _draw_scale(self, painter: Painter, bar: QRectF) -> None:
        """0 and 1 at the ends, and how many words share what is too thin to be named."""
        line = QRectF(bar.left(), bar.bottom() + self.length(2), bar.width(), self.length(15))
        painter.write(line, "0", self.theme.muted_text, SHARE_SIZE, where=Qt.AlignmentFlag.AlignLeft)
        painter.drawText(line, Qt.AlignmentFlag.AlignRight, "1")
        widths = np.diff(self._stack.edges) * bar.width()
        thin = np.flatnonzero(widths < self.length(26))
        if not len(thin):
            return
        first = int(thin[0])
        start = float(self._stack.edges[first])
        said = "others" if self._stack.rest > 0 else f"{count(len(self._stack.labels) - first)} more words"
        wide = self.metrics(SHARE_SIZE).horizontalAdvance(said)
        left = min(bar.left() + start * bar.width(), bar.right() - wide - self.length(16))
        if left > bar.left() + self.length(16):
            painter.drawText(QPointF(left, line.top() + painter.fontMetrics().ascent()), said)

    def _draw_marker(self, painter: Painter, first: QRectF, last: QRectF) -> None:
        """A line through the bars, and what it says above."""
        x = first.left() + self._marker * first.width()
        painter.setPen(QPen(self.theme.text, self.length(1.6)))
        painter.drawLine(QPointF(x, first.top() - self.length(4)), QPointF(x, last.bottom() + self.length(3)))
        tip, half = first.top() - self.length(2), self.length(5)
        painter.setBrush(self.theme.text)
        painter.drawPolygon(
            QPolygonF([QPointF(x - half, tip - half), QPointF(x + half, tip - half), QPointF(x, tip)])
        )
        said = self.sentence if self._is_settled() else f"u = {number(self._draw or 0.0)}"
        painter.setFont(self.theme.font(12, QFont.Weight.DemiBold))
        measure = self.metrics(12, bold=True)
        said = cut(said, self.width(), measure)
        wide = measure.horizontalAdvance(said)
        left = min(max(0.0, x - wide / 2), max(0.0, self.width() - wide))
        painter.drawText(QPointF(left, first.top() - self.length(12)), said)

    def index_at(self, place: QPointF) -> int:
        bar = self._bar()
        share = (place.x() - bar.left()) / bar.width()
        if share < 0 or place.y() < bar.top():
            return -1
        index = self._stack.at(share)
        return index if index < len(self._stack.labels) else -1

    def pointed_at(self, index: int) -> None:
        if index >= 0:
            shown = self._stack.edges[index + 1] - self._stack.edges[index]
            self.setToolTip(paragraph(f"{self._stack.labels[index]} {percentage(shown)}"))
        else:
            self.setToolTip("")
        self.share_hovered.emit(index)

    def clicked_on(self, index: int) -> None:
        self.share_clicked.emit(index)


def _stretch(bar: QRectF, first: float, last: float) -> QRectF:
    """The part of a bar between two shares."""
    return QRectF(bar.left() + first * bar.width(), bar.top(), (last - first) * bar.width(), bar.height())
