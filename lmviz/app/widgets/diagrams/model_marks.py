"""Small marks in the picture of a whole model: the share that a word has, and whether a block is unfolded."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from lmviz.app.look.color_maps import mix
from lmviz.app.look.roles import Theme

WIDTH, HEIGHT, ROUNDING = 30, 8, 2  # of the bar of a share, in pixels at scale 1
CHEVRON = 3  # half a side


def draw_share(painter: QPainter, theme: Theme, place: QPointF, share: float, *, stands_out: bool) -> None:
    """A short bar that begins at a place, filled as far as the share goes."""
    width, height, rounding = WIDTH * theme.scale, HEIGHT * theme.scale, ROUNDING * theme.scale
    full = QRectF(place.x(), place.y() - height / 2, width, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.line)
    painter.drawRoundedRect(full, rounding, rounding)
    painter.setBrush(mix(theme.surface, theme.accent, 1.0 if stands_out else 0.5))
    filled = full.adjusted(0, 0, (share - 1) * width, 0)
    painter.drawRoundedRect(filled, rounding, rounding)


def draw_chevron(painter: QPainter, theme: Theme, place: QPointF, *, is_open: bool) -> None:
    """It points down where a block is unfolded, and to the right where it is not."""
    painter.setPen(QPen(theme.text, 1.4 * theme.scale))
    side = CHEVRON * theme.scale
    points = ((-1, -0.6), (0, 0.6), (1, -0.6)) if is_open else ((-0.6, -1), (0.6, 0), (-0.6, 1))
    first, middle, last = (place + QPointF(x * side, y * side) for x, y in points)
    painter.drawPolyline([first, middle, last])
