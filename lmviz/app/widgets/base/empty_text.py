"""The sentence in the middle of an empty view: what to do. Of several that say the same, one is read."""

from __future__ import annotations

from typing import ClassVar
from weakref import WeakSet

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from shiboken6 import isValid

from lmviz.app.widgets.base.plain import Label


class EmptyText(Label):
    """`EmptyText(sentence="")`: `set_text(sentence)`, muted and wrapped.

    Where several of a window say the same, only one can be read: one that `leads_on`, as a button below it
    starts what is missing, and otherwise the one with the most room.
    """

    _all: ClassVar[WeakSet[EmptyText]] = WeakSet()

    def __init__(self, sentence: str = "", parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self._is_quiet = False
        self._leads_on = False
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._agree)
        self._all.add(self)
        self.setProperty("role", "muted")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.set_text(sentence)

    @property
    def is_quiet(self) -> bool:
        """Whether it leaves it to another one in its window to say the sentence."""
        return self._is_quiet

    def set_text(self, sentence: str) -> None:
        """Say something else."""
        self.setText(sentence)
        self._soon.start()

    def set_leads_on(self, leads_on: bool) -> None:
        """Whether a button below it starts what is missing."""
        self._leads_on = leads_on
        self._soon.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._is_quiet:
            super().paintEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._soon.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._soon.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._soon.start()

    def _agree(self) -> None:
        """Have one of each sentence of the window be read."""
        window = self.window()
        seen = [each for each in self._all if isValid(each) and each.isVisible() and each.window() is window]
        seen.sort(key=lambda each: (each._leads_on, each.width() * each.height()), reverse=True)
        said = set[str]()
        for each in seen:
            each._be_quiet(each.text() in said)
            said.add(each.text())

    def _be_quiet(self, quiet: bool) -> None:
        if quiet != self._is_quiet:
            self._is_quiet = quiet
            self.update()
