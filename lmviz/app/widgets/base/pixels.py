"""Draws a picture of square pixels, painted or blank."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter

from lmviz.app.look.color_maps import mix
from lmviz.app.look.theme import current_theme


def pixel_color(is_painted: bool) -> QColor:
    """The colour of a pixel, in the theme in force."""
    theme = current_theme()
    return mix(theme.surface, theme.text, 0.85) if is_painted else theme.chip


def draw_pixels(painter: QPainter, corner: QPointF, side: float, pixels: Sequence[bool]) -> None:
    """A square picture (pixel,), row by row, whose pixels have a side, from its upper left corner."""
    columns = isqrt(len(pixels))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for index, is_painted in enumerate(pixels):
        row, column = divmod(index, columns)
        place = QRectF(corner.x() + column * side, corner.y() + row * side, side - 1, side - 1)
        painter.fillRect(place, pixel_color(is_painted))
    painter.restore()
