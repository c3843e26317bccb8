"""Crossfades from one picture to the next, so that the difference between two stages is seen."""

from __future__ import annotations

from typing import Generic, TypeVar

from PySide6.QtCore import QElapsedTimer, QVariantAnimation
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.motion import may_move

T = TypeVar("T")

DURATION = 250
SHORTEST, LONGEST = 60, 600  # milliseconds
SUCCESSIVE = 900  # milliseconds within which one picture follows another as in a film


class Crossfade(QVariantAnimation, Generic[T]):
    """`Crossfade(widget)`: `begin(before)`, then `before` and `share` (of the new one) while it runs.

    Pictures that follow one another as in a film fade for as long as each is to be seen, and those that are
    too fast for that not at all: it would have each painted several times. Where the system is set to show no
    animations, nothing is begun.
    """

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._before: T | None = None
        self._since = QElapsedTimer()
        self.setStartValue(0.0)
        self.setEndValue(1.0)
        self.setDuration(DURATION)
        self.valueChanged.connect(lambda _: widget.update())
        self.finished.connect(self.end)

    @property
    def before(self) -> T | None:
        """What is giving way; None when nothing is."""
        return self._before

    @property
    def share(self) -> float:
        """How much of the new is seen, from 0 to 1."""
        return float(self.currentValue())

    def begin(self, before: T) -> None:
        """Fade from this picture to what is drawn from now on."""
        widget = self.parent()
        assert isinstance(widget, QWidget), "its parent is the widget that it was made for"
        if may_move(widget):
            self.stop()
            passed = self._since.restart() if self._since.isValid() else SUCCESSIVE
            if not self._since.isValid():
                self._since.start()
            if passed < SHORTEST:
                self._before = None
                return
            follows = passed < SUCCESSIVE
            self.setDuration(min(passed, LONGEST) if follows else DURATION)
            self._before = before
            self.start()

    def end(self) -> None:
        """Show only the new."""
        self.stop()
        self._before = None
