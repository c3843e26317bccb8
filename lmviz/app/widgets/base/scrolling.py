"""A scroll area without a frame, around a widget that knows its own size."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from lmviz.app.look.theme import current_theme

LINE = 24  # pixels at scale 1


class QuietScrollArea(QScrollArea):
    """Has no frame and takes no focus; keys that its widget does not use go to the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setViewport(QWidget())  # Qt's own would have PySide6 describe every kind of widget first
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    @property
    def is_upright(self) -> bool:
        """Whether it scrolls up and down only."""
        return self.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff

    def minimumSizeHint(self) -> QSize:
        """As wide as its widget has to be, where it cannot be scrolled sideways, and as high as a line.

        What stands beside it, such as a sentence of several lines, cannot scroll, and comes before it.
        """
        least, widget = super().minimumSizeHint(), self.widget()
        if widget is None or not self.is_upright:
            return least
        bar = self.verticalScrollBar().sizeHint().width()
        height = min(least.height(), round(LINE * current_theme().scale))
        return QSize(max(least.width(), widget.minimumSizeHint().width() + bar), height)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()


def scrolling(
    widget: QWidget, *, sideways: bool = False, area: QuietScrollArea | None = None
) -> QuietScrollArea:
    """The widget in a quiet scroll area, a new one or `area`: up and down, and `sideways` where asked for."""
    area = QuietScrollArea() if area is None else area
    never = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded if sideways else never)
    area.setWidget(widget)
    area.viewport().setAutoFillBackground(False)  # what lies behind is the card's surface
    widget.setAutoFillBackground(False)
    return area
