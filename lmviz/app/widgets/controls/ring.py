"""A ring around one control of a window, which lets the pointer through."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import Painter

AROUND, GLOW = 7, 4
FOLLOW_EVERY = 100  # milliseconds; an ancestor that moves the control sends it no event


class Ring(Painted, QWidget):
    """`Ring(window)`; `surround(find)` outlines what `find()` gives, wherever that moves; `stop()`.

    While there is no such control, or it cannot be seen, nothing is drawn.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._find: Callable[[], QWidget | None] = lambda: None
        self._control: QWidget | None = None
        self._follow = QTimer(self)
        self._follow.setInterval(FOLLOW_EVERY)
        self._follow.timeout.connect(self._place)
        self.hide()

    @property
    def control(self) -> QWidget | None:
        """What is outlined."""
        return self._control

    def surround(self, find: Callable[[], QWidget | None]) -> None:
        """Outline a control of the window, now or as soon as it is there."""
        self._find = find
        self._follow.start()
        self._place()

    def stop(self) -> None:
        """Outline nothing."""
        self._find, self._control = lambda: None, None
        self._follow.stop()
        self.hide()

    def _place(self) -> None:
        self._control = self._find()
        frame = QRect() if self._control is None else _seen_part(self._control, self.window())
        self.setVisible(not frame.isEmpty())
        if not frame.isEmpty():
            frame = frame.adjusted(-AROUND, -AROUND, AROUND, AROUND) & self.window().rect()
            if frame != self.geometry():
                self.setGeometry(frame)
            self.raise_()
            HoverCard.bring_in_front(self.window())

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        accent, scale = current_theme().accent, current_theme().scale
        painter.setRenderHint(Painter.RenderHint.Antialiasing)
        area = QRectF(self.rect())
        glow = QColor(accent)
        glow.setAlphaF(0.25)
        painter.box(area.adjusted(2, 2, -2, -2), edge=QPen(glow, GLOW), radius=10 / scale)
        painter.box(area.adjusted(4, 4, -4, -4), edge=QPen(accent, 2), radius=8 / scale)


def _seen_part(control: QWidget, window: QWidget) -> QRect:
    """What of a control is not cut off by what it is in, in the window; empty where it cannot be seen."""
    if not control.isVisible():
        return QRect()
    seen, inside = control.rect(), control
    while inside is not window and (around := inside.parentWidget()) is not None:
        seen.translate(inside.pos())
        seen &= around.rect()
        inside = around
    return seen
