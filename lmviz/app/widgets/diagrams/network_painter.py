"""Paints the boxes of a small network: words, numbered cells, and gradients beneath."""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPen

from lmviz.app.look.roles import Theme
from lmviz.app.widgets.diagrams.editable_numbers import LEGIBLE
from lmviz.app.widgets.diagrams.network_areas import equations_area, outlined
from lmviz.app.widgets.diagrams.network_boxes import (
    BEFORE_GRADIENT,
    BETWEEN_WORDS,
    CELL_SIZE,
    LABEL_SIZE,
    MARK_SIZE,
    NAME_SIZE,
    WORD_SIZE,
    Box,
    Boxes,
)
from lmviz.app.widgets.diagrams.network_equations import equation
from lmviz.app.widgets.diagrams.network_lines import Line
from lmviz.app.widgets.diagrams.network_values import DrawnValue, ValueCell
from lmviz.app.widgets.kit.painter import CENTRED, Painter, cut
from lmviz.app.widgets.text import typesetting

RADIUS = 6
NAME_ON_SCREEN, NAME_SHARE = 9.5, 0.6  # pixels of a name where cells are colours, and of its box at most


class NetworkPainter:
    """Draws with a painter that counts in pixels at scale 1; type is set at the theme's scale.

    `is_needed` says of an area whether any of it has to be painted; what lies elsewhere is left as it is.
    `zoom` is the size on the screen of what has size 1. Where figures would be too small to be read, boxes
    show names alone, as large as they have room, and cells are colours.
    """

    def __init__(
        self,
        painter: Painter,
        theme: Theme,
        limit: float,
        is_needed: Callable[[QRectF], bool],
        zoom: float,
    ) -> None:
        self._painter, self._theme, self._limit, self._is_needed = painter, theme, limit, is_needed
        self._zoom = zoom
        self._has_figures = zoom >= LEGIBLE

    def draw(
        self,
        drawn: Boxes,
        *,
        lit: str = "",
        following: str = "",
        pinned: ValueCell | None = None,
        operands: Set[ValueCell] = frozenset(),
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
            line.draw_back(self._painter, theme.key, wide + 0.5)

    def _draw_label(self, value: DrawnValue, area: QRectF) -> None:
        """The name of something given before its arrow, and its number where it has only one."""
        painter = self._painter
        font = _font(self._theme, LABEL_SIZE, "token")
        number = "" if value.shape else f" {value.figure((), False)}"
        shown = cut(f"{value.label}{number}", area.width() - 2, QFontMetricsF(font))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.chip)
        painter.drawRoundedRect(area, 3, 3)
        painter.setFont(font)
        painter.write(area, shown, self._theme.text, where=CENTRED)

    def _draw_box(self, box: Box, *, is_lit: bool, is_next: bool) -> None:
        """A frame around a module; given numbers have none."""
        painter, theme = self._painter, self._theme
        if not box.value.word:
            return
        pen = QPen(theme.accent if is_lit or is_next else theme.strong_line, 1.8 if is_lit else 1)
        if is_next and not is_lit:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(theme.accent_wash if is_lit else theme.surface)
        painter.drawRoundedRect(box.frame, RADIUS, RADIUS)

    def _draw_words(self, box: Box) -> None:
        """The module's word, the value's name, and the mark of its gradient."""
        painter, theme = self._painter, self._theme
        words, value = box.words, box.value
        if box.has_words_above and value.word:
            self._draw_line_of_words(box)
            return
        middle = Qt.AlignmentFlag.AlignVCenter
        lower = QRectF(words)
        painter.setPen(theme.text)
        if value.word:
            upper = QRectF(words.left(), words.top(), words.width() + 4, words.height() / 2)
            painter.setFont(_font(theme, WORD_SIZE, "bold"))
            painter.drawText(upper, middle, value.word)
            lower = QRectF(words.left(), words.center().y(), words.width(), words.height() / 2)
        painter.setFont(_font(theme, NAME_SIZE, "italic"))
        painter.drawText(lower, middle, value.label)
        if value.gradient is None:
            return
        painter.setFont(_font(theme, MARK_SIZE))
        painter.setPen(theme.key)
        first, second = box.blocks
        if second.x() == first.x():
            if value.word:
                painter.drawText(lower, middle | Qt.AlignmentFlag.AlignRight, "g")
        else:
            above = QRectF(second.x(), second.y() - 17, 60, 16)
            painter.write(above, value.gradient_label)

    def _draw_line_of_words(self, box: Box) -> None:
        """The same above the cells, with the mark beside those of the gradient."""
        painter, theme, value = self._painter, self._theme, box.value
        middle, font = Qt.AlignmentFlag.AlignVCenter, _font(theme, WORD_SIZE, "bold")
        painter.setFont(font)
        painter.write(box.words, value.word, theme.text, where=middle)
        taken = QFontMetricsF(font).horizontalAdvance(value.word) + BETWEEN_WORDS
        painter.setFont(_font(theme, NAME_SIZE, "italic"))
        painter.drawText(box.words.adjusted(taken, 0, BETWEEN_WORDS, 0), middle, value.label)
        if value.gradient is not None:
            painter.setFont(_font(theme, MARK_SIZE))
            mark = QRectF(box.words.left(), box.blocks[1].y(), BEFORE_GRADIENT, box.cell.height())
            painter.write(mark, "g", theme.key, where=middle)

    def _draw_name(self, box: Box) -> None:
        """What the value is called, or what its module does, over its upper cells and beyond their height."""
        painter, value = self._painter, box.value
        size = min(NAME_ON_SCREEN * self._theme.scale / self._zoom, box.frame.height() * NAME_SHARE)
        font = _font(self._theme, size, "bold")
        room = QRectF(box.frame.left() + 2, box.frame.top(), box.frame.width() - 4, size * 1.2)
        words = cut(value.label or value.word, room.width(), QFontMetricsF(font))
        painter.setFont(font)
        painter.setPen(self._theme.text)
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, words)

    def _draw_cells(self, box: Box, pinned: ValueCell | None, operands: Set[ValueCell]) -> None:
        """All cells of a value and of its gradient; with dashes where it is not known yet."""
        self._painter.setFont(_font(self._theme, CELL_SIZE, "token"))
        for is_gradient in (False, True):
            for index in box.value.indices:
                place = box.cell_rectangle(index, is_gradient)
                if not self._is_needed(outlined(place)):
                    continue
                self._draw_cell(box, index, is_gradient, place)
                cell = ValueCell(box.value.name, index, is_gradient)
                if cell == pinned or cell in operands:
                    self._painter.setBrush(Qt.BrushStyle.NoBrush)
                    self._painter.setPen(QPen(self._theme.accent, 2 if cell == pinned else 1.4))
                    self._painter.drawRoundedRect(place, 3, 3)

    def _draw_cell(self, box: Box, index: tuple[int, ...], is_gradient: bool, place: QRectF) -> None:
        painter, theme, value = self._painter, self._theme, box.value
        array = value.array(is_gradient)
        if array is None:
            pen = QPen(theme.line, 1)
            pen.setStyle(Qt.PenStyle.DashLine)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
            return
        color = gradient_color(theme, float(array[index]), self._limit) if is_gradient else theme.chip
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(place, 3, 3)
        if not is_gradient and value.held is not None and value.held[index]:
            painter.setBrush(theme.key)  # set by hand
            painter.drawRoundedRect(QRectF(place.left(), place.top(), 3, place.height()), 1.5, 1.5)
        if box.is_readable and self._has_figures:
            painter.setPen(theme.on(color) if is_gradient else theme.text)
            room, measure = place.adjusted(2, 0, -2, 0), QFontMetricsF(painter.font())
            figure = value.figure_in(index, is_gradient, box.digits, room.width(), measure)
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, figure)

    def _draw_equations(self, drawn: Boxes) -> None:
        """What each module hands back, to the right of its row."""
        if not drawn.equations or not typesetting.ready():
            return
        for box in drawn.boxes.values():
            area = equations_area(drawn, box)
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


@lru_cache(maxsize=32)
def _font(theme: Theme, size: float, kind: str = "") -> QFont:
    """A font of the theme at scale 1, for the painter scales: plain, "bold", "italic" or "token"."""
    weight = QFont.Weight.DemiBold if kind == "bold" else QFont.Weight.Normal
    found = QFont(theme.token_font(size) if kind == "token" else theme.font(size, weight))
    found.setPixelSize(max(6, round(size)))
    found.setItalic(kind == "italic")
    return found


def _faded(color: QColor, theme: Theme) -> QColor:
    found = QColor(color)
    found.setAlphaF(0.75 if theme.name == "light" else 0.85)
    return found
