"""Shares that add up to one, as bars to drag: beside each, how hard its gradient pulls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import metrics, once
from lmviz.app.widgets.base.figures import percentage, signed_figure
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import DOWN
from lmviz.app.widgets.kit.row_parts import AlongRow, RowParts
from lmviz.app.widgets.kit.rows import across, in_the_middle

TOP, MIDDLE = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignHCenter
ROW, HEAD, BAR = 26, 20, 14
LEAST_ROW = 14
SIZE = 12
STEP = 0.01  # of the whole, for a press of an arrow key
PULL = 0.24  # the part of the width for the arrows


class SimplexBars(RowParts):
    """`SimplexBars()`: `set_words(words, best)` and `set_shares(shares, pulls)`, all (word,).

    The tick on a bar is the share that the counts give it. An arrow to the right says that the likelihood
    rises with the word's share, one to the left that it falls; `set_reach(pull)` is that of the longest.
    Signals: `share_wanted(word, share)` while a bar is dragged, and `word_chosen(word)`.
    Up and Down choose a word, Left and Right take or give it one hundredth.
    """

    spoken_as = "Chart"

    share_wanted = Signal(int, float)
    word_chosen = Signal(int)
    arrows = DOWN

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words: tuple[str, ...] = ()
        self._best = self._shares = self._pulls = np.zeros(0)
        self._reach = 1.0
        self._dragged = -1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("shares of what follows")

    @property
    def shares(self) -> np.ndarray:
        """What is drawn, (word,)."""
        return self._shares

    def set_words(self, words: Sequence[str], best: np.ndarray, reach: float) -> None:
        """Other words; an arrow of full length is a pull of `reach`."""
        self._words, self._best, self._reach = tuple(words), best, max(reach, 1e-9)
        self._shares, self._pulls = np.zeros(len(best)), np.zeros(len(best))
        self._dragged = -1
        self.show_count(len(words))
        self.set_current(0)

    def set_shares(self, shares: np.ndarray, pulls: np.ndarray) -> None:
        """Draw other shares."""
        self._shares, self._pulls = shares, pulls
        self._describe()
        self.update()

    def description(self) -> str:
        pairs = zip(self._words, self._shares.tolist(), strict=True)
        return ", ".join(f"{word} {percentage(share)}" for word, share in pairs)

    def choose(self, word: int) -> None:
        """Mark a word."""
        if word != self._current and 0 <= word < self._count:
            self.set_current(word)
            self.word_chosen.emit(word)

    def sizeHint(self) -> QSize:
        return self._sized(380, HEAD + ROW * max(2, self._count))

    def minimumSizeHint(self) -> QSize:
        return self._sized(200, HEAD + LEAST_ROW * max(2, self._count))

    @property
    def _row(self) -> float:
        room = self.height() - self.length(HEAD)
        return min(self.length(ROW * 1.5), max(self.length(LEAST_ROW), room / max(1, len(self._words))))

    @property
    @once
    def _columns(self) -> tuple[float, float, float, float]:
        """Where the bars begin and end, and where the arrows do."""
        start = self.label_width(self._words, 0.22) + self.length(10)
        figure = metrics(SIZE).horizontalAdvance("0.000") + self.length(10)
        pulls = self.width() - metrics(SIZE).horizontalAdvance("−88.88") - self.length(10)
        width = max(self.length(30), PULL * self.width())
        return start, pulls - width - figure - self.length(8), pulls - width, pulls

    def place_of(self, word: int, share: float) -> QPointF:
        """Where the end of a word's bar lies for a share."""
        start, end, _, _ = self._columns
        x = AlongRow(0, 1, start, end).at(share)
        return QPointF(x, self.length(HEAD) + (word + 0.5) * self._row)

    def part_rectangle(self, index: int) -> QRectF:
        return QRectF(0, self.length(HEAD) + index * self._row, self.width(), self._row)

    def clicked_on(self, index: int) -> None:
        self.choose(index)

    def pointed_at(self, index: int) -> None:
        self.setCursor(Qt.CursorShape.SplitHCursor if index >= 0 else Qt.CursorShape.ArrowCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self._dragged = self.index_at(event.position())
            self._drag(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._drag(event.position())
        else:
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged = -1
        self.hover(self.index_at(event.position()))

    def _drag(self, place: QPointF) -> None:
        start, end, _, _ = self._columns
        if self._dragged >= 0:
            share = (place.x() - start) / max(1.0, end - start)
            self.share_wanted.emit(self._dragged, min(max(share, 0.0), 1.0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps: dict[int, float] = {Qt.Key.Key_Left: -STEP, Qt.Key.Key_Right: STEP}
        if event.key() in steps and len(self._shares):
            share = float(self._shares[self._current]) + steps[event.key()]
            self.share_wanted.emit(self._current, min(max(share, 0.0), 1.0))
        else:
            super().keyPressEvent(event)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if self._words:
            self._draw_heads(painter)
        self.draw_marks(painter)
        for word in range(len(self._words)):
            if self.part_rectangle(word).intersects(event.rect()):
                self._draw_row(painter, word)
        self.draw_focus(painter)

    def _draw_heads(self, painter: Painter) -> None:
        start, _, left, right = self._columns
        ink, head = self.theme.muted_text, QRectF(0, 0, self.width(), self.length(HEAD))
        painter.write(across(head, start, left), "p, tick at c / n", ink, 11, where=TOP)
        painter.write(across(head, left, self.width()), "c / p − λ", where=TOP | MIDDLE)
        middle, foot = (left + right) / 2, head.bottom() + self._row * len(self._words)
        painter.line(QPointF(middle, head.bottom()), QPointF(middle, foot), self.theme.line, 1)

    def _draw_row(self, painter: Painter, word: int) -> None:
        theme, row, chosen = self.theme, self.part_rectangle(word), word == self._current
        start, end, left, right = self._columns
        self.write_label(painter, across(row, 0, start - self.length(8)), self._words[word], bold=chosen)
        share, middle = float(self._shares[word]), row.center().y()
        tip, best = (self.place_of(word, place).x() for place in (share, float(self._best[word])))
        bar = in_the_middle(across(row, start, end), min(self.length(BAR), row.height() - 4))
        painter.box(bar, theme.hover, radius=2)
        painter.box(across(bar, start, tip), theme.accent, radius=2)
        grip = QRectF(tip - self.length(3), bar.top() - 2, self.length(6), bar.height() + 4)
        painter.box(grip, theme.surface, theme.accent, 1.6, radius=3)
        painter.line(QPointF(best, bar.top() - 3), QPointF(best, bar.bottom() + 3), theme.text, 1.6)
        painter.write(across(row, end + self.length(8), left), percentage(share), theme.text, SIZE)
        self._draw_pull(painter, float(self._pulls[word]), middle, (left, right))
        self.write_figure(painter, across(row, right, row.right()), _pull_figure(self._pulls[word]))

    def _draw_pull(self, painter: Painter, pull: float, middle: float, columns: tuple[float, float]) -> None:
        """An arrow from the middle of its column; one that is too long for it has two heads."""
        zero, half = sum(columns) / 2, (columns[1] - columns[0]) / 2
        part = min(max(pull / self._reach, -1.0), 1.0)
        if abs(part) * half < 1:
            return
        color = self.theme.signed(pull)
        tip, side, head = zero + part * half, 1 if part > 0 else -1, self.length(4)
        painter.line(QPointF(zero, middle), QPointF(tip - side * head, middle), color, 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        for at in (tip, tip - side * 1.5 * head) if abs(pull) > self._reach else (tip,):
            back = at - side * 1.6 * head
            corners = (QPointF(at, middle), QPointF(back, middle - head), QPointF(back, middle + head))
            painter.drawPolygon(QPolygonF(corners))


def _pull_figure(pull: float) -> str:
    return "0" if abs(pull) < 0.005 else signed_figure(pull, 2 if abs(pull) < 100 else 0)
