"""What panels with weights between words of running text have in common: they follow the position."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from PySide6.QtCore import QPointF, QTimer
from PySide6.QtWidgets import QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.scrolling import scrolling

NOTHING = np.zeros((0, 0))


class FollowedTextPanel(Panel):
    """`FollowedTextPanel(session, text)`: the text lies in `_area`, scrolled to the chosen word.

    Subclasses draw `_weights`, and say in `_word_place` where a word of a position stands.
    """

    draws = ("reading",)

    gives_way = 33
    least_height: ClassVar[int] = 112
    """Pixels within which the words and what joins them can be seen."""

    def __init__(self, session: Session, text: QWidget) -> None:
        super().__init__(session)
        self.weights = NOTHING  # what is drawn: (query, key), or (position, source)
        self._area = scrolling(text)
        self._area.setMinimumHeight(self.least_height)
        self._follow_current = QTimer(self, singleShot=True, interval=0)
        self._follow_current.timeout.connect(self._show_current)
        session.focus.position_changed.connect(self._follow_current.start)
        self.follow(session.reading.changed, session.library.model_changed)
        attention = session.attention
        self.follow(attention.side_changed, attention.head_changed, attention.heads_changed)

    def page_results(self) -> Sequence[Any]:
        from lmviz.pages.reading import PartOfTrace

        reading = self.session.reading.current
        if reading is None or not self.weights.size:
            return ()
        return (PartOfTrace(reading.trace, "text"), PartOfTrace(reading.trace, "attention"))

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights} if self.weights.size else {}

    @abstractmethod
    def _word_place(self, position: int) -> QPointF:
        """Where the word of a position stands in the text."""

    def _show_current(self) -> None:
        """Scroll to the chosen word once the text has its new size."""
        position = self.session.reading.position
        if 0 <= position < len(self.weights):
            place = self._word_place(position).toPoint()
            self._area.ensureVisible(place.x(), place.y(), self._area.width() // 4, self._area.height() // 2)
