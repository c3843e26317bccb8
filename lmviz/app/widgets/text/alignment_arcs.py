"""Two lines of words, and bands between them whose width and shade are weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.arrows import ACROSS, along
from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.inspection.attention import strongest_edges

SIZE = 15
LINE = 28  # pixels of a line of words
NAMES = 62  # pixels for what the two lines are called
GAP, USUAL_GAP = 16, 32
SMALLEST = 0.01  # a weight that is still drawn
WIDEST = 11
BANDS = 400
FAINT = 0.22
LISTED = 5
TARGET, SOURCE = 0, 1


class AlignmentArcs(Canvas):
    """`AlignmentArcs()`: `set_alignment(target, source, weights)`, weights (target, source).

    The source stands above. Pointing at a word leaves only its bands strong; `set_current(index)` and
    `set_hovered(index)` mark a word of the target from outside, `set_chosen_source(index)` one of the source.
    It is as wide as its words need: place it in a scroll area.
    Signals: `target_hovered(int)` and `source_hovered(int)` (−1 on leaving), `target_clicked(int)`,
    `source_clicked(int)`. Left and Right move the current word of the target.
    """

    target_hovered = Signal(int)
    source_hovered = Signal(int)
    target_clicked = Signal(int)
    source_clicked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._words: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._weights = np.zeros((0, 0))
        self._hovered: tuple[int, int] | None = None  # line and place of the word under the pointer
        self._current = self._from_outside = self._chosen_source = -1
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("where each word comes from")

    def set_alignment(self, target: Sequence[str], source: Sequence[str], weights: np.ndarray) -> None:
        """Show two lines of words and the weights (target, source) between them."""
        if (len(target), len(source)) != tuple(map(len, self._words)):
            self._hovered, self._from_outside, self._chosen_source = None, -1, -1
            self._current = min(self._current, len(target) - 1)
        self._words, self._weights = (tuple(target), tuple(source)), np.asarray(weights, dtype=np.float64)
        self._renew_card()
        self._describe()
        self.updateGeometry()
        self.update()

    def set_current(self, index: int) -> None:
        """Pin a word of the target; −1 for none."""
        if index != self._current:
            self._current = index
            self._describe()
            self.update()

    def set_hovered(self, index: int) -> None:
        """Show a word of the target as hovered elsewhere, without a signal; −1 for none."""
        if index != self._from_outside:
            self._from_outside = index
            self.update()

    def set_chosen_source(self, index: int) -> None:
        """Mark a word of the source; −1 for none."""
        if index != self._chosen_source:
            self._chosen_source = index
            self.update()

    @property
    def marked(self) -> tuple[int, int] | None:
        """The line (0 the target, 1 the source) and place of the word whose bands are strong."""
        if self._hovered is not None:
            return self._hovered
        index = self._from_outside if self._from_outside >= 0 else self._current
        return (TARGET, index) if 0 <= index < len(self._words[TARGET]) else None

    def token_place(self, line: int, index: int) -> QPointF:
        """The middle of a word of the target (0) or of the source (1)."""
        return QPointF(self._centres(line)[index], self._line_area(line).center().y())

    def sizeHint(self) -> QSize:
        width = max(self._needed(line, USUAL_GAP) for line in (TARGET, SOURCE))
        return QSize(round(width), round(self.length(160)))

    def minimumSizeHint(self) -> QSize:
        width = max(self._needed(line, GAP) for line in (TARGET, SOURCE))
        return QSize(round(width), round(self.length(100)))

    def _widths(self, line: int) -> np.ndarray:
        measure = metrics(SIZE, token=True, bold=True)
        return np.array([measure.horizontalAdvance(word) for word in self._words[line]])

    def _needed(self, line: int, gap: float) -> float:
        words = self._words[line]
        return self.length(NAMES + GAP) + float(self._widths(line).sum()) + self.length(gap) * len(words)

    def _centres(self, line: int) -> np.ndarray:
        """The middle of each word of a line, (word,); words share the room as their lengths do."""
        widths, left = self._widths(line), self.length(NAMES)
        spare = self.width() - left - self.length(GAP) - widths.sum()
        gap = max(spare / max(1, len(widths)), self.length(GAP))
        return left + np.cumsum(widths + gap) - gap / 2 - widths / 2

    def _line_area(self, line: int) -> QRectF:
        height = self.length(LINE)
        top = self.length(2) if line == SOURCE else self.height() - height - self.length(2)
        return QRectF(0, top, self.width(), height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        if self._weights.size:
            centres = self._centres(TARGET), self._centres(SOURCE)
            self._draw_bands(painter, centres)
            for line in (TARGET, SOURCE):
                self._draw_words(painter, line, centres[line])
        self.draw_focus(painter)

    def _draw_bands(self, painter: QPainter, centres: tuple[np.ndarray, np.ndarray]) -> None:
        marked = self.marked
        edges = strongest_edges(self._weights, BANDS, SMALLEST).tolist()
        edges.sort(key=lambda edge: marked is not None and edge[marked[0]] == marked[1])  # the marked on top
        painter.setBrush(Qt.BrushStyle.NoBrush)
        above = self._line_area(SOURCE).bottom() + self.length(2)
        below = self._line_area(TARGET).top() - self.length(2)
        middle = (above + below) / 2
        for target, source in edges:
            weight = float(self._weights[target, source])
            is_strong = marked is None or (target, source)[marked[0]] == marked[1]
            color = QColor(self.theme.accent)
            color.setAlphaF((0.25 + 0.75 * weight) * (1.0 if is_strong else FAINT))
            pen = QPen(color, self.length(max(0.8, WIDEST * weight)))
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            start, end = float(centres[SOURCE][source]), float(centres[TARGET][target])
            path = QPainterPath(QPointF(start, above))
            path.cubicTo(start, middle, end, middle, end, below)
            painter.drawPath(path)

    def _draw_words(self, painter: QPainter, line: int, centres: np.ndarray) -> None:
        theme, area, marked = self.theme, self._line_area(line), self.marked
        color = theme.query if line == TARGET else theme.key
        painter.setFont(theme.font(12))
        painter.setPen(theme.muted_text)
        name = "target" if line == TARGET else "source"
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, f" {name}")
        linked = self._linked(line)
        for index, word in enumerate(self._words[line]):
            is_marked = marked == (line, index)
            painter.setFont(
                theme.token_font(SIZE, QFont.Weight.DemiBold if is_marked else QFont.Weight.Normal)
            )
            strength = (
                1.0 if linked is None or is_marked else 0.35 + 0.65 * min(1.0, 2 * float(linked[index]))
            )
            painter.setPen(mix(theme.surface, color, strength))
            half = self._widths(line)[index] / 2 + self.length(4)
            place = QRectF(centres[index] - half, area.top(), 2 * half, area.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, word)
            if index == (self._current if line == TARGET else self._chosen_source):
                painter.setPen(QPen(theme.accent if line == TARGET else color, self.length(1.5)))
                painter.drawRoundedRect(place.adjusted(-1, 2, 1, -2), self.length(5), self.length(5))

    def _linked(self, line: int) -> np.ndarray | None:
        """How strongly each word of a line is joined to the marked one; None where all are alike."""
        marked = self.marked
        if marked is None:
            return None
        if marked[0] == line:
            return np.zeros(len(self._words[line]))
        weights: np.ndarray = self._weights[marked[1]] if marked[0] == TARGET else self._weights[:, marked[1]]
        return weights

    def _describe(self) -> None:
        if not 0 <= self._current < len(self._words[TARGET]):
            self.setAccessibleDescription(f"{len(self._words[TARGET])} words of the target")
            return
        title, lines = self._readout((TARGET, self._current))
        self.setAccessibleDescription(f"{title} {', '.join(lines)}")

    def _readout(self, word: tuple[int, int]) -> tuple[str, list[str]]:
        line, index = word
        weights = self._weights[index] if line == TARGET else self._weights[:, index]
        others = self._words[SOURCE if line == TARGET else TARGET]
        best = [at for at in np.argsort(-weights)[:LISTED].tolist() if weights[at] > SMALLEST]
        lines = [f"{percentage(float(weights[at]))}  {others[at]}" for at in best]
        verb = "looks at" if line == TARGET else "is looked at by"
        return f"{self._words[line][index]} {verb}", lines

    def _renew_card(self) -> None:
        """What is under the pointer has changed while the pointer rested."""
        hovered = self._hovered
        HoverCard.renew(self, None if hovered is None else lambda: self._readout(hovered))

    def _word_at(self, place: QPointF) -> tuple[int, int] | None:
        for line in (TARGET, SOURCE):
            if not self._words[line] or not self._line_area(line).contains(place):
                continue
            centres = self._centres(line)
            index = int(np.argmin(np.abs(centres - place.x())))
            reach = self._widths(line)[index] / 2 + self.length(GAP / 2)
            return (line, index) if abs(centres[index] - place.x()) <= reach else None
        return None

    def _hover(self, word: tuple[int, int] | None, place: QPointF) -> None:
        before, self._hovered = self._hovered, word
        if word is None:
            HoverCard.leave(self)
        else:
            HoverCard.beside(self, place.toPoint(), *self._readout(word))
        if word == before:
            return
        self.update()
        for line, signal in ((TARGET, self.target_hovered), (SOURCE, self.source_hovered)):
            now, then = (at[1] if at is not None and at[0] == line else -1 for at in (word, before))
            if now != then:
                signal.emit(now)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._word_at(event.position()), event.position())

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None, QPointF())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        word = self._word_at(event.position())
        if word is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if word[0] == TARGET:
            self.set_current(word[1])
            self.target_clicked.emit(word[1])
        else:
            self.source_clicked.emit(word[1])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        wanted = along(ACROSS, event.key(), self._current, len(self._words[TARGET]))
        if wanted is not None:
            self.set_current(wanted)
            self.target_clicked.emit(self._current)
        else:
            super().keyPressEvent(event)
