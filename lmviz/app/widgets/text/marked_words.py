"""The bases of widgets that show words of which one is marked: in any order, or one below the other.

Columns of them are drawn larger by what scrolls them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.growing_canvas import EnlargedCanvas, growth_in
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.scrolling import QuietScrollArea
from lmviz.app.widgets.base.words_in_sight import words_in_sight
from lmviz.app.widgets.kit.pointing import ACROSS, ARROW, DOWN, HAND, Pointable

ROW = 24  # pixels at scale 1
USUAL_WIDTH = 420  # pixels at scale 1 above which there is room for larger type


class MarkedWords(Pointable):
    """Words that can be pointed at and clicked; `set_current(index)` marks one, arrow keys click the next."""

    arrows = DOWN
    toggles = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)


class PagedWords(MarkedWords):
    """Words side by side. Where not all have room, those around the current one are drawn, and dots at either
    end: a click on these goes on to the words beyond. Left and Right move the mark.
    """

    arrows = ACROSS

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._in_sight, self._first = range(0), 0

    @property
    def in_sight(self) -> range:
        """The words that are drawn: those there is room for."""
        return self._in_sight

    @abstractmethod
    def widths(self) -> Sequence[float]:
        """The width of each word in pixels."""

    @abstractmethod
    def room(self) -> tuple[float, float]:
        """The room for words, and how much of it dots take, in pixels."""

    @abstractmethod
    def beyond(self, place: QPointF) -> range:
        """The words that the dots at a place stand for; none elsewhere."""

    def find_in_sight(self) -> None:
        """Find out again which words are in sight."""
        room, more = self.room()
        self._in_sight = words_in_sight(self.widths(), self.current, room, self._first, more)
        self._first = self._in_sight.start

    def set_current(self, index: int) -> None:
        super().set_current(index)
        self.find_in_sight()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.find_in_sight()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        count = len(self.beyond(event.position()))
        self.setCursor(HAND if count else ARROW)
        if count:
            title = f"{count} more"
            HoverCard.beside(self, event.position().toPoint(), title, ["click: go on to them"])
        elif self.hovered < 0:
            HoverCard.leave(self)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        HoverCard.leave(self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        beyond = self.beyond(event.position())
        if not beyond or event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        HoverCard.leave(self)  # other words stand there now
        shown = self._in_sight
        self._first = shown.stop if beyond.start else max(0, shown.start - len(shown))
        self.clicked_on(shown.stop if beyond.start else shown.start - 1)


class WordColumn(MarkedWords, EnlargedCanvas):
    """Words one below the other, a row for each, below a head of `HEAD` pixels at scale 1.

    `WIDTHS` are the usual and the least one at scale 1, enlarged or not.
    """

    HEAD, WIDTHS = 0, (200, 200)

    @property
    def usual_height(self) -> float:
        """The height of all rows where they are not enlarged, in pixels."""
        return current_theme().scale * (self.HEAD + ROW * max(1, self._count))

    def sizeHint(self) -> QSize:
        return QSize(round(self.WIDTHS[0] * current_theme().scale), round(self.top(max(1, self._count))))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.WIDTHS[1] * current_theme().scale), self.sizeHint().height())

    def part_rectangle(self, index: int) -> QRectF:
        return QRectF(0, self.top(index), self.width(), self.length(ROW))

    def top(self, index: int) -> float:
        """Where the row of a word begins; that of the word behind the last one is where the rows end."""
        return self.length(self.HEAD) + index * self.length(ROW)

    def index_at(self, place: QPointF) -> int:
        index = int((place.y() - self.length(self.HEAD)) // self.length(ROW))
        return index if 0 <= index < self._count else -1

    def rows_in(self, area: QRect) -> range:
        """The words whose rows lie in an area, at least in part."""
        head, row = self.length(self.HEAD), self.length(ROW)
        first, last = (int((edge - head) // row) for edge in (area.top(), area.bottom()))
        return range(max(0, first), min(self._count, last + 1))


class WordScroll(QuietScrollArea):
    """`WordScroll(columns)`: draws columns larger where all of them have room.

    The widget that it scrolls holds them, and may hold more.
    """

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
