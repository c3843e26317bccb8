"""The bases of widgets that show words of which one is marked: in any order, or one below the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.arrows import DOWN, along
from lmviz.app.widgets.base.growing_canvas import EnlargedCanvas
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.pointable import Pointable

ROW = 24  # pixels at scale 1


class MarkedWords(Pointable):
    """Words that can be pointed at and clicked; `set_current(index)` marks one, arrow keys click the next.

    Signals: `word_hovered(int)` (−1 on leaving), `word_clicked(int)`. Subclasses say where a word is drawn
    and what is said of it, and call `show_count` when they show other words.
    """

    word_hovered = Signal(int)
    word_clicked = Signal(int)
    arrows: Mapping[int, int] = DOWN
    """The keys that lead to the next word, and which way."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._count = 0
        self._current = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)

    @property
    def current(self) -> int:
        """The marked word; −1 for none."""
        return self._current

    @abstractmethod
    def word_rectangle(self, index: int) -> QRectF:
        """Where a word is drawn."""

    @abstractmethod
    def read_out(self, index: int) -> tuple[str, Sequence[str]]:
        """What the hover card says of a word: a title and lines."""

    @abstractmethod
    def description(self) -> str:
        """What a screen reader says of the marked word, or of all of them."""

    def set_current(self, index: int) -> None:
        """Mark a word; −1 for none."""
        index = min(index, self._count - 1)
        if index != self._current:
            self._current = index
            self.setAccessibleDescription(self.description())
            self.update()

    def show_count(self, count: int) -> None:
        """So many words are shown now: what is marked and pointed at stays, if it is still there."""
        self._count = count
        self._current = min(self._current, count - 1)
        if self.hovered >= count:
            self.set_hovered(-1)
        HoverCard.renew(self, partial(self.read_out, self.hovered) if self.hovered >= 0 else None)
        self.setAccessibleDescription(self.description())
        self.updateGeometry()
        self.update()

    def draw_mark(self, painter: QPainter, index: int, color: QColor) -> None:
        """A colour behind a word; −1 for none."""
        if index >= 0:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawRoundedRect(self.word_rectangle(index), self.length(4), self.length(4))

    def pointed_at(self, index: int) -> None:
        if index >= 0:
            place = self.word_rectangle(index).bottomLeft().toPoint()
            HoverCard.beside(self, place, *self.read_out(index))
        else:
            HoverCard.leave(self)
        self.word_hovered.emit(index)

    def clicked_on(self, index: int) -> None:
        self.word_clicked.emit(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        wanted = along(self.arrows, event.key(), self._current, self._count)
        if wanted is None or wanted == self._current:  # a click on the marked word would unmark it
            super().keyPressEvent(event)
        else:
            self.word_clicked.emit(wanted)


class WordColumn(MarkedWords, EnlargedCanvas):
    """Words one below the other, a row for each, below a head of `HEAD` pixels at scale 1."""

    HEAD = 0

    @property
    def usual_height(self) -> float:
        """The height of all rows where they are not enlarged, in pixels."""
        return current_theme().scale * (self.HEAD + ROW * max(1, self._count))

    def word_rectangle(self, index: int) -> QRectF:
        return QRectF(0, self.top(index), self.width(), self.length(ROW))

    def top(self, index: int) -> float:
        """Where the row of a word begins; that of the word behind the last one is where the rows end."""
        return self.length(self.HEAD) + index * self.length(ROW)

    def index_at(self, place: QPointF) -> int:
        index = int((place.y() - self.length(self.HEAD)) // self.length(ROW))
        return index if 0 <= index < self._count else -1

    def draw_marks(self, painter: QPainter) -> None:
        """The colours behind the word under the pointer and the marked one."""
        self.draw_mark(painter, self.hovered, self.theme.hover)
        self.draw_mark(painter, self.current, self.theme.accent_wash)

    def rows_in(self, area: QRect) -> range:
        """The words whose rows lie in an area, at least in part."""
        head, row = self.length(self.HEAD), self.length(ROW)
        first, last = (int((edge - head) // row) for edge in (area.top(), area.bottom()))
        return range(max(0, first), min(self._count, last + 1))
