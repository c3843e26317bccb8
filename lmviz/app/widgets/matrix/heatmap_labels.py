"""The names of a heatmap's rows and columns: their size, and how they are drawn."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont

from lmviz.app.look.roles import Theme
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter, cut
from lmviz.app.widgets.matrix.color_scale import HEIGHT as SCALE_HEIGHT
from lmviz.app.widgets.matrix.heatmap_frame import LARGEST_SQUARE, HeatmapFrame

SIZE = 11.5
ANGLE = 44
LINE = 18
APART = 13  # pixels at scale 1 from one name of a row to the next
LEAST_WORD = 11  # pixels at scale 1 across which a word can stand upright
WIDEST_ROW = 0.3, 0.5
"""The share of the width that names of rows may have: of narrow cells, and where cells stay comfortable."""
COMFORTABLE = 44  # pixels at scale 1
WIDEST_COLUMN = 110
NOTE_GAP = 14
STEP = 24  # pixels at scale 1
LEAST_ROW = 10  # pixels at scale 1 in which a word can be read
LEAST_CELLS = 10  # pixels at scale 1 of the height that rotated names leave the cells
LEVEL_GAP = 6  # pixels at scale 1 from one level name to the next


@dataclass(frozen=True)
class HeatmapLabels:
    """The names, whether those of columns stand below, and the roles of their colours.

    With `few_columns` only marked columns are named, upright, which leaves more room to the cells. Where
    names are `level`, none is rotated, and as many columns are named as have room side by side.
    `notes` stand right of the rows, one each, under `notes_head`. Where not all have room, `first_rows` and
    `first_columns` have theirs before others.
    """

    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    below: bool = False
    row_role: str = "muted_text"
    column_role: str = "muted_text"
    few_columns: bool = False
    level: bool = False
    notes: tuple[str, ...] = ()
    notes_head: str = ""
    first_rows: tuple[int, ...] = ()
    first_columns: tuple[int, ...] = ()

    def _widest_column(self, theme: Theme) -> float:
        return min(_widest(self.columns, theme), WIDEST_COLUMN * theme.scale)

    def rotated(self, cell_width: float, theme: Theme) -> bool:
        """Whether the names of columns need more room than a cell is wide."""
        keeps_level = self.few_columns or self.level
        return not keeps_level and self._widest_column(theme) + 4 > cell_width

    def in_room(self, whole: QRectF, rows: int, columns: int, square: bool, theme: Theme) -> HeatmapLabels:
        """The same; level where only so each row has room for its name, or the cells have any at all."""
        if square or not self.columns:
            return self
        rotated, level = self, replace(self, level=True)
        left, most = (
            each.space_left(whole, rows, columns, square, theme).height() for each in (rotated, level)
        )
        needed = len(self.rows) * APART * theme.scale
        if left < needed <= most or left < min(most, LEAST_CELLS * theme.scale):
            return level
        return rotated

    def least_height(self, theme: Theme) -> float:
        """What the names of columns may need of the height, however narrow the cells are. It goes by steps:
        for another name not everything is laid out anew.
        """
        step = STEP * theme.scale
        return math.ceil(self._column_height(0.0, theme) / step) * step

    def _column_height(self, cell_width: float, theme: Theme) -> float:
        if not self.columns:
            return 0
        if not self.rotated(cell_width, theme):
            return (LINE + 4) * theme.scale
        return self._widest_column(theme) * math.sin(math.radians(ANGLE)) + LINE * theme.scale

    def space_left(self, whole: QRectF, rows: int, columns: int, square: bool, theme: Theme) -> QRectF:
        """What names and the colour scale leave of a widget for the cells."""
        spare = whole.width() - whole.height() if square else 0.0  # a square cannot use more than its height
        narrow, wide = (whole.width() * share for share in WIDEST_ROW)
        comfortable = whole.width() - max(columns, 1) * COMFORTABLE * theme.scale
        most = max(narrow, min(wide, comfortable), spare)
        left = min(_widest(self.rows, theme) + 10 * theme.scale, most) if self.rows else 1
        scale = (SCALE_HEIGHT + 6) * theme.scale
        beyond = self._notes_width(theme)
        cell = (whole.width() - left - beyond) / max(columns, 1)
        if square:
            high = (whole.height() - scale - LINE * theme.scale) / max(rows, 1)
            cell = min(cell, high, LARGEST_SQUARE * theme.scale)
        beside = self._column_height(cell, theme)
        overhang = self._widest_column(theme) * 0.75 if self.columns and self.rotated(cell, theme) else 2
        if self.columns and self.few_columns:
            overhang = max(0.0, self._widest_column(theme) - cell) / 2
        elif self.columns and self.level:
            widest = self._widest_column(theme) + 2
            narrowest = (whole.width() - max(left, widest / 2) - max(beyond, widest / 2)) / max(columns, 1)
            overhang = max(2.0, (widest - narrowest) / 2)
            left = max(left, overhang)
        top = 1.0 if self.below else max(beside, 1.0)
        if self.rows:  # the name of the first row is whole, also where the row is lower
            row = (whole.height() - scale - beside) / max(rows, 1)
            top = max(top, (APART * theme.scale - row) / 2)
        return whole.adjusted(left, top, -max(overhang, beyond), -(scale + (beside if self.below else 0)))

    def _notes_width(self, theme: Theme) -> float:
        return _widest(self.notes, theme) + NOTE_GAP * theme.scale if self.notes else 0.0

    def draw_rows(self, painter: Painter, frame: HeatmapFrame, marked: Collection[int]) -> None:
        """As many names of rows as there is room for; the marked ones in any case, and bold."""
        span = 0, frame.area.left() - 8 * painter.theme.scale
        self._draw_beside(painter, frame, marked, self.rows, span)

    def draw_notes(self, painter: Painter, frame: HeatmapFrame, marked: Collection[int]) -> None:
        """The same for what stands at the other side, and its head."""
        if not self.notes:
            return
        theme = painter.theme
        right, width = frame.area.right(), self._notes_width(theme)
        self._draw_beside(painter, frame, marked, self.notes, (right, width))
        head = QRectF(right + 8 * theme.scale, frame.area.top() - (LINE + 4) * theme.scale, 0, 0)
        head.setSize(QSizeF(width - 8 * theme.scale, LINE * theme.scale))
        painter.fit(head, self.notes_head, theme.text, SIZE, bold=True, token=True, where=AT_RIGHT)

    def _draw_beside(
        self,
        painter: Painter,
        frame: HeatmapFrame,
        marked: Collection[int],
        names: Sequence[str],
        span: tuple[float, float],
    ) -> None:
        """A text for each row that has room, within the span from the left that is so wide."""
        theme = painter.theme
        every = named_rows(frame, theme)
        (left, width), high = span, LINE * theme.scale
        for kind, rows in _with_room(frame.shown_rows, len(names), every, marked, self.first_rows):
            _choose_pen(painter, self.row_role, kind)
            for row in rows:
                place = QRectF(left, frame.cell(row, 0).center().y() - high, width, 2 * high)
                painter.write(place, _cut_name(names[row], width, theme), where=AT_RIGHT)

    def draw_columns(self, painter: Painter, frame: HeatmapFrame, marked: Collection[int]) -> None:
        """The same for columns, rotated where they are longer than a cell is wide."""
        theme = painter.theme
        rotated = self.rotated(frame.cell_width, theme)
        widest = WIDEST_COLUMN * theme.scale
        named = self._named_columns(theme, frame, marked)
        for kind, columns in named[:1] if self.few_columns else named:
            _choose_pen(painter, self.column_role, kind)
            for column in columns:
                text = _cut_name(self.columns[column], widest, theme)
                cell = frame.cell(0, column)
                if self.few_columns or self.level:
                    cell = _as_wide_as(text, cell, painter)
                self._draw_column(painter, frame, cell, text, rotated)

    def rows_with_room(self, theme: Theme, frame: HeatmapFrame, marked: Collection[int]) -> list[int]:
        """The rows in which words are written: all, or where they are too low those that are named."""
        if frame.cell_height >= LEAST_ROW * theme.scale:
            return list(frame.shown_rows)
        shown, every = frame.shown_rows, named_rows(frame, theme)
        named = _with_room(shown, len(self.rows) or shown.stop, every, marked, self.first_rows)
        return [row for _, rows in named for row in rows]

    def columns_with_room(
        self, theme: Theme, frame: HeatmapFrame, marked: Collection[int]
    ) -> tuple[list[int], float]:
        """The columns in which words are written, and how wide each can be: all, or those that are named."""
        if frame.cell_width >= LEAST_WORD * theme.scale:
            return list(frame.shown_columns), frame.cell_width
        columns = [column for _, columns in self._named_columns(theme, frame, marked) for column in columns]
        return columns, self._every(theme, frame) * frame.cell_width

    def _every(self, theme: Theme, frame: HeatmapFrame) -> int:
        if self.level:
            needed = self._widest_column(theme) + LEVEL_GAP * theme.scale
        else:
            needed = 19 * theme.scale if self.rotated(frame.cell_width, theme) else 0.0
        return max(1, math.ceil(needed / frame.cell_width))

    def _named_columns(
        self, theme: Theme, frame: HeatmapFrame, marked: Collection[int]
    ) -> tuple[tuple[bool, list[int]], tuple[bool, list[int]]]:
        every, first = self._every(theme, frame), self.first_columns
        return _with_room(frame.shown_columns, len(self.columns), every, marked, first)

    def _draw_column(
        self, painter: Painter, frame: HeatmapFrame, cell: QRectF, text: str, rotated: bool
    ) -> None:
        scale = painter.theme.scale
        line = LINE * scale
        edge = frame.area.bottom() + 4 * scale if self.below else frame.area.top() - 4 * scale
        if not rotated:
            place = QRectF(cell.left(), edge if self.below else edge - line, cell.width(), line)
            painter.write(place, text, where=CENTRED)
            return
        painter.save()
        painter.translate(cell.center().x(), edge + (line / 2 if self.below else 0))
        painter.rotate(ANGLE if self.below else -ANGLE)
        painter.drawText(QPointF(0, 4 * scale if self.below else 0), text)
        painter.restore()


def _as_wide_as(text: str, cell: QRectF, painter: Painter) -> QRectF:
    """A cell made wide enough for a text, on both sides."""
    more = max(0.0, painter.fontMetrics().horizontalAdvance(text) + 2 - cell.width()) / 2
    return cell.adjusted(-more, 0, more, 0)


def _with_room(
    shown: range, count: int, every: int, marked: Collection[int], first: Sequence[int] = ()
) -> tuple[tuple[bool, list[int]], tuple[bool, list[int]]]:
    """Whose names are drawn: the marked ones (True), and others (False), none too near to another.

    Of the others those named `first` come before each `every`-th.
    """
    shown = range(shown.start, min(shown.stop, count))
    regular = range(-(-shown.start // every) * every, shown.stop, every)
    kept, others = list[int](), list[int]()
    for found, wanted in ((kept, marked), (others, first)):
        for index in wanted:
            if index in shown and all(abs(index - other) >= every for other in (*kept, *others)):
                found.append(index)
    taken = (*kept, *others)  # the regular ones are far enough from one another
    free = (index for index in regular if all(abs(index - other) >= every for other in taken))
    return (True, kept), (False, sorted([*others, *free]))


def named_rows(frame: HeatmapFrame, theme: Theme) -> int:
    """Each how many-th row has room for its name."""
    return max(1, math.ceil(APART * theme.scale / frame.cell_height))


@lru_cache(maxsize=4096)
def _cut_name(name: str, width: float, theme: Theme) -> str:
    """As much of a name as has room; kept, for a matrix is drawn anew at each move of the pointer."""
    return cut(name, width, metrics(SIZE, token=True, theme=theme))


@lru_cache(maxsize=64)
def _widest(labels: tuple[str, ...], theme: Theme) -> float:
    """The width of the longest name in type of the theme; the marked ones are bold."""
    measure = metrics(SIZE, token=True, bold=True, theme=theme)
    return max((measure.horizontalAdvance(label) for label in labels), default=0.0)


def _choose_pen(painter: Painter, role: str, marked: bool) -> None:
    theme = painter.theme
    painter.setFont(theme.token_font(SIZE, QFont.Weight.DemiBold if marked else QFont.Weight.Normal))
    painter.setPen(theme.text if marked and role == "muted_text" else getattr(theme, role))
