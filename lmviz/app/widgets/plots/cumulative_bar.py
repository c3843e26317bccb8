"""The die: bars of cumulative probabilities lying flat, and the random number that falls on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEasingCurve, QPointF, QRectF, QSize, Qt, QVariantAnimation
from PySide6.QtGui import QColor, QFont, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.app.widgets.base.growing_canvas import GrowingCanvas
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.kit.painter import CENTRED, Painter, cut
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable
from lmviz.app.widgets.kit.rows import across

LABEL_SIZE, SHARE_SIZE = 11.5, 10.5
ABOVE, BELOW, BETWEEN = 30, 18, 10  # pixels at scale 1: for the number, for the scale, and between two bars
HIGHEST, HIGH = 56, 0.28  # a bar in pixels at scale 1, and where it can be higher as a share of the height
TWO_LINES = 34
UPRIGHT_LINE, UPRIGHT_SIZES = 18, (12, 11, 10)
LANDING = 420  # milliseconds
SAID = 5  # words with their shares to a reader of the screen
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
        """What a word is called, or the rest."""
        return self.labels[index] if index < len(self.labels) else "another"

    def share(self, index: int) -> str:
        """The share of a word, in per cent."""
        return percentage(self.edges[index + 1] - self.edges[index])

    def stretch(self, bar: QRectF, first: int, end: int | None = None) -> QRectF:
        """The part of a bar that belongs to a word, or to those up to another."""
        stop = first + 1 if end is None else end
        return across(bar, *(bar.left() + self.edges[edge] * bar.width() for edge in (first, stop)))


NOTHING = _Stack((), np.zeros(1))


class CumulativeBar(Pointable, GrowingCanvas):
    """`CumulativeBar()`: a bar from 0 to 1, one segment for each candidate in its order.

    `set_shares(labels, probabilities, rest=0)` stacks them, `rest` being the share of all others
    together; `set_before(...)` puts a second bar above, of before a change, None takes it away;
    `set_draw(u, animated=True)` shows where a uniform number lands, in both, None takes it away;
    `set_hovered(index)` highlights a segment from outside.
    The rest cannot be clicked. Keys across move what is hovered, and Enter clicks it.
    """

    spoken_as = "Chart"

    arrows, points_by_key = ACROSS, True
    usual_size = (380, 150)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stack = NOTHING
        self._earlier: _Stack | None = None
        self._draw: float | None = None
        self._marker = 0.0
        self._fall = QVariantAnimation(self)
        self._fall.setDuration(LANDING)
        self._fall.setEasingCurve(QEasingCurve.Type.OutBounce)
        self._fall.valueChanged.connect(self._set_marker)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click writes a word; the keys stay where they are
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
        self.show_count(len(self._stack.labels))

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
            first = range(min(SAID, len(self._stack.labels)))
            return ", ".join(f"{self._stack.name(index)} {self._stack.share(index)}" for index in first)
        return f"{number(self._draw)} lands on {self._stack.name(self.landed_on)}"

    @property
    def marker(self) -> float:
        """Where the marker is drawn, while it falls too."""
        return self._marker

    def _set_marker(self, marker: float) -> None:
        self._marker = marker
        self.update()

    def sizeHint(self) -> QSize:
        return self._sized(360, self._high(HIGHEST))

    def minimumSizeHint(self) -> QSize:
        return self._sized(140, self._high(20))

    def _high(self, bar: float) -> float:
        """The height with bars of a height, both in pixels at scale 1."""
        return ABOVE + bar + BELOW + (bar + BETWEEN if self._earlier is not None else 0)

    def part_rectangle(self, index: int) -> QRectF:
        """Where the segment of a candidate is drawn."""
        return self._stack.stretch(self._bars()[-1][1], index)

    def _bars(self) -> list[tuple[_Stack, QRectF, str]]:
        """What is drawn where: the bar of now, and above it that of before where there is one."""
        stacks = [(self._stack, "")]
        if self._earlier is not None:
            stacks = [(self._earlier, "before"), (self._stack, "after")]
        room = self.height() - self.length(ABOVE + BELOW + BETWEEN * (len(stacks) - 1))
        height = max(1.0, min(max(self.length(HIGHEST), HIGH * self.height()), room / len(stacks)))
        left = 0.0
        if self._earlier is not None:
            left = self.metrics(SHARE_SIZE + 1).horizontalAdvance("before") + self.length(8)
        top = self.length(ABOVE) + max(0.0, room - len(stacks) * height) / 2
        first = QRectF(left, top, max(1.0, self.width() - left - self.length(1)), height)
        apart = height + self.length(BETWEEN)
        return [
            (stack, first.translated(0, place * apart), name) for place, (stack, name) in enumerate(stacks)
        ]

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._stack.labels:
            return
        bars = self._bars()
        for stack, bar, name in bars:
            self._draw_stack(painter, stack, bar)
            area = QRectF(0, bar.top(), bar.left(), bar.height())
            painter.write(area, name, self.theme.muted_text, SHARE_SIZE + 1)
        self._draw_scale(painter, bars[-1][1])
        if self._draw is not None:
            self._draw_marker(painter, bars[0][1], bars[-1][1])
        self.draw_focus(painter)

    def _is_settled(self) -> bool:
        return self._fall.state() != QVariantAnimation.State.Running

    def _draw_stack(self, painter: Painter, stack: _Stack, bar: QRectF) -> None:
        """Thin segments at the end are drawn as one block, so that a long tail costs nothing."""
        words = len(stack.labels)
        landed = stack.at(self._draw) if self._is_settled() else -1
        thin = np.flatnonzero(np.diff(stack.edges) * bar.width() < self.length(THINNEST))
        first_thin = int(thin[0]) if len(thin) else words
        edge = QPen(self.theme.surface, self.length(1))
        for index in range(first_thin):
            stretch, fill = stack.stretch(bar, index), self._fill(stack, index, landed)
            painter.box(stretch, fill, edge, radius=3)
            self._draw_label(painter, stack, index, stretch, mix(self.theme.surface, fill, fill.alphaF()))
        if stack.rest > 0:
            last, ink = stack.stretch(bar, 0, -1).right(), self.theme.line
            rest = across(bar, last, min(bar.right(), last + stack.rest * bar.width()))
            painter.box(rest, self.theme.validation if landed == words else ink, edge)
        painter.box(stack.stretch(bar, first_thin, -1), self._fill(stack, words, -1))
        for index in (self.hovered if stack is self._stack else -1, landed):
            if first_thin <= index < words:
                stretch = stack.stretch(bar, index)
                stretch.setWidth(max(stretch.width(), self.length(1.5)))
                painter.box(stretch, self._fill(stack, index, landed))

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
        label, share = stack.labels[index], stack.share(index)
        room, ink = stretch.width() - self.length(6), self.theme.on(ground)
        if self.metrics(LABEL_SIZE, token=True, bold=True).horizontalAdvance(label) > room:
            self._draw_upright(painter, label, ink, stretch)
            return
        both = stretch.height() >= self.length(TWO_LINES)
        both = both and self.metrics(SHARE_SIZE).horizontalAdvance(share) <= room
        line, middle = self.length(16), stretch.center().y()
        area = QRectF(stretch.left(), middle - (line if both else line / 2), stretch.width(), line)
        painter.write(area, label, ink, LABEL_SIZE, bold=True, token=True, where=CENTRED)
        if both:
            painter.write(area.translated(0, line), share, size=SHARE_SIZE, where=CENTRED)

    def _draw_upright(self, painter: Painter, label: str, ink: QColor, stretch: QRectF) -> None:
        """A word from bottom to top, where a segment is wide enough for its line."""
        if stretch.width() < self.length(UPRIGHT_LINE):
            return
        room = stretch.height() - self.length(6)
        painter.save()
        painter.translate(stretch.center())
        painter.rotate(-90)
        area = QRectF(-room / 2, -stretch.width() / 2, room, stretch.width())
        measures = {size: self.metrics(size, token=True, bold=True) for size in UPRIGHT_SIZES}
        fitting = (size for size in measures if measures[size].horizontalAdvance(label) <= room)
        size = next(fitting, UPRIGHT_SIZES[-1])
        painter.write(area, cut(label, room, measures[size]), ink, size, bold=True, token=True, where=CENTRED)
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
        said = "others" if self._stack.rest > 0 else f"{count(len(self._stack.labels) - first)} more"
        wide = self.metrics(SHARE_SIZE).horizontalAdvance(said)
        left = min(self._stack.stretch(bar, first).left(), bar.right() - wide - self.length(16))
        if left > bar.left() + self.length(16):
            painter.drawText(QPointF(left, line.top() + painter.fontMetrics().ascent()), said)

    def _draw_marker(self, painter: Painter, first: QRectF, last: QRectF) -> None:
        """A line through the bars, and what it says above."""
        x = first.left() + self._marker * first.width()
        start, end = first.top() - self.length(4), last.bottom() + self.length(3)
        painter.line(QPointF(x, start), QPointF(x, end), self.theme.text, 1.6)
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
        _, bar, _ = self._bars()[-1]
        share = (place.x() - bar.left()) / bar.width()
        if share < 0 or place.y() < bar.top():
            return -1
        index = self._stack.at(share)
        return index if index < len(self._stack.labels) else -1

    def pointed_at(self, index: int) -> None:
        said = f"{self._stack.name(index)} {self._stack.share(index)}" if index >= 0 else ""
        self.setToolTip(paragraph(said) if said else "")
        super().pointed_at(index)
