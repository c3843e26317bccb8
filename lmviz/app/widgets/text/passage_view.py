"""A passage of text that can be chosen, and later shows where it came from."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.building import STRETCH, column
from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.kit.painter import Painter

PADDING = 10
KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class PassageView(Canvas):
    """`PassageView(name)`: `set_passage(text)`; `set_verdict(words, emphasised)` says what it was and ends
    choosing. Signal: `chosen()`, by click, Enter or Space.
    """

    chosen = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._open = False
        self._emphasised = False
        self._text, self._verdict = Label(wraps=True), Label(role="muted", wraps=True)
        padding = round(self.length(PADDING))
        column(self._text, STRETCH, self._verdict, on=self, margins=(padding,) * 4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)  # painted anew as the pointer comes and goes
        self.setAccessibleName(name)

    @property
    def text(self) -> str:
        """The passage."""
        return self._text.text()

    @property
    def verdict(self) -> str:
        """What is said of it; empty as long as it can be chosen."""
        return self._verdict.text()

    def set_passage(self, text: str) -> None:
        """Show a passage that can be chosen."""
        self._text.setText(text)
        self._verdict.setText("")
        self._open, self._emphasised = True, False
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleDescription(text)
        self.update()

    def set_verdict(self, verdict: str, *, emphasised: bool) -> None:
        """Say what it was; one of two may be emphasised."""
        self._verdict.setText(verdict)
        self._open, self._emphasised = False, emphasised
        self.unsetCursor()
        self.setAccessibleDescription(f"{verdict}: {self.text}")
        self.update()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme, over = self.theme, self._open and self.underMouse()
        edge = theme.accent if self._emphasised else theme.strong_line if over else theme.line
        wash = theme.accent_wash if self._emphasised else theme.hover if over else theme.surface
        painter.box(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), wash, edge, radius=6)
        self.draw_focus(painter)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._choose()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in KEYS and self._open:
            self._choose()
        else:
            super().keyPressEvent(event)

    def _choose(self) -> None:
        if self._open:
            self.chosen.emit()
