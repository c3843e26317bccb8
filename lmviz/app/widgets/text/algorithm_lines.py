"""An algorithm in a few lines, of which one is lit while it runs; what came of each stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter, cut
from lmviz.app.widgets.kit.pointing import DOWN, Pointable

ROW, GAP = 21, 1
SIZE, FIGURE_SIZE = 12, 11.5
INDENT, PADDING = 14, 6


@dataclass(frozen=True)
class AlgorithmLine:
    """One line: its name, its pseudocode, and what came of it; `depth` counts how far it is indented.

    A line that `is_slip` is wrong on purpose, and marked so.
    """

    name: str
    code: str
    figures: str = ""
    depth: int = 0
    is_slip: bool = False


class AlgorithmLines(Pointable):
    """`AlgorithmLines()`: `set_lines(lines)`, `set_lit(index)` and `set_current(index)`.

    Of lines after the lit one, or the one that it has run `through`, the figures are not shown yet; −1 lights
    none and shows all. The current line
    is the one that was chosen, −1 for none.
    Up and Down click the line above or below, and Enter the current one.
    """

    arrows = DOWN
    least = (200, None)

    def __init__(self) -> None:
        super().__init__()
        self._lines: tuple[AlgorithmLine, ...] = ()
        self._lit = self._through = -1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("algorithm")

    @property
    def lines(self) -> tuple[AlgorithmLine, ...]:
        """What is shown."""
        return self._lines

    @property
    def lit(self) -> int:
        """The line that runs; −1 for none."""
        return self._lit

    def set_lines(self, lines: Sequence[AlgorithmLine]) -> None:
        """Show other lines."""
        if len(lines) != len(self._lines):
            self.set_hovered(-1)
        self._lines = tuple(lines)
        self.show_count(len(lines))

    def set_lit(self, index: int, through: int = -1) -> None:
        """Light a line, and show the figures up to it or to a later one."""
        if (index, max(index, through)) != (self._lit, self._through):
            self._lit, self._through = index, max(index, through)
            self._describe()
            self.update()

    def part_rectangle(self, index: int) -> QRectF:
        """Where a line is drawn."""
        top = index * self.length(ROW + GAP)
        return QRectF(0, top, self.width(), self.length(ROW))

    def sizeHint(self) -> QSize:
        code, figures = metrics(SIZE, token=True), metrics(FIGURE_SIZE, bold=True)
        widths = [
            self.length(INDENT * line.depth + 2 * PADDING)
            + code.horizontalAdvance(line.code)
            + figures.horizontalAdvance(f"   {line.figures}")
            for line in self._lines
        ]
        high = round(self.length(ROW + GAP) * len(self._lines))
        return QSize(round(max(widths, default=self.length(240))), high)

    def _is_known(self, index: int) -> bool:
        return self._lit < 0 or index <= self._through

    def description(self) -> str:
        said = [
            f"{line.code}: {line.figures}" if line.figures and self._is_known(index) else line.code
            for index, line in enumerate(self._lines)
        ]
        return "; ".join(said)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        for index, line in enumerate(self._lines):
            if self.part_rectangle(index).intersects(event.rect()):
                self._draw(painter, index, line)
        self.draw_focus(painter)

    def _draw(self, painter: Painter, index: int, line: AlgorithmLine) -> None:
        theme, place, is_lit = self.theme, self.part_rectangle(index), index == self._lit
        wash = theme.accent_wash if is_lit else theme.hover if index == self.hovered else None
        edge = theme.accent if index == self._current else None
        painter.box(place.adjusted(0.75, 0.75, -0.75, -0.75), wash, edge, 1.5, radius=5)
        inner = place.adjusted(self.length(PADDING), 0, -self.length(PADDING), 0)
        figures = line.figures if self._is_known(index) else ""
        ink = theme.warning if line.is_slip else theme.accent if is_lit else theme.muted_text
        painter.write(inner, figures, ink, FIGURE_SIZE, bold=is_lit, where=AT_RIGHT)
        taken = metrics(FIGURE_SIZE, bold=True).horizontalAdvance(f"   {figures}") if figures else 0.0
        code = inner.adjusted(self.length(INDENT) * line.depth, 0, -taken, 0)
        shown = cut(line.code, code.width(), metrics(SIZE, token=True, bold=is_lit))
        ink = theme.text if self._is_known(index) else theme.faint_text
        ink = theme.warning if line.is_slip else ink
        painter.write(code, shown, ink, SIZE, bold=is_lit, token=True)
