"""The tape as a stack: what lies on it, what was popped, and what is still to be computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.canvas import fitted
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter
from lmviz.app.widgets.kit.pointing import Pointable

HEIGHT, GAP = 26, 3
COLUMN = 0.46  # of the width stand before the names of values
SIZE = 12.5
WORD_SIZES = (SIZE, 11.5, 10.5)
WAITING, ON, POPPED = "waiting", "on", "popped"


@dataclass(frozen=True)
class TapeEntry:
    """A module on the tape: its word, the name of its value, and whether it waits, lies on the tape or was
    popped. `handed` names the gradients that it handed back; `words` say where it stands."""

    name: str
    word: str
    label: str
    state: str
    handed: str = ""
    words: str = ""
    is_next: bool = False


class TapeList(Pointable):
    """`TapeList()`: `set_entries(entries)`, the bottom first; `set_lit(name)`.

    Signals: `entry_hovered(str)` with the name of a value, empty on leaving, and `entry_clicked(str)`.
    """

    entry_hovered = Signal(str)
    entry_clicked = Signal(str)

    least = (150, None)

    def __init__(self) -> None:
        super().__init__()
        self._entries: tuple[TapeEntry, ...] = ()
        self._lit = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName("tape")

    def set_entries(self, entries: Sequence[TapeEntry]) -> None:
        """Show other entries; the last one stands on top."""
        self._entries = tuple(entries)
        self.show_count(len(entries))

    def description(self) -> str:
        return ", ".join(f"{one.word} {one.label} {one.words or one.state}" for one in self._entries)

    @property
    def entries(self) -> tuple[TapeEntry, ...]:
        """What is shown, the bottom first."""
        return self._entries

    def set_lit(self, name: str) -> None:
        """Light the entry of a value."""
        if name != self._lit:
            self._lit = name
            self.update()

    def part_rectangle(self, index: int) -> QRectF:
        """Where an entry is drawn."""
        height = self.length(HEIGHT)
        from_top = len(self._entries) - 1 - index
        return QRectF(0, from_top * (height + self.length(GAP)) + 1, self.width(), height)

    def sizeHint(self) -> QSize:
        rows = len(self._entries)
        return QSize(round(self.length(240)), round(rows * self.length(HEIGHT + GAP) + self.length(6)))

    def pointed_at(self, index: int) -> None:
        self.entry_hovered.emit(self._entries[index].name if index >= 0 else "")

    def clicked_on(self, index: int) -> None:
        self.entry_clicked.emit(self._entries[index].name)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        for index, entry in enumerate(self._entries):
            place = self.part_rectangle(index)
            if place.intersects(event.rect()):
                self._draw(painter, entry, place)
        self._draw_walls(painter)

    def _draw_walls(self, painter: Painter) -> None:
        """The sides of the stack, around what lies on it."""
        on = [index for index, entry in enumerate(self._entries) if entry.state == ON]
        if not on:
            return
        top, low = self.part_rectangle(on[-1]).top() - 3, self.part_rectangle(on[0]).bottom() + 2
        left, right = 0.5, self.width() - 1
        corners = [QPointF(left, top), QPointF(left, low), QPointF(right, low), QPointF(right, top)]
        for start, end in pairwise(corners):
            painter.line(start, end, self.theme.strong_line, 1.5)

    def _draw(self, painter: Painter, entry: TapeEntry, place: QRectF) -> None:
        theme = self.theme
        block = place.adjusted(self.length(4), 0, -self.length(4), -1)
        if entry.state == ON:
            wash = theme.accent_wash if entry.is_next or entry.name == self._lit else theme.chip
            painter.box(block, wash, QPen(theme.accent, 1.4) if entry.is_next else None, radius=5)
        elif entry.name == self._lit or entry.is_next:
            dashed = QPen(theme.accent if entry.is_next else theme.line, 1, Qt.PenStyle.DashLine)
            painter.box(block, theme.hover if entry.name == self._lit else None, dashed, radius=5)
        inner = block.adjusted(self.length(8), 0, -self.length(8), 0)
        weight = QFont.Weight.DemiBold if entry.state == ON else QFont.Weight.Normal
        room = inner.width() * COLUMN - self.length(8)
        word, size = fitted(entry.word, room, WORD_SIZES, bold=True)
        font = QFont(theme.font(size, weight))
        font.setStrikeOut(entry.state == POPPED)
        painter.setFont(font)
        painter.write(inner, word, theme.text if entry.state == ON else theme.faint_text)
        italic = QFont(theme.font(SIZE))
        italic.setItalic(True)
        painter.setFont(italic)
        column = inner.adjusted(inner.width() * COLUMN, 0, 0, 0)
        painter.write(column, entry.label)
        if entry.handed:
            painter.write(column.adjusted(inner.width() * 0.14, 0, 0, 0), f"← {entry.handed}", theme.key)
            return
        ink = theme.accent if entry.is_next else theme.muted_text
        painter.write(inner, entry.words, ink, SIZE - 1, bold=entry.is_next, where=AT_RIGHT)
