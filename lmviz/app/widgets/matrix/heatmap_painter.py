"""Draws a heatmap, one method for each layer of the picture, from the cells up to the outlines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainterPath, QPen

from lmviz.app.look.roles import Theme
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.figures import cell_figure
from lmviz.app.widgets.kit.painter import CENTRED, DASHES, Painter, cut
from lmviz.app.widgets.kit.rows import no_smaller
from lmviz.app.widgets.matrix.cells import Cells, CrossVeil, cell_image, color_table, ink_table, veil
from lmviz.app.widgets.matrix.heatmap_frame import HeatmapFrame

VALUE_SIZE = 11
WORD_SIZES = (11, 10, 9)
GAP_FROM = 8
SMALLEST_MARK = 7  # pixels at scale 1
MOST_KEPT = 2**22
"""Of more cells in sight what fades them is not kept, at four bytes each."""


class CellPicture:
    """The picture of the cells in sight, kept as long as neither they nor the theme change."""

    def __init__(self, cells: Cells, theme: Theme) -> None:
        self.cells = cells
        self.table = color_table(theme, cells.scale)
        self.inks = ink_table(theme, cells.scale)
        self._theme = theme
        self._cross: CrossVeil | None = None  # that of the last cell that was pointed at
        self._image: QImage | None = None
        self._image_of: tuple[object, ...] = ()

    def shown(self, frame: HeatmapFrame, ratio: float) -> tuple[QImage, QRectF]:
        """The picture and its place, on a screen of `ratio` device pixels to a logical one.

        Cells smaller than a pixel are pooled, so that the strongest of them is seen.
        """
        down = max(1, int(1 / (frame.cell_height * ratio)))
        across = max(1, int(1 / (frame.cell_width * ratio)))
        rows = range(frame.shown_rows.start // down, -(-frame.shown_rows.stop // down))
        columns = range(frame.shown_columns.start // across, -(-frame.shown_columns.stop // across))
        key = (down, across, rows, columns)
        if self._image is None or key != self._image_of:
            levels = self.cells.pooled(down, across)[rows.start : rows.stop, columns.start : columns.stop]
            self._image, self._image_of = cell_image(levels, self.table), key
        ends = min(rows.stop * down, frame.rows), min(columns.stop * across, frame.columns)
        place = frame.cells(range(rows.start * down, ends[0]), range(columns.start * across, ends[1]))
        return self._image, place

    def cross(self, cell: tuple[int, int], rows: range, columns: range) -> QImage:
        """What fades those of the cells in sight that stand in another row and another column than one."""
        cross = self._cross
        if cross is None or (cross.rows, cross.columns) != (rows, columns):
            cross = CrossVeil(rows, columns, self._theme)
        if len(rows) * len(columns) > MOST_KEPT:
            return cross.over(cell).copy()
        self._cross = cross
        return cross.over(cell)


class HeatmapStrokes:
    """Draws one heatmap in one paint event."""

    def __init__(self, painter: Painter, frame: HeatmapFrame, picture: CellPicture) -> None:
        self._painter, self._theme, self._frame, self._picture = painter, painter.theme, frame, picture
        self._cells = picture.cells

    def _length(self, pixels: float) -> float:
        return pixels * self._theme.scale

    def draw_cells(self, ratio: float) -> None:
        """The colours, with thin gaps between cells that are large enough."""
        painter = self._painter
        with painter.clipped(self._frame.area):
            painter.setRenderHint(Painter.RenderHint.SmoothPixmapTransform, False)
            image, place = self._picture.shown(self._frame, ratio)
            painter.drawImage(place, image)
            self._draw_hatches()
            self._draw_gaps()

    def _draw_hatches(self) -> None:
        """Cells that are not a number are hatched where that can be seen."""
        frame, rows, columns = self._frame, self._frame.shown_rows, self._frame.shown_columns
        if min(frame.cell_width, frame.cell_height) < GAP_FROM or not self._cells.masked.any():
            return
        shown = self._cells.values[rows.start : rows.stop, columns.start : columns.stop]
        brush = QBrush(self._theme.strong_line, Qt.BrushStyle.BDiagPattern)
        for row, column in np.argwhere(np.isnan(shown)).tolist():
            self._painter.fillRect(frame.cell(rows.start + row, columns.start + column), brush)

    def _draw_gaps(self) -> None:
        frame, area = self._frame, self._frame.area
        lines = []
        if frame.cell_width >= GAP_FROM:
            places = (frame.cell(0, column).left() for column in frame.shown_columns)
            lines += [QLineF(round(place), area.top(), round(place), area.bottom()) for place in places]
        if frame.cell_height >= GAP_FROM:
            places = (frame.cell(row, 0).top() for row in frame.shown_rows)
            lines += [QLineF(area.left(), round(place), area.right(), round(place)) for place in places]
        large = min(frame.cell_width, frame.cell_height) >= 2 * GAP_FROM
        self._painter.setRenderHint(Painter.RenderHint.Antialiasing, False)
        self._painter.setPen(QPen(self._theme.surface, 2 if large else 1))
        self._painter.drawLines(lines)

    def draw_fade(self, strengths: np.ndarray | None, cell: tuple[int, int] | None) -> None:
        """Dim all cells but the highlighted ones, or but one cell with its row and its column."""
        frame = self._frame
        rows, columns = frame.shown_rows, frame.shown_columns
        if strengths is not None:
            image = veil(strengths[rows.start : rows.stop, columns.start : columns.stop], self._theme)
        elif cell is not None:
            image = self._picture.cross(cell, rows, columns)
        else:
            return
        with self._painter.clipped(frame.area):
            self._painter.drawImage(frame.cells(rows, columns), image)

    def draw_values(self, rows: Sequence[int]) -> None:
        """The numbers themselves, in cells with room for them."""
        frame, painter = self._frame, self._painter
        if frame.cell_width < self._length(32) or frame.cell_height < self._length(15):
            return
        painter.setFont(self._theme.font(VALUE_SIZE))
        for row in rows:
            for column in frame.shown_columns:
                if not self._cells.masked[row, column]:
                    ink = self._picture.inks[self._cells.levels[row, column]]
                    text = cell_figure(float(self._cells.values[row, column]))
                    painter.write(frame.cell(row, column), text, ink, where=CENTRED)

    def draw_words(
        self, words: Sequence[Sequence[str]], rows: Sequence[int], columns: Sequence[int], across: float
    ) -> None:
        """A word in each cell of some rows and columns, which has a width of `across` pixels: smaller, or
        upright in a cell that is higher than wide, before any is cut.
        """
        frame, painter, margin = self._frame, self._painter, self._length(4)
        cells = [(row, column) for row in rows for column in columns]
        widest = max((words[row][column] for row, column in cells), key=len, default="")
        high, wide = frame.cell_height - margin, across - margin
        is_upright = high > wide and self._word_size(widest, wide)[1] > wide
        room = high if is_upright else wide
        size = self._word_size(widest, room)[0]
        measure = metrics(size, token=True, theme=self._theme)
        painter.setFont(self._theme.token_font(size))
        for row, column in cells:
            place = frame.cell(row, column)
            ink = self._picture.inks[self._cells.levels[row, column]]
            shown = cut(words[row][column], room, measure)
            painter.save()
            painter.translate(place.center())
            if is_upright:
                painter.rotate(-90)
            around = QRectF(-room / 2, -self._length(10), room, self._length(20))
            painter.write(around, shown, ink, where=CENTRED | Qt.TextFlag.TextDontClip)
            painter.restore()

    def _word_size(self, word: str, room: float) -> tuple[float, float]:
        """The largest size in which a word fits into a room, or else the smallest; how wide it is then."""
        size, width = WORD_SIZES[-1], 0.0
        for size in WORD_SIZES:  # one after the other: Qt takes a while over the first word in a new size
            if size == WORD_SIZES[-1] or self._frame.cell_height >= self._length(size + 4):
                width = metrics(size, token=True, theme=self._theme).horizontalAdvance(word)
                if width <= room:
                    break
        return size, width

    def draw_stairs(self, rows: Sequence[int]) -> None:
        """A line over the cells of each column from a row on, down and up between one column and the next."""
        frame, path = self._frame, QPainterPath()
        for column, row in enumerate(rows):
            place = frame.cell(row, column)
            draw = path.lineTo if column else path.moveTo
            draw(place.topLeft())
            path.lineTo(place.topRight())
        painter, width = self._painter, self._length(2)
        with painter.clipped(frame.area.adjusted(-width, -width, width, width)):
            painter.setRenderHint(Painter.RenderHint.Antialiasing, False)
            pen = QPen(self._theme.key, width)
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.stroke(path, pen)

    def draw_outlines(
        self,
        selection: tuple[int, int],
        pinned: tuple[int, int] | None,
        hovered: tuple[int, int] | None,
    ) -> None:
        """The chosen row and column, the pinned cell, and the one under the pointer."""
        frame = self._frame
        row, column = selection
        if row >= 0:
            self._outline(frame.cells(range(row, row + 1), range(frame.columns)), self._theme.accent, 2)
        if column >= 0:
            self._outline(frame.cells(range(frame.rows), range(column, column + 1)), self._theme.accent, 2)
        if pinned is not None:
            self._outline(frame.cell(*pinned), self._theme.accent, 2)
        if hovered is not None:
            self._outline(frame.cell(*hovered), self._theme.text, 1.5)

    def draw_suggested(self, cell: tuple[int, int] | None) -> None:
        """The cell that stands in for a pinned one: dashed, and never too small to be seen."""
        if cell is not None:
            least = self._length(SMALLEST_MARK)
            place = no_smaller(self._frame.cell(*cell), least, least)
            self._outline(place, self._theme.text, 1.5, is_dashed=True)

    def _outline(self, place: QRectF, color: QColor, width: float, *, is_dashed: bool = False) -> None:
        self._painter.setRenderHint(Painter.RenderHint.Antialiasing)
        pen = QPen(color, self._length(width))
        if is_dashed:
            pen.setDashPattern(DASHES)
        seen = place.intersected(self._frame.area.adjusted(-1, -1, 1, 1))
        if not seen.isEmpty():
            self._painter.box(seen, edge=pen, radius=2)
