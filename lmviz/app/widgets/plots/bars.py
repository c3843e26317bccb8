"""Labelled horizontal bars: a distribution's likeliest tokens, or any other small list of sizes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.growing_canvas import GrowingCanvas, growth_in
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import DOWN
from lmviz.app.widgets.kit.row_parts import RowParts
from lmviz.app.widgets.kit.rows import across
from lmviz.app.widgets.matrix.crossfade import Crossfade

ROW = 23
BAR = 13
LABEL_SIZE = 12
MOST_LABEL = 0.34
LEAST_BAR, LEAST_LABEL = 10, 24  # pixels at scale 1


class LabelledBars(RowParts, GrowingCanvas):
    """Rows of a label and a bar, which are drawn larger in a large window.

    Up and Down move what is hovered, until the focus leaves, and Enter clicks it. Subclasses keep the labels.
    """

    spoken_as = "Chart"

    arrows, points_by_key = DOWN, True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._labels: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def amount(self) -> int:
        """The number of bars."""
        return len(self._labels)


class BarsView(LabelledBars):
    """`BarsView()`: bars with a label on the left and the value written on the right.

    Where not all have room, the last line says how many more there are: `rows_in(size)` says how many there
    is room for in a size.

    `set_bars(labels, values, texts=None, notes=None, highlighted=(), faded=(), limit=None, crossfade=False)`
    shows them; `set_current(index)` marks one; `set_color(color)` is that of the bars, None the accent.
    """

    usual_size = (260, 300)
    sized_by_count = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = np.zeros(0)
        self._texts: tuple[str, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._highlighted: frozenset[int] = frozenset()
        self._faded: frozenset[int] = frozenset()
        self._limit: float | None = None
        self._color: QColor | None = None
        self._crossfade: Crossfade[dict[str, tuple[int, float]]] = Crossfade(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("bars")

    def set_bars(
        self,
        labels: Sequence[str],
        values: Sequence[float] | np.ndarray,
        *,
        texts: Sequence[str] | None = None,
        notes: Sequence[str] = (),
        highlighted: Collection[int] = (),
        faded: Collection[int] = (),
        limit: float | None = None,
        crossfade: bool = False,
    ) -> None:
        """Show bars; all sequences are (bar,).

        `texts` are written beside the bars (percentages when None), `notes` at the right edge (such
        as logits). `limit` is the value of a bar of full width, the largest value when None. With
        `crossfade` bars grow or shrink from what they were, and words move to their new places.
        """
        self._crossfade.end()
        if crossfade and self._labels:
            self._crossfade.begin({name: (row, self._values[row]) for row, name in enumerate(self._labels)})
        self._labels = tuple(labels)
        self._values = np.asarray(values, dtype=np.float64)
        self._texts = tuple(texts) if texts is not None else tuple(percentage(v) for v in self._values)
        self._notes = tuple(notes)
        self._highlighted, self._faded = frozenset(highlighted), frozenset(faded)
        self._limit = limit
        self.show_count(len(self._labels))

    def set_color(self, color: QColor | None) -> None:
        """Draw the bars in a colour, such as that of a model; in the accent where it is None."""
        if color != self._color:
            self._color = color
            self.update()

    def sizeHint(self) -> QSize:
        return self._sized(260, ROW * max(1, self._count))

    def minimumSizeHint(self) -> QSize:
        return self._sized(110, ROW * min(3, max(1, self._count)))

    def fitting_growth(self) -> float:
        """As far as all bars fit that fit in the usual size."""
        needed = self.usual_length(ROW * max(1, self._count))
        return min(super().fitting_growth(), growth_in(self.height() / needed))

    def rows_in(self, size: QSize) -> int:
        """How many bars there is room for in a size, drawn as large as they are there."""
        return int(size.height() / (self.usual_length(ROW) * self.growth_at(size)))

    def part_rectangle(self, index: int) -> QRectF | None:
        shown = index < self._bars_with_room
        return QRectF(0, index * self.length(ROW), self.width(), self.length(ROW)) if shown else None

    @property
    def left_out(self) -> int:
        """How many bars have no room."""
        return len(self._labels) - self._bars_with_room

    @property
    def _bars_with_room(self) -> int:
        """How many bars are drawn, whole; where there are more, the last line says so."""
        lines = max(1, int(self.height() / self.length(ROW) + 0.2))
        return len(self._labels) if lines >= len(self._labels) else max(1, lines - 1)

    def _moving(self, index: int) -> tuple[float, float]:
        """The row and the value a bar is drawn for, while it moves and grows too; a new one from below."""
        before, value = self._crossfade.before, float(self._values[index])
        if before is None:
            return index, value
        row, was = before.get(self._labels[index], (len(self._labels), 0.0))
        share = self._crossfade.share
        return row + (index - row) * share, was + (value - was) * share

    def description(self) -> str:
        shown = [f"{label} {text}" for label, text in zip(self._labels, self._texts, strict=True)]
        return shown[self._current] if self._current >= 0 else ", ".join(shown[:5])

    def _columns(self) -> tuple[float, float, float]:
        """Where labels end, where bars begin, and how wide a full bar is.

        If the width is small, bars become shorter, then labels: numbers are never cut.
        """
        widest = self.widest(self._labels, LABEL_SIZE, token=True)
        label_end = min(max(widest, self.length(40)), self.width() * MOST_LABEL) + self.length(4)
        written = self.widest(self._texts, LABEL_SIZE) + self.widest(self._notes, LABEL_SIZE)
        spare = written + self.length(24 if self._notes else 12)
        gap, least = self.length(8), self.length(LEAST_BAR)
        lack = label_end + gap + least + spare - self.width()
        label_end = max(min(label_end, self.length(LEAST_LABEL)), label_end - max(0.0, lack))
        start = label_end + gap
        return label_end, start, max(least, self.width() - start - spare)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        """Draw the rows that there is room for; none of them is cut through."""
        row = self.length(ROW)
        label_end, start, full = self._columns()
        moving = [self._moving(index) for index in range(len(self._labels))]
        largest = self._limit or max([value for _, value in moving], default=1.0) or 1e-300
        self.draw_marks(painter)
        first = max(0, int(event.rect().top() // row))
        last = min(self._bars_with_room, int(event.rect().bottom() // row) + 1)
        for index in range(first, last):
            place, value = moving[index]
            area = QRectF(0, place * row, self.width(), row)
            self._draw_bar(painter, index, area, (label_end, start, value * full / largest))
        if self.left_out:
            rest = QRectF(start, self._bars_with_room * row, self.width() - start, row)
            painter.write(rest, f"and {self.left_out} more", self.theme.faint_text, LABEL_SIZE)
        self.draw_focus(painter)

    def _draw_bar(
        self, painter: Painter, index: int, row: QRectF, places: tuple[float, float, float]
    ) -> None:
        """A row whose label ends and whose bar begins at these places, and the width of that bar."""
        (label_end, start, width), theme = places, self.theme
        self.draw_bar(painter, across(row, start, start + width), BAR, self._fill(index))
        ink = theme.faint_text if index in self._faded else theme.text
        self.write_label(painter, across(row, 0, label_end), self._labels[index], ink)
        beside = across(row, start + max(width, 1) + self.length(6), row.right())
        painter.write(beside, self._texts[index], theme.muted_text, LABEL_SIZE)
        if self._notes:
            self.write_figure(painter, row, self._notes[index])

    def _fill(self, index: int) -> QColor:
        usual = QColor(self.theme.accent if self._color is None else self._color)
        color = QColor(self.theme.validation) if index in self._highlighted else usual
        color.setAlphaF(0.25 if index in self._faded else 0.86 if color == usual else 1.0)
        return color

    def index_at(self, place: QPointF) -> int:
        index = int(place.y() // self.length(ROW))
        return index if 0 <= index < self._bars_with_room else -1
