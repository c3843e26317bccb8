"""A scroll area around columns of words, which draws them larger where all of them have room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QResizeEvent

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.growing_canvas import growth_in
from lmviz.app.widgets.base.scrolling import QuietScrollArea
from lmviz.app.widgets.text.marked_words import WordColumn

USUAL_WIDTH = 420  # pixels at scale 1 above which there is room for larger type


class WordScroll(QuietScrollArea):
    """`WordScroll(columns)`: the widget that it scrolls holds the columns, and may hold more."""

    def __init__(self, columns: Sequence[WordColumn]) -> None:
        super().__init__()
        self._columns = tuple(columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._enlarge()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        taken = super().eventFilter(watched, event)
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self._enlarge()  # other words are shown
        return taken

    def _enlarge(self) -> None:
        shown = [column for column in self._columns if not column.isHidden()]
        widget = self.widget()
        if not shown or widget is None:
            return
        others = widget.sizeHint().height() - sum(column.sizeHint().height() for column in shown)
        high = (self.height() - others) / sum(column.usual_height for column in shown)
        wide = self.width() / (USUAL_WIDTH * current_theme().scale)
        for column in shown:
            column.set_growth(growth_in(min(high, wide)))
