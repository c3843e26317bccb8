"""Small multiples: many rows of a few curves over the axis of a plot above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter
from lmviz.app.widgets.kit.pointing import DOWN, Pointable, Words
from lmviz.app.widgets.kit.rows import across

LEAST, USUAL, MOST = 24, 40, 72  # the height of a row in pixels at scale 1
GAP = 8


@dataclass(frozen=True, eq=False)
class CurveRow:
    """A row: its name, its curves (step,) by the role of their colour in the theme, and what is said of it.

    `strong` is the role of the curve that what is said is about; empty where none is.
    """

    name: str
    curves: Mapping[str, np.ndarray]
    strong: str = ""
    said: str = ""


class CurveRows(Pointable):
    """`CurveRows()`: `set_rows(steps, rows, most)`, whose curves go from 0 to `most`.

    `set_span(left, right)` says where the first and the last step stand, in pixels, which are those of the
    plot above. `set_cursor(step)` draws a line across all rows, `set_band(begin, end)` shades some steps. A
    click chooses a row, and so do Up and Down.
    """

    spoken_as = "Chart"

    arrows = DOWN
    takes_clicks = marks_clicked = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[CurveRow, ...] = ()
        self._steps = np.zeros(0)
        self._most = 1.0
        self._span = (0.0, 1.0)
        self._cursor: float | None = None
        self._band: tuple[float, float] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("curves in rows")

    @property
    def rows(self) -> tuple[CurveRow, ...]:
        """What is drawn."""
        return self._rows

    @property
    def band(self) -> tuple[float, float] | None:
        """The steps that are shaded."""
        return self._band

    def set_rows(self, steps: Sequence[int], rows: Sequence[CurveRow], most: float) -> None:
        """Draw other rows."""
        self._steps, self._rows, self._most = np.asarray(steps, dtype=np.float64), tuple(rows), most
        self.show_count(len(rows))

    def set_span(self, left: float, right: float) -> None:
        """Where the first and the last step stand."""
        if (left, right) != self._span:
            self._span = left, right
            self.update()

    def set_cursor(self, step: float | None) -> None:
        """Mark a step; None for none."""
        self._cursor = step
        self.update()

    def set_band(self, band: tuple[float, float] | None) -> None:
        """Shade the steps between two; None for none."""
        self._band = band
        self.update()

    def place_of(self, step: float) -> float:
        """Where a step stands, in pixels from the left."""
        left, right = self._span
        last = float(self._steps[-1]) if len(self._steps) else 0.0
        return left + (right - left) * step / (last or 1.0)

    def part_rectangle(self, index: int) -> QRectF:
        high = min(self.height() / max(self._count, 1), self.length(MOST))
        return QRectF(0, index * high, self.width(), high)

    def description(self) -> str:
        if self._current < 0:
            return f"{self._count} rows"
        row = self._rows[self._current]
        return f"{row.name}: {row.said}" if row.said else row.name

    def readout(self, index: int) -> Words | None:
        return super().readout(index) if index < len(self._rows) else None

    def sizeHint(self) -> QSize:
        return self._sized(480, USUAL * self._count)

    def minimumSizeHint(self) -> QSize:
        return self._sized(240, LEAST * self._count)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme = self.theme
        bottom = self.part_rectangle(self._count - 1).bottom() if self._count else 0.0
        if self._band is not None:
            begin, end = map(self.place_of, self._band)
            painter.fillRect(QRectF(begin, 0, end - begin, bottom), theme.note_wash)
        for index, row in enumerate(self._rows):
            area = self.part_rectangle(index)
            if area.intersects(QRectF(event.rect())):
                self._draw_row(painter, row, area, index)
        if self._cursor is not None and self._count:
            place = self.place_of(self._cursor)
            painter.line(QPointF(place, 0), QPointF(place, bottom), theme.accent, 1.5)
        self.draw_focus(painter)

    def _draw_row(self, painter: Painter, row: CurveRow, area: QRectF, index: int) -> None:
        theme, (left, right) = self.theme, self._span
        if index in (self._current, self._hovered):
            wash = theme.accent_wash if index == self._current else theme.hover
            for side in (across(area, 0, left - 2), across(area, right + 2, area.right())):
                painter.box(side, wash, radius=4)
        foot = area.bottom() - self.length(4)
        painter.line(QPointF(left, foot), QPointF(right, foot), theme.line, 1)
        high = area.height() - self.length(8)
        places = [self.place_of(step) for step in self._steps]
        for role in sorted(row.curves, key=row.strong.__eq__):
            values = row.curves[role]
            heights = foot - high * np.clip(values / self._most, 0.0, 1.0)
            points = [QPointF(x, y) for x, y in zip(places, heights, strict=True)]
            width = 2.2 if role == row.strong else 1.1
            painter.curve(values, points.__getitem__, getattr(theme, role), width)
        name, said = (
            across(area, 0, left - self.length(GAP)),
            across(area, right + self.length(GAP), area.right()),
        )
        painter.fit(name, row.name, theme.text, 12, bold=bool(row.strong), where=AT_RIGHT)
        ink = getattr(theme, row.strong) if row.strong else theme.faint_text
        painter.fit(said, row.said, ink, 12, bold=bool(row.strong))
