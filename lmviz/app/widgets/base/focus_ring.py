"""A ring around the control with the keyboard focus.

It is drawn only when the focus was moved by a key, not by the mouse.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPen

from lmviz.app.look.theme import current_theme

KEYS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
RADIUS = 5


def reached_by_key(event: QFocusEvent) -> bool:
    """Whether it was a key that brought the focus."""
    return event.reason() in KEYS


def draw_ring(painter: QPainter, area: QRectF) -> None:
    """The ring within an area."""
    theme = current_theme()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.accent, 1))
    radius = RADIUS * theme.scale
    painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
