"""The die: a bar of cumulative probabilities, and the random number that falls on it."""

from __future__ import annotations

from collections.abc import Sequence

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
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.figures import number, percentage
from lmviz.app.widgets.base.pointable import Pointable

LABEL_SIZE = 11.5
BAR_SHARE = 0.38
LANDING = 420  # milliseconds
LEAST_LABELLED = 13
THINNEST = 3  # a line between thinner segments would hide them


class CumulativeBar(Pointable):
    """`CumulativeBar()`: a bar from 0 to 1, one segment for each candidate in its order.

    `set_shares(labels, probabilities, rest=0)` stacks them, `rest` being the share of all others
    together; `set_draw(u, animated=True)` shows where a uniform number lands, None takes it away;
    `set_hovered(index)` highlights a segment from outside.
    Signals: `share_hovered(int)` (−1 on leaving) and `share_clicked(int)`; the rest cannot be clicked.
    """

    share_hovered = Signal(int)
    share_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._labels: tuple[str, ...] = ()
        self._edges = np.zeros(1)
        self._rest = 0.0
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
        if self._draw is None:
            return -1
        return int(np.searchsorted(self._edges[1:], self._draw, side="right"))

    def set_shares(
        self, labels: Sequence[str], probabilities: Sequence[float] | np.ndarray, rest: float = 0.0
    ) -> None:
        """Stack candidates, (candidate,), in the order in which they are drawn from."""
        self._labels = tuple(labels)
        self._edges = np.concatenate([[0.0], np.cumsum(np.asarray(probabilities, dtype=np.float64))])
        self._rest = rest
        self.set_hovered(-1)
        self.update()

    def set_draw(self, draw: float | None, *, animated: bool = True) -> None:
        """Let a number between 0 and 1 land on the bar."""
        self._fall.stop()
        self._draw = draw
        if draw is None:
            self.setAccessibleDescription("")
            self.update()
            return
        landed = self.landed_on
        name = self._labels[landed] if landed < len(self._labels) else "another word"
        self.setAccessibleDescription(f"{number(draw)} lands on {name}")
        if animated and self.isVisible():
            self._fall.setStartValue(0.0)
            self._fall.setEndValue(draw)
            self._fall.start()
        else:
            self._set_marker(draw)

    def _get_marker(self) -> float:
        return self._marker

    def _set_marker(self, marker: float) -> None:
        self._marker = marker
        self.update()

    marker = Property(float, _get_marker, _set_marker)
    """Where the marker is drawn while it falls."""

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(150)), round(self.length(300)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(110)), round(self.length(120)))

    def _bar(self) -> QRectF:
        top, left = self.length(26), self.length(18)
        return QRectF(left, top, self.width() * BAR_SHARE, max(1.0, self.height() - top - self.length(6)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        bar = self._bar()
        if len(self._edges) > 1:
            self._draw_stretches(painter, bar)
            self._draw_labels(painter, bar)
        if self._draw is not None:
            self._draw_marker(painter, bar)

    def _stretch(self, bar: QRectF, first: float, last: float) -> QRectF:
        return QRectF(
            bar.left(), bar.top() + first * bar.height(), bar.width(), (last - first) * bar.height()
        )

    def _is_settled(self) -> bool:
        return self._fall.state() != QPropertyAnimation.State.Running

    def _draw_stretches(self, painter: QPainter, bar: QRectF) -> None:
        """Thin segments at the end are drawn as one block, so that a long tail costs nothing."""
        count = len(self._labels)
        landed = self.landed_on if self._is_settled() else -1
        thin = np.flatnonzero(np.diff(self._edges) * bar.height() < self.length(THINNEST))
        first_thin = int(thin[0]) if len(thin) else count
        painter.setPen(QPen(self.theme.surface, self.length(1)))
        for index in range(first_thin):
            painter.setBrush(self._fill(index, landed))
            painter.drawRect(self._stretch(bar, self._edges[index], self._edges[index + 1]))
        if self._rest > 0:
            last = self._edges[-1]
            painter.setBrush(self.theme.validation if landed == count else self.theme.line)
            painter.drawRect(self._stretch(bar, last, min(1.0, last + self._rest)))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._fill(count, -1))
        painter.drawRect(self._stretch(bar, self._edges[first_thin], self._edges[-1]))
        for index in (self.hovered, landed):
            if first_thin <= index < count:
                painter.setBrush(self._fill(index, landed))
                stretch = self._stretch(bar, self._edges[index], self._edges[index + 1])
                stretch.setHeight(max(stretch.height(), self.length(1.5)))
                painter.drawRect(stretch)

    def _fill(self, index: int, landed: int) -> QColor:
        if index == landed:
            return self.theme.validation
        color = QColor(self.theme.accent)
        color.setAlphaF(1.0 if index == self.hovered else max(0.32, 0.86 - 0.09 * index))
        return color

    def _draw_labels(self, painter: QPainter, bar: QRectF) -> None:
        painter.setFont(self.theme.token_font(LABEL_SIZE))
        measure = metrics(LABEL_SIZE, token=True)
        start, free = bar.right() + self.length(8), bar.top() - 1
        width = max(0.0, self.width() - start)
        edges = np.append(self._edges, self._edges[-1] + self._rest) if self._rest > 0 else self._edges
        for index in np.flatnonzero(np.diff(edges) * bar.height() >= self.length(LEAST_LABELLED)):
            name = self._labels[index] if index < len(self._labels) else "others"
            middle = self._stretch(bar, edges[index], edges[index + 1]).center().y()
            if middle < free:
                continue
            free = middle + self.length(LEAST_LABELLED)
            painter.setPen(self.theme.muted_text if index == len(self._labels) else self.theme.text)
            label = measure.elidedText(name, Qt.TextElideMode.ElideRight, width)
            area = QRectF(start, middle - self.length(9), width, self.length(18))
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, label)

    def _draw_marker(self, painter: QPainter, bar: QRectF) -> None:
        height = bar.top() + self._marker * bar.height()
        painter.setPen(QPen(self.theme.text, self.length(2)))
        painter.drawLine(
            QPointF(bar.left() - self.length(12), height), QPointF(bar.left() - self.length(2), height)
        )
        painter.setPen(QPen(self.theme.text, self.length(1), Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(bar.left(), height), QPointF(bar.right(), height))
        painter.setPen(self.theme.text)
        painter.setFont(self.theme.font(12.5))
        area = QRectF(0, 0, self.width(), self.length(22))
        said = f"u = {number(self._draw or 0.0)}"
        landed = self.landed_on
        if self._is_settled() and landed < len(self._labels):
            said += f" → {self._labels[landed]}"
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, said)

    def index_at(self, place: QPointF) -> int:
        bar = self._bar()
        share = (place.y() - bar.top()) / bar.height()
        index = int(np.searchsorted(self._edges[1:], share, side="right"))
        return index if share >= 0 and index < len(self._labels) else -1

    def pointed_at(self, index: int) -> None:
        shown = self._edges[index + 1] - self._edges[index] if index >= 0 else 0
        self.setToolTip(f"{self._labels[index]} {percentage(shown)}" if index >= 0 else "")
        self.share_hovered.emit(index)

    def clicked_on(self, index: int) -> None:
        self.share_clicked.emit(index)
