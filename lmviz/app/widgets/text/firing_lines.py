"""Lines of text around tokens at which a feature fires, these below one another, coloured by how strongly."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter, measure_of
from lmviz.app.widgets.kit.pointing import DOWN, Pointable
from lmviz.app.widgets.kit.rows import across, in_the_middle
from lmviz.looks.firing import FiringLine

ROW, CHIP = 27.0, 20.0
SIZE, SMALL = 11.5, 11.0
INSIDE, GAP, SAID = 8.0, 3.0, 46.0
MIDDLE = 0.56
"""The share of the width that stands before the token at which the feature fires."""

FAINT = 0.04
"""A token that is on more weakly has no colour of its own."""


class FiringLines(Pointable):
    """`FiringLines()`: `set_lines(lines)` shows a line for each `FiringLine`; `part_clicked` says which."""

    spoken_as = "List"

    arrows, points_by_key = DOWN, True
    takes_clicks = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: tuple[FiringLine, ...] = ()
        self.set_readout(self._said_of)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName("places at which the feature fires")

    def set_lines(self, lines: Sequence[FiringLine]) -> None:
        """Show lines."""
        self._lines = tuple(lines)
        self.show_count(len(self._lines))

    @property
    def lines(self) -> tuple[FiringLine, ...]:
        """What is shown."""
        return self._lines

    def description(self) -> str | None:
        return "; ".join(" ".join(line.tokens) for line in self._lines[:12])

    def sizeHint(self) -> QSize:
        return self._sized(520, ROW * max(1, len(self._lines)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(240)), self.sizeHint().height())

    def index_at(self, place: QPointF) -> int:
        index = int(place.y() // self.length(ROW))
        return index if 0 <= index < len(self._lines) else -1

    def part_rectangle(self, index: int) -> QRectF | None:
        if not 0 <= index < len(self._lines):
            return None
        return QRectF(0, index * self.length(ROW), self.width(), self.length(ROW))

    def _said_of(self, index: int) -> tuple[str, Sequence[str]]:
        line = self._lines[index]
        return f"{line.tokens[line.place]}  {line.said}", line.tip

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        self.draw_marks(painter)
        for index, line in enumerate(self._lines):
            area = self.part_rectangle(index)
            if area is not None and area.intersects(QRectF(event.rect())):
                self._paint_line(painter, area, line)
        self.draw_focus(painter)

    def _paint_line(self, painter: Painter, area: QRectF, line: FiringLine) -> None:
        right = area.right() - self.length(SAID)
        measure, bold = (measure_of(self.theme, SIZE, True, is_bold) for is_bold in (False, True))
        inside, gap = self.length(INSIDE), self.length(GAP)
        widths = [
            (bold if at == line.place else measure).horizontalAdvance(token) + inside
            for at, token in enumerate(line.tokens)
        ]
        middle = area.left() + MIDDLE * (right - area.left())
        start = middle - widths[line.place] / 2
        left = start
        for at in range(line.place - 1, -1, -1):
            left -= widths[at] + gap
            if left < area.left():
                break
            self._paint_token(painter, across(area, left, left + widths[at]), line, at)
        left = start
        for at in range(line.place, len(line.tokens)):
            if left + widths[at] > right:
                break
            self._paint_token(painter, across(area, left, left + widths[at]), line, at)
            left += widths[at] + gap
        where = across(area, right, area.right())
        painter.fit(where, line.said, self.theme.muted_text, SMALL, where=AT_RIGHT)

    def _paint_token(self, painter: Painter, spot: QRectF, line: FiringLine, at: int) -> None:
        strength, is_here = float(line.strengths[at]), at == line.place
        ink = self.theme.text if is_here else self.theme.muted_text
        if strength >= FAINT:
            fill = mix(self.theme.surface, self.theme.validation, 0.15 + 0.85 * min(1.0, strength))
            painter.box(in_the_middle(spot, self.length(CHIP)), fill, radius=4)
            ink = self.theme.on(fill)
        painter.write(spot, line.tokens[at], ink, SIZE, bold=is_here, token=True, where=CENTRED)
