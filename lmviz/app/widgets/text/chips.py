"""The layout of a token strip: chips wrapped into lines, for both writing directions."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPen, QStaticText

from lmviz.app.look.roles import Theme
from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.matrix.cells import MASKED, Cells, color_table, ink_table
from lmviz.base.plain_text import seen

SIZE = 12.5
PADDING = 7
GAP = 5
CHIP = 20
ROW = 26
ROW_WITH_TAGS = 46


@dataclass(frozen=True)
class ChipLayout:
    """The chips of one strip: their `rectangles`, the corners and texts in them, the first of each line."""

    rectangles: tuple[QRectF, ...]
    corners: tuple[QPointF, ...]
    texts: tuple[QStaticText, ...]
    lines: tuple[int, ...]
    font: QFont
    row: float
    right_to_left: bool

    @property
    def height(self) -> float:
        """The height of all lines."""
        return self.row * max(1, len(self.lines))

    def between(self, top: float, bottom: float) -> range:
        """The tokens on the lines that touch a stretch of the height."""
        first = max(0, int(top // self.row))
        last = int(bottom // self.row) + 1
        start = self.lines[first] if first < len(self.lines) else len(self.rectangles)
        stop = self.lines[last] if last < len(self.lines) else len(self.rectangles)
        return range(start, stop)

    def index_at(self, place: QPointF) -> int:
        """The token under a point, gaps belonging to the nearer chip of the line; −1 for none."""
        line = int(place.y() // self.row)
        if place.y() < 0 or line >= len(self.lines):
            return -1
        start = self.lines[line]
        stop = self.lines[line + 1] if line + 1 < len(self.lines) else len(self.rectangles)
        reach = GAP / 2
        for index in range(start, stop):
            if self.rectangles[index].adjusted(-reach, -self.row, reach, self.row).contains(place):
                return index
        return -1


@lru_cache(maxsize=2048)
def _prepared(token: str, scale: float) -> tuple[QStaticText, float, float]:
    font = current_theme().token_font(SIZE)
    token = seen(token)
    text = QStaticText(token)
    text.setTextFormat(Qt.TextFormat.PlainText)
    text.prepare(font=font)
    return text, QFontMetricsF(font).horizontalAdvance(token), text.size().height()


def _reads_right_to_left(tokens: Sequence[str]) -> bool:
    """Whether most letters that have a direction run from right to left."""
    found = [unicodedata.bidirectional(sign) for token in tokens[:200] for sign in token[:8]]
    return found.count("R") + found.count("AL") > found.count("L")


def lay_out(tokens: Sequence[str], width: float, theme: Theme, *, below: Sequence[float] = ()) -> ChipLayout:
    """Break chips into lines of at most `width`.

    What stands `below` them, so wide in pixels for each, has a chip's height of room, and widens the chip.
    """
    padding, gap, chip = (part * theme.scale for part in (PADDING, GAP, CHIP))
    row = (ROW_WITH_TAGS if below else ROW) * theme.scale
    space = row - (2 if below else 1) * chip
    under = [wide - 2 * padding for wide in below] or [0.0] * len(tokens)
    prepared = [_prepared(token, theme.scale) for token in tokens]
    mirrored = _reads_right_to_left(tokens)
    rectangles: list[QRectF] = []
    lines: list[int] = []
    left = 0.0
    for index, (_, advance, _) in enumerate(prepared):
        wide = min(max(advance, under[index], padding) + 2 * padding, width)
        if not lines or left + wide > width:
            lines.append(index)
            left = 0.0
        top = (len(lines) - 1) * row + space / 2
        rectangles.append(QRectF(width - left - wide if mirrored else left, top, wide, chip))
        left += wide + gap
    return ChipLayout(
        rectangles=tuple(rectangles),
        corners=tuple(
            QPointF(place.left() + padding, place.center().y() - height / 2)
            for place, (_, _, height) in zip(rectangles, prepared, strict=True)
        ),
        texts=tuple(text for text, _, _ in prepared),
        lines=tuple(lines),
        font=theme.token_font(SIZE),
        row=row,
        right_to_left=mirrored,
    )


def draw_unknown(painter: Painter, chip: QRectF) -> None:
    """A dotted line in the chip of a word that the vocabulary lacks."""
    theme = painter.theme
    pen = QPen(theme.warning, 1.2 * theme.scale, Qt.PenStyle.DotLine)
    painter.line(chip.bottomLeft() + QPointF(4, -2), chip.bottomRight() + QPointF(-4, -2), pen)


def shades_of(cells: Cells, theme: Theme) -> tuple[tuple[QColor, QColor], ...]:
    """The colours of chips and of the texts on them, cells (1, token); without a number, of a plain chip."""
    levels = cells.levels[0].tolist()
    colors, inks = color_table(theme, cells.scale), ink_table(theme, cells.scale)
    known = {level: (QColor.fromRgb(colors[level]), inks[level]) for level in set(levels)}
    known[MASKED] = theme.chip, theme.on(theme.chip)
    return tuple(known[level] for level in levels)
