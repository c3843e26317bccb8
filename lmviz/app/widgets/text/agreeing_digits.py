"""Numbers below each other, the digits on which two of them agree in ink and the rest faint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.kit.painter import Painter

SIZE = 12.5
ROW = 23
NAMES = 64  # pixels at scale 1 to the left of the numbers
DOTS = "…"


@dataclass(frozen=True)
class WrittenNumber:
    """A line: what the number is called, the number as text, and how many of its characters are certain."""

    name: str
    text: str
    certain: int


class AgreeingDigits(Canvas):
    """`AgreeingDigits()`: `set_numbers(lines, verdict, good)`; a line above the last two divides them."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: tuple[WrittenNumber, ...] = ()
        self._verdict = ""
        self._good = True
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("digits that agree")

    def set_numbers(self, lines: Sequence[WrittenNumber], verdict: str, good: bool) -> None:
        """Show other numbers, and in a word how well the last two agree."""
        self._lines, self._verdict, self._good = tuple(lines), verdict, good
        said = [f"{line.name} {line.text}" for line in lines]
        self.setAccessibleDescription(", ".join([*said, verdict]))
        self.updateGeometry()
        self.update()

    @property
    def verdict(self) -> str:
        """How well the last two numbers agree."""
        return self._verdict

    @property
    def lines(self) -> tuple[WrittenNumber, ...]:
        """What is shown."""
        return self._lines

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(230)), round(self.length(ROW) * (len(self._lines) + 1)))

    def minimumSizeHint(self) -> QSize:
        """Room for every digit that is certain, and for the verdict."""
        figures, words = metrics(SIZE, token=True), metrics(SIZE)
        certain = [figures.horizontalAdvance(line.text[: line.certain]) for line in self._lines]
        needed = max([words.horizontalAdvance(self._verdict), *certain])
        return QSize(round(max(self.length(150), self.length(NAMES) + needed)) + 2, self.sizeHint().height())

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme = self.theme
        height, left = self.length(ROW), self.length(NAMES)
        for index, line in enumerate(self._lines):
            row = QRectF(0, index * height, self.width(), height)
            self._draw(painter, line, row)
            if index == len(self._lines) - 2:
                painter.line(QPointF(0, row.top()), QPointF(self.width(), row.top()), QPen(theme.line, 1))
        below = QRectF(left, len(self._lines) * height, self.width() - left, height)
        painter.write(below, self._verdict, theme.value if self._good else theme.warning, SIZE)

    def _draw(self, painter: Painter, line: WrittenNumber, row: QRectF) -> None:
        theme, left, certain = self.theme, self.length(NAMES), line.text[: line.certain]
        painter.write(row, line.name, theme.muted_text, SIZE)
        painter.write(row.adjusted(left, 0, 0, 0), certain, theme.text, SIZE, token=True)
        after = left + metrics(SIZE, token=True).horizontalAdvance(certain)
        painter.write(row.adjusted(after, 0, 0, 0), self.shown(line)[len(certain) :], theme.faint_text)

    def shown(self, line: WrittenNumber) -> str:
        """As many digits of a number as fit, none of them cut; dots stand for the others where they fit."""
        certain, rest = line.text[: line.certain], line.text[line.certain :]
        measure = metrics(SIZE, token=True)
        room = self.width() - self.length(NAMES) - measure.horizontalAdvance(certain)
        shorter = (rest[:count] + DOTS for count in range(len(rest) - 1, -1, -1))
        fitting = (text for text in (rest, *shorter) if measure.horizontalAdvance(text) <= room)
        return certain + next(fitting, "")
