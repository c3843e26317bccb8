"""Attention over the text: its tokens in lines, and arcs whose width and shade are the weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QEnterEvent, QKeyEvent, QMouseEvent, QPainterPath, QPaintEvent, QPen

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.canvas import once
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.kit.lines import InLines
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable, Words
from lmviz.app.widgets.text.wrapped_words import WrappedWords, widths_of, wrap_words
from lmviz.inspection.attention import edges_of, strongest_edges

SIZES = (16.0, 14.5, 13.0)  # smaller ones are tried before the text is wrapped
GAP, LEAST_GAP, WIDEST_GAP = 34, 14, 90
MARGIN = 24
HEIGHT = 150
LINE, LINES = 80, 56  # the least height of a text in one line, and of each where there are several
BELOW, BELOW_EACH = 44, 31  # from the upper edge of the tokens to the end of their line, likewise
TOKEN, TOKEN_EACH = 26, 19  # how high a token is, likewise
LIFT, LIFT_EACH = 8, 3  # the gap between it and its arcs, and the stroke below it, likewise
STROKE = 5
ARCS = 240
SMALLEST = 0.004
WIDEST = 11


@dataclass(frozen=True, eq=False)
class _Layout:
    """The size of type, and where the tokens stand."""

    size: float
    words: WrappedWords


class AttentionText(Pointable, InLines[_Layout]):
    """`AttentionText()`: `set_attention(tokens, weights)`, weights (query, key), −∞ or NaN where masked.

    Hovering a token leaves only what it looks at; with Shift, only who looks at it. A click pins.
    `set_current(index)` and `set_hovered(index)` do so from outside.
    A text that is too long for one line is wrapped: place it in an area that scrolls up and down.
    Left and Right move the pin.
    """

    arrows, marks_clicked = ACROSS, True
    takes_height = True

    def __init__(self) -> None:
        super().__init__()
        self._tokens: tuple[str, ...] = ()
        self._weights = np.zeros((0, 0))
        self._looked_at = False
        self._edges: np.ndarray | None = None
        self._measured: dict[tuple[float, float], np.ndarray] = {}  # by size and scale
        self.setAccessibleName("attention in the text")

    def set_attention(self, tokens: Sequence[str], weights: np.ndarray) -> None:
        """Show a text and the weights (query, key) with which its tokens look at one another."""
        if len(tokens) != len(self._tokens):
            self._hovered = -1
        self._tokens = tuple(tokens)
        self._weights = np.nan_to_num(np.asarray(weights, dtype=np.float64), nan=0.0, neginf=0.0)
        self._edges = None
        self._measured.clear()
        self.show_count(len(tokens))
        self.lay_out_anew()

    def set_looked_at(self, looked_at: bool) -> None:
        """Whether the marked token is shown as the one looked at, rather than as the one that looks."""
        if looked_at != self._looked_at:
            self._looked_at = looked_at
            self.renew_card()
            self.update()

    def token_place(self, index: int) -> QPointF:
        """The middle of a token's upper edge, where its arcs end."""
        return QPointF(*self._places()[index].tolist())

    def sizeHint(self) -> QSize:
        gaps = self.length(GAP) * max(0, len(self._tokens) - 1)
        width = float(self._widths(SIZES[0]).sum()) + gaps + 2 * self.length(MARGIN)
        return QSize(round(width), round(self.length(HEIGHT)))

    def minimumSizeHint(self) -> QSize:
        widest = float(self._widths(SIZES[-1]).max(initial=0)) + 2 * self.length(MARGIN)
        return QSize(round(widest), round(self.length(LINE)))

    def lay_out(self, width: int) -> _Layout:
        """How the text is set at a width: as large as fits into one line, or wrapped."""
        room = width - 2 * self.length(MARGIN)
        size = next((size for size in SIZES if self._least_length(size) <= room), SIZES[-1])
        lengths = map(self.length, (MARGIN, LEAST_GAP, WIDEST_GAP))
        return _Layout(size, wrap_words(self._widths(size), width, *lengths))

    def height_of(self, layout: _Layout) -> float:
        return self.length(max(LINE, layout.words.count * LINES))

    def _least_length(self, size: float) -> float:
        """How long the text is in one line of a size of type."""
        return float(self._widths(size).sum()) + self.length(LEAST_GAP) * max(0, len(self._tokens) - 1)

    def _widths(self, size: float) -> np.ndarray:
        """How wide each token is in a size of type, (token,)."""
        key = (size, self.theme.scale)
        if key not in self._measured:
            self._measured[key] = widths_of(self._tokens, size)
        return self._measured[key]

    @once
    def _places(self) -> np.ndarray:
        """The middle of each token's upper edge, (token, 2)."""
        words = self.laid_out().words
        below = self.length(BELOW if words.count == 1 else BELOW_EACH)
        bases = self.height() * (words.lines + 1) / words.count - below
        return np.stack([words.centres, bases], axis=1)

    @property
    def _marked(self) -> int:
        return self._hovered if self._hovered >= 0 else self._current

    def description(self) -> str:
        if self._current < 0:
            return f"{len(self._tokens)} tokens"
        row = self._weights[self._current]
        best = [f"{self._tokens[key]} {percentage(row[key])}" for key in np.argsort(-row)[:3]]
        return f"{self._tokens[self._current]} looks at {', '.join(best)}"

    def _shown_weights(self) -> np.ndarray | None:
        """The weight between the marked token and each other, (token,); None when none is marked."""
        marked = self._marked
        if not 0 <= marked < len(self._tokens):
            return None
        return self._weights[:, marked] if self._looked_at else self._weights[marked]

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        shown, area = self._shown_weights(), QRectF(event.rect())
        edges = self._drawn_edges(one_token=shown is not None)
        share = 0.5 if shown is None else 1.0
        places = self._places()
        for query, key in edges[self._touching(places[edges], area)].tolist():
            start, end = self.token_place(query), self.token_place(key)
            self._draw_arc(painter, start, end, float(self._weights[query, key]), share)
        self._draw_tokens(painter, places, shown, area)
        self.draw_focus(painter)

    def _touching(self, ends: np.ndarray, area: QRectF) -> np.ndarray:
        """Which of the arcs between ends (edge, 2, 2) can be seen in an area, (edge,) bool."""
        least, most = ends.min(axis=1), ends.max(axis=1)  # (edge, 2)
        above = self.height() / self.laid_out().words.count
        seen: np.ndarray = (least[:, 0] <= area.right()) & (most[:, 0] >= area.left())
        return seen & (least[:, 1] - above <= area.bottom()) & (most[:, 1] >= area.top())

    def _drawn_edges(self, *, one_token: bool) -> np.ndarray:
        """The places (edge, 2) that are joined: those of the marked token, or the strongest of all."""
        if one_token:
            return edges_of(self._weights, self._marked, SMALLEST, looked_at=self._looked_at)
        if self._edges is None:
            self._edges = strongest_edges(self._weights, ARCS, SMALLEST)
        return self._edges

    def _draw_arc(self, painter: Painter, start: QPointF, end: QPointF, weight: float, share: float) -> None:
        color = QColor(self.theme.accent)
        color.setAlphaF(min(1.0, 0.1 + 0.9 * weight**0.7) * share)
        pen = QPen(color, self.length(max(0.8, WIDEST * weight * share)))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        is_level = start.y() == end.y()
        painter.stroke(self._arc(start, end) if is_level else self._arc_across(start, end), pen)

    @once
    def _lift(self) -> float:
        return self.length(LIFT if self.laid_out().words.count == 1 else LIFT_EACH)

    def _arc(self, start: QPointF, end: QPointF) -> QPainterPath:
        """From token to token over their line."""
        base, reach = start.y() - self._lift(), abs(end.x() - start.x())
        line = self.height() / self.laid_out().words.count
        room = start.y() % line - 2 * self._lift()
        path = QPainterPath(QPointF(start.x(), base))
        if reach < 1:
            loop, x = min(self.length(13), room / 2), start.x()
            path.cubicTo(x - loop, base - 2.2 * loop, x + loop, base - 2.2 * loop, x, base)
        else:
            top = base - 4 / 3 * min(room, self.length(26) + 0.42 * reach)
            path.cubicTo(start.x(), top, end.x(), top, end.x(), base)
        return path

    def _arc_across(self, start: QPointF, end: QPointF) -> QPainterPath:
        """From the upper edge of the lower token to below the one that stands in a line above."""
        lower, upper = (start, end) if start.y() > end.y() else (end, start)
        base = lower.y() - self._lift()
        foot = upper.y() + self.length(TOKEN_EACH + LIFT_EACH + STROKE + 1)
        path, middle = QPainterPath(QPointF(lower.x(), base)), (base + foot) / 2
        path.cubicTo(lower.x(), middle, upper.x(), middle, upper.x(), foot)
        return path

    def _draw_tokens(
        self, painter: Painter, places: np.ndarray, shown: np.ndarray | None, area: QRectF
    ) -> None:
        theme, layout = self.theme, self.laid_out()
        height = self.length(TOKEN if layout.words.count == 1 else TOKEN_EACH)
        strongest = float(shown.max(initial=0)) or 1.0 if shown is not None else 1.0
        for index in self._in_sight(places, height, area):
            (centre, base), wide = places[index].tolist(), float(layout.words.widths[index])
            place = QRectF(centre - wide / 2, base, wide, height)
            marked = index == self._marked
            related = shown is None or marked or shown[index] > SMALLEST
            around, ink = place.adjusted(-4, 0, 4, 0), theme.text if related else theme.faint_text
            token = self._tokens[index]
            painter.write(around, token, ink, layout.size, bold=marked, token=True, where=CENTRED)
            if shown is not None:
                self._draw_shade(painter, place, float(shown[index]) / strongest)
            if index == self._current:
                ring = place.adjusted(-self.length(7), -1, self.length(7), 1)
                painter.box(ring, edge=theme.accent, width=1.5, radius=5)

    def _in_sight(self, places: np.ndarray, height: float, area: QRectF) -> list[int]:
        """The tokens of which something can be seen in an area, in order: found at once for a whole text, of
        which an area that scrolls shows a small part."""
        halves = self.laid_out().words.widths / 2
        reach = height + self._lift() + self.length(STROKE)
        across = (places[:, 0] - halves < area.right()) & (places[:, 0] + halves > area.left()) & (halves > 0)
        along = (places[:, 1] < area.bottom()) & (places[:, 1] + reach > area.top())
        found: list[int] = np.flatnonzero(across & along).tolist()
        return found

    def _draw_shade(self, painter: Painter, area: QRectF, share: float) -> None:
        """A stroke below the token, as strong as its weight is beside the strongest."""
        if share <= SMALLEST:
            return
        width, height = max(area.width(), self.length(22)), self.length(STROKE)
        stroke = QRectF(area.center().x() - width / 2, area.bottom() + self._lift() - 1, width, height)
        painter.box(stroke, mix(self.theme.chip, self.theme.share_all, share), radius=STROKE / 2)

    def index_at(self, place: QPointF) -> int:
        """The token that is nearest in the line at whose height the pointer is."""
        if not self._tokens:
            return -1
        layout, places = self.laid_out(), self._places()
        line = int(place.y() / (self.height() / layout.words.count))
        distances = np.where(layout.words.lines == line, np.abs(places[:, 0] - place.x()), np.inf)
        index = int(np.argmin(distances))
        reach = max(layout.words.widths[index] / 2, self.length(10)) + self.length(12)
        is_near = distances[index] <= reach and place.y() >= places[index, 1] - self.length(12)
        return index if is_near else -1

    def readout(self, index: int) -> Words:
        weights = self._weights[:, index] if self._looked_at else self._weights[index]
        verb = "is looked at by" if self._looked_at else "looks at"
        best = [other for other in np.argsort(-weights)[:5].tolist() if weights[other] > SMALLEST]
        lines = [f"{percentage(weights[other])}  {self._tokens[other]}" for other in best]
        return f"{self._tokens[index]} {verb}", lines

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.set_looked_at(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.set_looked_at(False)
        super().leaveEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.set_looked_at(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Shift:
            self.set_looked_at(True)
            event.ignore()  # others show it too
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Shift:
            self.set_looked_at(False)
        super().keyReleaseEvent(event)
