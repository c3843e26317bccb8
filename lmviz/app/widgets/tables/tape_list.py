"""The tape as a stack: what lies on it, what was popped, and what is still to be computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import fitted
from lmviz.app.widgets.kit.painter import Painter
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

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        for index, entry in enumerate(self._entries):
            self._draw(painter, entry, self.part_rectangle(index))
        self._draw_walls(painter)

    def _draw_walls(self, painter: Painter) -> None:
        """The sides of the stack, around what lies on it."""
        on = [index for index, entry in enumerate(self._entries) if entry.state == ON]
        if not on:
            return
        top, low = self.part_rectangle(on[-1]).top() - 3, self.part_rectangle(on[0]).bottom() + 2
        painter.setPen(QPen(self.theme.strong_line, self.length(1.5)))
        for x in (0.5, self.width() - 1):
            painter.drawLine(QPointF(x, top), QPointF(x, low))
        painter.drawLine(QPointF(0.5, low), QPointF(self.width() - 1, low))

    def _draw(self, painter: Painter, entry: TapeEntry, place: QRectF) -> None:
        theme = self.theme
        block = place.adjusted(self.length(4), 0, -self.length(4), -1)
        if entry.state == ON:
            painter.setPen(QPen(theme.accent, 1.4) if entry.is_next else Qt.PenStyle.NoPen)
            painter.setBrush(theme.accent_wash if entry.is_next or entry.name == self._lit else theme.chip)
            painter.drawRoundedRect(block, self.length(5), self.length(5))
        elif entry.name == self._lit or entry.is_next:
            pen = QPen(theme.accent if entry.is_next else theme.line, 1)
            pen.setStyle(Qt.PenStyle.DashLine)
            painter.setPen(pen)
            painter.setBrush(theme.hover if entry.name == self._lit else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(block, self.length(5), self.length(5))
        inner = block.adjusted(self.length(8), 0, -self.length(8), 0)
        middle = Qt.AlignmentFlag.AlignVCenter
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
        painter.drawText(column, middle, entry.label)
        if entry.handed:
            painter.write(column.adjusted(inner.width() * 0.14, 0, 0, 0), f"← {entry.handed}", theme.key)
            return
        painter.setFont(theme.font(SIZE - 1, QFont.Weight.DemiBold if entry.is_next else QFont.Weight.Normal))
        painter.setPen(theme.accent if entry.is_next else theme.muted_text)
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignRight, entry.words)
