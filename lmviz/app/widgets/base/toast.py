"""A sentence that confirms what was done, over the window, and goes by itself."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.plain import Label

SHOWN = 4000  # milliseconds
MARGIN = 84  # pixels above the window's lower edge, where the transport is


class Toast(Label):
    """`Toast.show_over(widget, sentence)`: it takes no room from anything, and a click sends it away."""

    def __init__(self, window: QWidget) -> None:
        super().__init__("", window)
        self._window = window
        self.setObjectName("toast")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._go = QTimer(self, singleShot=True, interval=SHOWN)
        self._go.timeout.connect(self.hide)

    @classmethod
    def show_over(cls, widget: QWidget, sentence: str) -> Toast:
        """Show a sentence over the window of a widget, in place of the one before."""
        window = widget.window()
        toast = window.findChild(cls, options=Qt.FindChildOption.FindDirectChildrenOnly) or cls(window)
        toast.say(sentence)
        return toast

    def say(self, sentence: str) -> None:
        """Show a sentence for some seconds."""
        theme, window = current_theme(), self._window
        self.setStyleSheet(
            f"background: {theme.text.name()}; color: {theme.surface.name()};"
            f"border-radius: {round(8 * theme.scale)}px; padding: {round(8 * theme.scale)}px"
        )
        self.setText(sentence)
        self.setAccessibleName(sentence)
        self.adjustSize()
        self.move(
            (window.width() - self.width()) // 2,
            window.height() - self.height() - round(MARGIN * theme.scale),
        )
        self.show()
        self.raise_()
        self._go.start()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.hide()
