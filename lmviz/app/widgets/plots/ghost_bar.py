"""A bar as it was: hatched, so that it is told from what is."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen

from lmviz.app.look.roles import Theme


def draw_ghost(painter: QPainter, theme: Theme, place: QRectF) -> None:
    """Draw a hatched bar at a place; nothing where it has no width."""
    if place.width() <= 0:
        return
    radius = 2.5 * theme.scale
    painter.setPen(QPen(theme.strong_line, theme.scale))
    painter.setBrush(theme.hover)
    painter.drawRoundedRect(place, radius, radius)
    painter.setBrush(QBrush(theme.strong_line, Qt.BrushStyle.BDiagPattern))
    painter.drawRoundedRect(place, radius, radius)
