"""A ring around the pointer, so that a lecture hall sees where it is."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QCursor, QGuiApplication, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.kit.painter import Painter

SIZE = 56  # pixels at scale 1 across
EVERY = 16  # milliseconds
FAINT, PRESSED = 60, 130  # of 255


class PointerHalo(Canvas):
    """`PointerHalo(window)`: `set_on(on)`. It lies over everything in the window and takes no clicks.

    It is darker while a button is pressed, and away while the pointer is outside the window.
    """

    spoken_as = "Cursor"

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._is_pressed = False
        self.setObjectName("pointer_halo")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._follow = QTimer(self, interval=EVERY)
        self._follow.timeout.connect(self.follow)
        self.hide()

    @property
    def is_on(self) -> bool:
        """Whether it follows the pointer."""
        return self._follow.isActive()

    def set_on(self, on: bool) -> None:
        """Show it around the pointer, or nowhere."""
        if on:
            self._follow.start()
            self.follow()
        else:
            self._follow.stop()
            self.hide()

    def follow(self) -> None:
        """Go to where the pointer is now."""
        place = self._window.mapFromGlobal(QCursor.pos())
        if not self._window.rect().contains(place):
            self.hide()
            return
        size = round(self.length(SIZE))
        is_pressed = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        if is_pressed != self._is_pressed:
            self._is_pressed = is_pressed
            self.update()
        self.setGeometry(place.x() - size // 2, place.y() - size // 2, size, size)
        if self.isHidden():
            self.show()
        self.raise_()

    @property
    def middle(self) -> QPoint:
        """Where it is, in the window."""
        return self.geometry().center()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        wash = QColor(self.theme.accent)
        wash.setAlpha(PRESSED if self._is_pressed else FAINT)
        width = self.length(2.5)
        painter.setBrush(wash)
        painter.setPen(QPen(self.theme.accent, width))
        painter.drawEllipse(QRectF(self.rect()).adjusted(width, width, -width, -width))
