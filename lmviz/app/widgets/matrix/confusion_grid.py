"""What was taken for what: counts of answers, gold labels down and predicted ones across."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPaintEvent

from lmviz.app.widgets.base.canvas import metrics, once
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.kit.lines import HighAsWide
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter, cut
from lmviz.app.widgets.kit.pointing import ARROWS, CONFIRMING, Pointable, Words, step

LARGEST, SMALLEST = 46, 15  # pixels of a cell at scale 1
WIDEST_LABEL = 90
HEAD = 18
SIZE, NAME_SIZE = 12, 11
STYLES = ((12, ","), (12, ""), (11, ""), (10, ""), (9, ""), (8, ""))
"""How counts are written, from roomy to narrow: the size, and what stands between thousands."""
ANGLE = 40  # degrees by which names of columns lean that are longer than a cell is wide


class ConfusionGrid(Pointable, HighAsWide):
    """`ConfusionGrid()`: `set_counts(counts, labels)`, (right label, given label), and the labels' names.

    A cell on the diagonal is as dark as the share of its row; one beside it is a mistake, and red.
    `set_cell(right, given)` marks a cell. Signal: `cell_clicked(int, int)`, of cells that are not empty.
    The arrow keys move the mark, Enter clicks.
    """

    cell_clicked = Signal(int, int)
    takes_height = True

    def __init__(self) -> None:
        super().__init__()
        self._counts = np.zeros((0, 0), dtype=np.int64)
        self._labels: tuple[str, ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("what was taken for what")

    @property
    def counts(self) -> np.ndarray:
        """What is shown, (right label, given label)."""
        return self._counts

    def set_counts(self, counts: np.ndarray, labels: Sequence[str]) -> None:
        """Show counts; a mark that there is no cell for is taken away."""
        self._counts, self._labels = np.asarray(counts), tuple(labels)
        self.show_count(self._counts.size)

    def set_cell(self, right: int, given: int) -> None:
        """Mark a cell; (−1, −1) for none."""
        self.set_current(-1 if right < 0 else right * len(self._labels) + given)

    def cell_rectangle(self, right: int, given: int) -> QRectF:
        """Where a cell is drawn."""
        side, left, top = self._side, self._names + self.length(6), self._top
        return QRectF(left + given * side, top + right * side, side, side)

    @property
    @once
    def style_of_counts(self) -> tuple[int, str]:
        """How all counts are written: the first of STYLES in which the largest fits into its cell."""
        largest, room = int(self._counts.max(initial=0)), self._inner(0, 0).width()
        fits = (
            metrics(size, token=True).horizontalAdvance(format(largest, between)) <= room
            for size, between in STYLES
        )
        return next((style for style, fit in zip(STYLES, fits, strict=True) if fit), STYLES[-1])

    def sizeHint(self) -> QSize:
        return self._size_of(LARGEST)

    def minimumSizeHint(self) -> QSize:
        return self._size_of(SMALLEST)

    def _size_of(self, cell: float) -> QSize:
        cells = max(1, len(self._labels)) * self.length(cell)
        return QSize(round(self._names + cells + self.length(8)), round(self._top + cells))

    def heightForWidth(self, width: int) -> int:
        """As high as cells are that fit into the width: more room would stay empty."""
        room, number = width - self._names - self.length(8), max(1, len(self._labels))
        side, top = self._fitted(room / number), 2 * self.length(HEAD)
        if self._widest > side:  # so names of columns lean
            side, top = self._fitted((room - self._lean.x() / 2) / number), self._leaning_top
        return round(top + number * side)

    def index_at(self, place: QPointF) -> int:
        if not self._labels:
            return -1
        corner, side = self.cell_rectangle(0, 0).topLeft(), self._side
        right, given = int((place.y() - corner.y()) // side), int((place.x() - corner.x()) // side)
        inside = 0 <= right < len(self._labels) and 0 <= given < len(self._labels)
        return right * len(self._labels) + given if inside else -1

    def part_rectangle(self, index: int) -> QRectF:
        return self.cell_rectangle(*self._place(index))

    def clicked_on(self, index: int) -> None:
        right, given = self._place(index)
        if self._counts[right, given]:
            self.cell_clicked.emit(right, given)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in CONFIRMING and self._current >= 0:
            self.clicked_on(self._current)
        elif event.key() in ARROWS and self._labels:
            cell, size = self._place(max(0, self._current)), len(self._labels)
            self.set_cell(*step(cell, event.key(), size, size))
        else:
            super().keyPressEvent(event)

    @property
    @once
    def _names(self) -> float:
        """How wide the names of rows are."""
        return min(max(self._widest, metrics(NAME_SIZE).horizontalAdvance("gold")), self.length(WIDEST_LABEL))

    @property
    @once
    def _widest(self) -> float:
        measure = metrics(SIZE, token=True)
        return max((measure.horizontalAdvance(label) for label in self._labels), default=0.0)

    @property
    @once
    def _is_tilted(self) -> bool:
        """Whether the names of columns are longer than a cell is wide."""
        return self._widest > self._side_below(2 * self.length(HEAD), 0.0)

    @property
    def _lean(self) -> QPointF:
        """How far the longest name of a column reaches to the right and up."""
        length, angle = min(self._widest, self.length(WIDEST_LABEL)), math.radians(ANGLE)
        return QPointF(length * math.cos(angle), length * math.sin(angle))

    @property
    @once
    def _top(self) -> float:
        return self._leaning_top if self._is_tilted else 2 * self.length(HEAD)

    @property
    def _leaning_top(self) -> float:
        head = self.length(HEAD)
        return head + max(head, self._lean.y() + self.length(8))

    @property
    @once
    def _side(self) -> float:
        """The side of a cell."""
        return self._side_below(self._top, self._lean.x() / 2 if self._is_tilted else 0.0)

    def _side_below(self, top: float, beyond: float) -> float:
        """The side of a cell below names so high, of which the last reaches beyond the cells."""
        room = min(self.width() - self._names - self.length(8) - beyond, self.height() - top)
        return self._fitted(room / max(1, len(self._labels)))

    def _fitted(self, side: float) -> float:
        return float(min(max(side, self.length(SMALLEST)), self.length(LARGEST)))

    def _place(self, index: int) -> tuple[int, int]:
        return divmod(index, max(1, len(self._labels)))

    def readout(self, index: int) -> Words:
        right, given = self._place(index)
        found, all_of_row = int(self._counts[right, given]), int(self._counts[right].sum())
        name, taken = self._labels[right], self._labels[given]
        title = f"{name}, found" if right == given else f"{name}, taken for {taken}"
        return title, [f"{count(found)} of {count(all_of_row)}"]

    def description(self) -> str:
        wrong = int(self._counts.sum() - np.trace(self._counts))
        said = f"{count(wrong)} wrong of {count(int(self._counts.sum()))}"
        if self._current >= 0:
            title, lines = self.readout(self._current)
            said = f"{title}: {lines[0]}"
        return said

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        self._draw_names(painter)
        totals, style = np.maximum(1, self._counts.sum(axis=1)), self.style_of_counts
        for right in range(len(self._labels)):
            for given in range(len(self._labels)):
                self._draw_cell(painter, right, given, self._counts[right, given] / totals[right], style)
        for index, color, width in (
            (self.hovered, self.theme.strong_line, 1.2),
            (self._current, self.theme.accent, 2),
        ):
            if 0 <= index < self._counts.size:
                painter.box(self._inner(*self._place(index)), edge=color, width=width, radius=4)
        self.draw_focus(painter)

    def _inner(self, right: int, given: int) -> QRectF:
        gap = min(1.5, self._side / 12)
        return self.cell_rectangle(right, given).adjusted(gap, gap, -gap, -gap)

    def _draw_names(self, painter: Painter) -> None:
        theme, head, side = self.theme, self.length(HEAD), self._side
        left = self._names + self.length(6)
        painter.write(QRectF(left, 0, self.width() - left, head), "predicted", theme.muted_text, NAME_SIZE)
        painter.write(QRectF(0, self._top - head, self._names, head), "gold", where=AT_RIGHT)
        painter.setFont(theme.token_font(SIZE))
        painter.setPen(theme.text)
        measure = metrics(SIZE, token=True)
        for place, label in enumerate(self._labels):
            if self._is_tilted:
                painter.save()
                painter.translate(left + (place + 0.5) * side, self._top - self.length(4))
                painter.rotate(-ANGLE)
                painter.drawText(QPointF(0, 0), cut(label, self.length(WIDEST_LABEL), measure))
                painter.restore()
            else:
                across = QRectF(left + place * side, self._top - head, side, head)
                painter.write(across, cut(label, side, measure), where=CENTRED)
            row = QRectF(0, self._top + place * side, self._names, side)
            painter.write(row, cut(label, self._names, measure), where=AT_RIGHT)

    def _draw_cell(
        self, painter: Painter, right: int, given: int, share: float, style: tuple[int, str]
    ) -> None:
        theme, found, area = self.theme, int(self._counts[right, given]), self._inner(right, given)
        ink = theme.muted_text
        if right == given and found:
            color = QColor(*theme.share_map[round(255 * share)].tolist())
            ink = theme.on(color)
        elif found:
            color = QColor(theme.warning)
            color.setAlphaF(0.1 + 0.3 * share)
            ink = theme.warning
        else:
            color = theme.hover
        painter.box(area, color, radius=4)
        size, between = style
        text = format(found, between) if found else "·"
        if metrics(size, token=True).horizontalAdvance(text) <= area.width():
            painter.write(area, text, ink, size, bold=bool(found), token=True, where=CENTRED)
