"""Paints the boxes of a small network: words, numbered cells, and gradients beneath.

Painters count in pixels at scale 1: the pictures scale them.
"""

from __future__ import annotations

from collections.abc import Callable, Set

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPen

from lmviz.app.look.roles import Theme
from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.diagrams.editable_numbers import LEGIBLE
from lmviz.app.widgets.diagrams.network_boxes import (
    BEFORE_GRADIENT,
    BETWEEN_WORDS,
    CELL_SIZE,
    MARK_SIZE,
    NAME_SIZE,
    WORD_SIZE,
    Box,
    Boxes,
    label_size,
    outlined,
)
from lmviz.app.widgets.diagrams.network_equations import equation
from lmviz.app.widgets.diagrams.network_lines import Line
from lmviz.app.widgets.diagrams.network_values import DrawnValue, ValueCell
from lmviz.app.widgets.kit.painter import AT_RIGHT, CENTRED, Painter, cut
from lmviz.app.widgets.text import typesetting

RADIUS = 6
NAME_ON_SCREEN, NAME_SHARE = 9.5, 0.6  # pixels of a name where cells are colours, and of its box at most


class NetworkPainter:
    """`NetworkPainter(painter, limit, is_needed, zoom)`: `draw(boxes, lit, following, pinned, operands)`.

    `is_needed` says of an area whether any of it has to be painted; what lies elsewhere is left as it is.
    `zoom` is the size on the screen of what has size 1. Where figures would be too small to be read, boxes
    show names alone, as large as they have room, and cells are colours.
    """

    def __init__(
        self, painter: Painter, limit: float, is_needed: Callable[[QRectF], bool], zoom: float
    ) -> None:
        self._painter, self._theme, self._limit, self._is_needed = painter, painter.theme, limit, is_needed
        self._zoom, self._has_figures = zoom, zoom >= LEGIBLE
        self._measure = metrics(CELL_SIZE, token=True, theme=painter.theme)

    def draw(
        self, drawn: Boxes, lit: str, following: str, pinned: ValueCell | None, operands: Set[ValueCell]
    ) -> None:
        """Everything that is needed; `following` is the module that is pushed or popped next."""
        self._draw_lines(drawn, lit)
        for name, box in drawn.boxes.items():
            if self._is_needed(outlined(box.frame)):
                self._draw_box(box, is_lit=name == lit, is_next=name == following)
                self._draw_cells(box, pinned, operands)
                if self._has_figures:
                    self._draw_words(box)
                else:
                    self._draw_name(box)
        self._draw_equations(drawn)

    def _draw_lines(self, drawn: Boxes, lit: str) -> None:
        """The arrows into each module, and those back where it has been popped."""
        for use, line in drawn.lines.items():
            if self._is_needed(line.area):
                source, target = drawn.source(use), drawn.boxes[use[0]].value
                self._draw_line(line, target, is_lit=lit in (source.name, target.name))
                if self._has_figures and not line.label.isEmpty():
                    self._draw_label(source, line.label)

    def _draw_line(self, line: Line, target: DrawnValue, *, is_lit: bool) -> None:
        theme, wide = self._theme, 1.6 if is_lit else 1.1
        color = _faded(theme.query if target.values is not None else theme.strong_line, theme)
        line.draw(self._painter, color, wide)
        if target.popped:
            line.draw(self._painter, theme.key, wide + 0.5, back=True)

    def _draw_label(self, value: DrawnValue, area: QRectF) -> None:
        """The name of something given before its arrow, and its number where it has only one."""
        number = "" if value.shape else f" {value.figure((), False)}"
        size = label_size(value)
        measure = metrics(size, token=True, theme=self._theme)
        shown = cut(f"{value.label}{number}", area.width() - 2, measure)
        self._painter.box(area, self._theme.chip, radius=3)
        self._painter.write(area, shown, self._theme.text, size, token=True, where=CENTRED)

    def _draw_box(self, box: Box, *, is_lit: bool, is_next: bool) -> None:
        """A frame around a module; given numbers have none."""
        theme = self._theme
        if not box.value.word:
            return
        pen = QPen(theme.accent if is_lit or is_next else theme.strong_line, 1.8 if is_lit else 1)
        if is_next and not is_lit:
            pen.setStyle(Qt.PenStyle.DashLine)
        self._painter.box(box.frame, theme.accent_wash if is_lit else theme.surface, pen, radius=RADIUS)

    def _draw_words(self, box: Box) -> None:
        """The module's word, the value's name, and the mark of its gradient."""
        painter, theme = self._painter, self._theme
        words, value = box.words, box.value
        if box.has_words_above and value.word:
            self._draw_line_of_words(box)
            return
        lower = QRectF(words)
        if value.word:
            upper = QRectF(words.left(), words.top(), words.width() + 4, words.height() / 2)
            painter.write(upper, value.word, theme.text, WORD_SIZE, bold=True)
            lower.setTop(words.center().y())
        write_name(painter, lower, value.label, NAME_SIZE)
        if value.gradient is None:
            return
        first, second = box.blocks
        if second.x() != first.x():
            above = QRectF(second.x(), second.y() - 17, 60, 16)
            painter.write(above, value.gradient_label, theme.key, MARK_SIZE)
        elif value.word:
            painter.write(lower, "g", theme.key, MARK_SIZE, where=AT_RIGHT)

    def _draw_line_of_words(self, box: Box) -> None:
        """The same above the cells, with the mark beside those of the gradient."""
        painter, theme, value = self._painter, self._theme, box.value
        painter.write(box.words, value.word, theme.text, WORD_SIZE, bold=True)
        taken = metrics(WORD_SIZE, bold=True, theme=theme).horizontalAdvance(value.word) + BETWEEN_WORDS
        write_name(painter, box.words.adjusted(taken, 0, BETWEEN_WORDS, 0), value.label, NAME_SIZE)
        if value.gradient is not None:
            mark = QRectF(box.words.left(), box.blocks[1].y(), BEFORE_GRADIENT, box.cell.height())
            painter.write(mark, "g", theme.key, MARK_SIZE)

    def _draw_name(self, box: Box) -> None:
        """What the value is called, or what its module does, over its upper cells and beyond their height."""
        value, theme = box.value, self._theme
        size = min(NAME_ON_SCREEN * current_theme().scale / self._zoom, box.frame.height() * NAME_SHARE)
        room = QRectF(box.frame.left() + 2, box.frame.top(), box.frame.width() - 4, size * 1.2)
        words = cut(value.label or value.word, room.width(), metrics(size, bold=True, theme=theme))
        self._painter.write(room, words, theme.text, size, bold=True, where=CENTRED)

    def _draw_cells(self, box: Box, pinned: ValueCell | None, operands: Set[ValueCell]) -> None:
        """All cells of a value and of its gradient; with dashes where it is not known yet."""
        self._painter.setFont(self._theme.token_font(CELL_SIZE))
        for is_gradient in (False, True):
            for index in box.value.indices:
                place = box.cell_rectangle(index, is_gradient)
                if not self._is_needed(outlined(place)):
                    continue
                cell, figure = ValueCell(box.value.name, index, is_gradient), ""
                if box.is_readable and self._has_figures:
                    room = place.width() - 4
                    figure = box.value.figure_in(index, is_gradient, box.digits, room, self._measure)
                draw_cell(self._painter, place, box.value, cell, figure, self._limit)
                if cell == pinned or cell in operands:
                    width = 2 if cell == pinned else 1.4
                    self._painter.box(place, edge=self._theme.accent, width=width, radius=3)

    def _draw_equations(self, drawn: Boxes) -> None:
        """What each module hands back, to the right of its row."""
        if not drawn.equations or not typesetting.ready():
            return
        for box in drawn.boxes.values():
            area = drawn.equations_area(box)
            if area.isEmpty() or not self._is_needed(area):
                continue
            color, top = self._theme.text if box.value.popped else self._theme.faint_text, area.top()
            for line in box.value.equations:
                if (found := equation(line, color.name())) is not None:
                    self._painter.drawPicture(QPointF(area.left(), top), found.picture)
                    top += found.size.height()


def gradient_color(theme: Theme, value: float, limit: float) -> QColor:
    """The colour of a gradient's cell, strongest at the limit; that of a warning where it is no number."""
    if not np.isfinite(value):
        return theme.warning
    share = min(1.0, max(-1.0, value / limit))
    red, green, blue, _ = theme.signed_map[round(127.5 + 127.5 * share)]
    return QColor(int(red), int(green), int(blue))


def draw_cell(
    painter: Painter, place: QRectF, value: DrawnValue, cell: ValueCell, figure: str, limit: float
) -> None:
    """A cell with its figure in the font in force, marked where it was set by hand; a gradient in its colour.

    It has dashes as long as its number is not known.
    """
    theme, array = painter.theme, value.array(cell.is_gradient)
    if array is None:
        dashed = QPen(theme.line, 1, Qt.PenStyle.DashLine)
        painter.box(place.adjusted(0.5, 0.5, -0.5, -0.5), edge=dashed, radius=3)
        return
    color = gradient_color(theme, float(array[cell.place]), limit) if cell.is_gradient else theme.chip
    painter.box(place, color, radius=3)
    if value.is_held(cell):
        painter.box(QRectF(place.left(), place.top(), 3, place.height()), theme.key, radius=1.5)
    painter.write(place, figure, theme.on(color) if cell.is_gradient else theme.text, where=CENTRED)


def write_name(painter: Painter, area: QRectF, name: str, size: float) -> None:
    """The name of a value, in italics."""
    font = QFont(painter.theme.font(size))
    font.setItalic(True)
    painter.setFont(font)
    painter.write(area, name, painter.theme.text)


def _faded(color: QColor, theme: Theme) -> QColor:
    found = QColor(color)
    found.setAlphaF(0.75 if theme.name == "light" else 0.85)
    return found
