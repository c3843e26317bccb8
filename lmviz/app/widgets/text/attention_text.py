"""Attention over the text: tokens in a row, and arcs whose width and shade are the weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.arrows import ACROSS, along
from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.inspection.attention import edges_of, strongest_edges

SIZE = 16
GAP = 34
WIDEST_GAP = 90
MARGIN = 24
HEIGHT = 170
ARCS = 240
SMALLEST = 0.004
WIDEST = 11


class AttentionText(Canvas):
    """`AttentionText()`: `set_attention(tokens, weights)`, weights (query, key), −∞ or NaN where masked.

    Hovering a token leaves only what it looks at; with Shift, only who looks at it. A click pins.
    `set_current(index)` and `set_hovered(index)` do so from outside.
    It is as wide as its text needs: place it in a scroll area.
    Signals: `token_hovered(int)` (−1 on leaving), `token_clicked(int)`. Left and Right move the pin.
    """

    token_hovered = Signal(int)
    token_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tokens: tuple[str, ...] = ()
        self._weights = np.zeros((0, 0))
        self._current = self._hovered = -1
        self._looked_at = False
        self._edges: np.ndarray | None = None
        self._measured: np.ndarray | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("attention in the text")

    def set_attention(self, tokens: Sequence[str], weights: np.ndarray) -> None:
        """Show a text and the weights (query, key) with which its tokens look at one another."""
        if len(tokens) != len(self._tokens):
            self._hovered, self._current = -1, min(self._current, len(tokens) - 1)
        self._tokens = tuple(tokens)
        self._weights = np.nan_to_num(np.asarray(weights, dtype=np.float64), nan=0.0, neginf=0.0)
        self._edges = self._measured = None
        self._describe()
        self._renew_card()
        self.updateGeometry()
        self.update()

    def set_current(self, index: int) -> None:
        """Pin a token; −1 for none."""
        if index == self._current:
            return
        self._current = index
        self._describe()
        self.update()

    def set_hovered(self, index: int) -> None:
        """Show a token as hovered elsewhere, without a signal; −1 for none."""
        if index != self._hovered:
            self._hovered = index
            self.update()

    def set_looked_at(self, looked_at: bool) -> None:
        """Whether the marked token is shown as the one looked at, rather than as the one that looks."""
        if looked_at != self._looked_at:
            self._looked_at = looked_at
            self._renew_card()
            self.update()

    def token_place(self, index: int) -> QPointF:
        """The middle of a token's upper edge, where its arcs end."""
        return QPointF(self._centres()[index], self._base)

    def sizeHint(self) -> QSize:
        return QSize(round(self._needed(GAP)), round(self.length(HEIGHT)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self._needed(14)), round(self.length(110)))

    def adopt_theme(self) -> None:
        self._measured = None
        super().adopt_theme()

    @property
    def _base(self) -> float:
        return self.height() - self.length(62)

    @property
    def _marked(self) -> int:
        return self._hovered if self._hovered >= 0 else self._current

    def _widths(self) -> np.ndarray:
        """How wide each token is, (token,)."""
        if self._measured is None:
            measure = metrics(SIZE, token=True, bold=True)
            self._measured = np.array([measure.horizontalAdvance(token) for token in self._tokens])
        return self._measured

    def _needed(self, gap: float) -> float:
        gaps = self.length(gap) * max(0, len(self._tokens) - 1)
        return float(self._widths().sum()) + gaps + 2 * self.length(MARGIN)

    def _centres(self) -> np.ndarray:
        """The middle of each token, (token,); spare room widens the gaps up to a comfortable width."""
        widths = self._widths()
        spare = self.width() - 2 * self.length(MARGIN) - widths.sum()
        gap = min(max(spare / max(1, len(widths) - 1), self.length(14)), self.length(WIDEST_GAP))
        rights = np.cumsum(widths + gap) - gap
        total = rights[-1] if len(rights) else 0.0
        return max(self.length(MARGIN), (self.width() - total) / 2) + rights - widths / 2

    def _describe(self) -> None:
        if not 0 <= self._current < len(self._tokens):
            self.setAccessibleDescription(f"{len(self._tokens)} tokens")
            return
        row = self._weights[self._current]
        best = [f"{self._tokens[key]} {percentage(row[key])}" for key in np.argsort(-row)[:3]]
        self.setAccessibleDescription(f"{self._tokens[self._current]} looks at {', '.join(best)}")

    def _shown_weights(self) -> np.ndarray | None:
        """The weight between the marked token and each other, (token,); None when none is marked."""
        marked = self._marked
        if not 0 <= marked < len(self._tokens):
            return None
        return self._weights[:, marked] if self._looked_at else self._weights[marked]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        centres, shown = self._centres(), self._shown_weights()
        left, right = event.rect().left(), event.rect().right()
        edges = self._drawn_edges(one_token=shown is not None)
        ends = centres[edges]  # (edge, 2)
        seen = (ends.max(axis=1) >= left) & (ends.min(axis=1) <= right)
        share = 0.5 if shown is None else 1.0
        for (query, key), (start, end) in zip(edges[seen].tolist(), ends[seen].tolist(), strict=True):
            self._draw_arc(painter, start, end, float(self._weights[query, key]), share)
        self._draw_tokens(painter, centres, shown, left, right)
        self.draw_focus(painter)

    def _drawn_edges(self, *, one_token: bool) -> np.ndarray:
        """The places (edge, 2) that are joined: those of the marked token, or the strongest of all."""
        if one_token:
            return edges_of(self._weights, self._marked, SMALLEST, looked_at=self._looked_at)
        if self._edges is None:
            self._edges = strongest_edges(self._weights, ARCS, SMALLEST)
        return self._edges

    def _draw_arc(self, painter: QPainter, start: float, end: float, weight: float, share: float) -> None:
        base, reach = self._base - self.length(8), abs(end - start)
        height = min(base - self.length(8), self.length(26) + 0.42 * reach)
        color = QColor(self.theme.accent)
        color.setAlphaF(min(1.0, 0.1 + 0.9 * weight**0.7) * share)
        pen = QPen(color, self.length(max(0.8, WIDEST * weight * share)))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        path = QPainterPath(QPointF(start, base))
        if reach < 1:
            loop = self.length(13)
            path.cubicTo(start - loop, base - 2.2 * loop, start + loop, base - 2.2 * loop, start, base)
        else:
            top = base - 4 / 3 * height
            path.cubicTo(start, top, end, top, end, base)
        painter.drawPath(path)

    def _draw_tokens(
        self, painter: QPainter, centres: np.ndarray, shown: np.ndarray | None, left: int, right: int
    ) -> None:
        theme, widths, base, height = self.theme, self._widths(), self._base, self.length(26)
        strongest = float(shown.max(initial=0)) or 1.0 if shown is not None else 1.0
        seen = np.flatnonzero((centres + widths / 2 >= left) & (centres - widths / 2 <= right))
        for index in seen.tolist():
            token, wide = self._tokens[index], widths[index]
            area = QRectF(centres[index] - wide / 2, base, wide, height)
            marked = index == self._marked
            related = shown is None or marked or shown[index] > SMALLEST
            weight = QFont.Weight.DemiBold if marked else QFont.Weight.Normal
            painter.setFont(theme.token_font(SIZE, weight))
            painter.setPen(theme.text if related else theme.faint_text)
            painter.drawText(area.adjusted(-4, 0, 4, 0), Qt.AlignmentFlag.AlignCenter, token)
            if shown is not None:
                self._draw_shade(painter, area, float(shown[index]) / strongest)
            if index == self._current:
                painter.setPen(QPen(theme.accent, self.length(1.5)))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                ring = area.adjusted(-self.length(7), -1, self.length(7), 1)
                painter.drawRoundedRect(ring, self.length(5), self.length(5))

    def _draw_shade(self, painter: QPainter, area: QRectF, share: float) -> None:
        """A stroke below the token, as strong as its weight is beside the strongest."""
        if share <= SMALLEST:
            return
        width, height = max(area.width(), self.length(22)), self.length(5)
        stroke = QRectF(area.center().x() - width / 2, area.bottom() + self.length(7), width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mix(self.theme.chip, self.theme.share_all, share))
        painter.drawRoundedRect(stroke, height / 2, height / 2)

    def _index_at(self, place: QPointF) -> int:
        """The token whose place in the row is nearest, while the pointer is at the row's height."""
        if not self._tokens or place.y() < self._base - self.length(12):
            return -1
        centres = self._centres()
        index = int(np.argmin(np.abs(centres - place.x())))
        reach = max(self._widths()[index] / 2, self.length(10)) + self.length(12)
        return index if abs(centres[index] - place.x()) <= reach else -1

    def _hover(self, index: int, place: QPointF) -> None:
        changed = index != self._hovered
        self.set_hovered(index)
        if index < 0:
            HoverCard.leave(self)
        else:
            HoverCard.beside(self, place.toPoint(), *self._readout(index))
        if changed:
            self.token_hovered.emit(index)

    def _renew_card(self) -> None:
        """What is under the pointer has changed while the pointer rested."""
        HoverCard.renew(self, (lambda: self._readout(self._hovered)) if self._hovered >= 0 else None)

    def _readout(self, index: int) -> tuple[str, list[str]]:
        weights = self._weights[:, index] if self._looked_at else self._weights[index]
        verb = "is looked at by" if self._looked_at else "looks at"
        best = [other for other in np.argsort(-weights)[:5].tolist() if weights[other] > SMALLEST]
        lines = [f"{percentage(weights[other])}  {self._tokens[other]}" for other in best]
        return f"{self._tokens[index]} {verb}", lines

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.set_looked_at(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        self._hover(self._index_at(event.position()), event.position())

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.set_looked_at(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def leaveEvent(self, event: QEvent) -> None:
        self.set_looked_at(False)
        self._hover(-1, QPointF())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self._index_at(event.position())
        if index >= 0:
            self.set_current(index)
            self.token_clicked.emit(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        wanted = along(ACROSS, event.key(), self._current, len(self._tokens))
        if event.key() == Qt.Key.Key_Shift:
            self.set_looked_at(True)
            event.ignore()  # others show it too
        elif wanted is not None:
            self.set_current(wanted)
            self.token_clicked.emit(self._current)
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Shift:
            self.set_looked_at(False)
        super().keyReleaseEvent(event)
