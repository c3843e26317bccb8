"""A quiet scroll area around a widget that knows its own size."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


def scrolling(widget: QWidget, *, sideways: bool = False) -> QScrollArea:
    """The widget in a scroll area without a frame; up and down, and `sideways` where asked for."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    never = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded if sideways else never)
    area.setWidget(widget)
    area.viewport().setAutoFillBackground(False)  # what lies behind is the card's surface
    widget.setAutoFillBackground(False)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return area
