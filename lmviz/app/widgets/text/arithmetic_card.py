"""The card that explains a number: its operands, what each adds, and links to explain them in turn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter, cut
from lmviz.app.widgets.kit.pointing import CONFIRMING, DOWN, Pointed, along
from lmviz.app.widgets.kit.rows import across

if TYPE_CHECKING:
    from lmviz.app.widgets.text.arithmetic_rows import ArithmeticRow, WrittenOperand, WrittenSheet
    from lmviz.models.arithmetic import Arithmetic
    from lmviz.models.arithmetic.sheet import Naming

ROW = 24
MARGIN = 6
SIZE = 12.5
NUMBER_SIZE = 12
NAME_SHARE = 0.42  # of the width, for names, unless these or the numbers beside them need more
LEAST_NAME_SHARE = 0.28
TIMES = " × "
INDENT = 10  # pixels at scale 1 by which the terms of a side stand to the right of their sum


class ArithmeticCard(Pointed["WrittenOperand | None"]):
    """`ArithmeticCard()`: `set_arithmetic(arithmetic, naming, count)`; None empties it.

    `ArithmeticCard(with_result=False)` leaves the last line to a `ResultLine`, which does not scroll away.
    `naming(source, index)` gives an operand's name in words. A click on a number goes to that number's
    source, a click elsewhere on a line to its value; Up, Down and Enter do the same.
    Signals: `operand_clicked(str, object)` and `operand_hovered(str, object)` with the source and the
    tuple of its index; `left()`.
    """

    operand_clicked = Signal(str, object)
    operand_hovered = Signal(str, object)
    left = Signal()

    nowhere = None
    takes_clicks = True
    least = (220, None)

    def __init__(self, *, with_result: bool = True) -> None:
        super().__init__()
        self._with_result = with_result
        self._sheet: WrittenSheet | None = None
        self._name_width = 0.0
        self._shared = ""
        self._marked = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName("arithmetic")

    def set_arithmetic(
        self, arithmetic: Arithmetic | None, naming: Naming | None = None, count: int = 6
    ) -> None:
        """Show a cell's arithmetic, its `count` largest terms one by one."""
        before = self.sizeHint()
        if arithmetic is None:
            self._sheet = None
        else:
            from lmviz.app.widgets.text.arithmetic_rows import (  # not before the first paint
                plain_name,
                sheet_of,
            )

            self._sheet = sheet_of(arithmetic, naming or plain_name, count)
        self._shared = _shared([row.name for row in self.rows if row.operands])
        self._name_width = self._fitting_name_width()
        self._marked, self._hovered = -1, None
        lines = [f"{row.name} {row.value}" for row in self.rows]
        self.setAccessibleDescription(", ".join(lines))
        if self.sizeHint() != before:  # as many lines have the same room
            self.updateGeometry()
        self.update()

    @property
    def rows(self) -> tuple[ArithmeticRow, ...]:
        """What is shown, line by line."""
        if self._sheet is None:
            return ()
        return self._sheet.rows if self._with_result else self._sheet.rows[:-1]

    @property
    def result(self) -> ArithmeticRow | None:
        """The last line, also where it is left to a `ResultLine`; None for no arithmetic."""
        return None if self._sheet is None else self._sheet.rows[-1]

    def row_rectangle(self, index: int) -> QRectF:
        """Where a line is drawn."""
        height = self.length(ROW)
        return QRectF(0, (index + 1) * height, self.width(), height)

    def operand_rectangle(self, index: int, operand: int) -> QRectF:
        """Where one number of a line is drawn."""
        measure, row = metrics(NUMBER_SIZE, token=True), self.rows[index]
        before = TIMES.join([*(part.text for part in row.operands[:operand]), ""]) if operand else ""
        left = self._name_width + measure.horizontalAdvance(before)
        width = measure.horizontalAdvance(row.operands[operand].text)
        return across(self.row_rectangle(index), left, left + width)

    def operands_shown(self, index: int) -> int:
        """How many numbers of a line there is room for before its value."""
        row, measure = self.rows[index], metrics(NUMBER_SIZE, token=True)
        end = self.width() - measure.horizontalAdvance(row.value) - self.length(2 * MARGIN)
        ends = [self.operand_rectangle(index, place).right() for place in range(len(row.operands))]
        if not ends or ends[-1] <= end:
            return len(ends)
        more = measure.horizontalAdvance(TIMES + "…")
        return next((place for place, right in enumerate(ends) if right + more > end), len(ends))

    def names_shown(self) -> list[str]:
        """What is drawn of the name of each line: of two names never the same where a letter has room.

        Operands of one sum begin alike, so their shared beginning is left out first; of those that are still
        cut to the same, all words with which they begin alike, and then all letters. What it
        is stands before that where it has room: "gate … 9", for "…9" alone says nothing.
        """
        rows = self.rows
        rooms = [(self._room_of_name(row), metrics(SIZE, bold=row.heads)) for row in rows]
        shown = [
            row.name if cut(row.name, *room) == row.name else cut(row.name.removeprefix(self._shared), *room)
            for row, room in zip(rows, rooms, strict=True)
        ]
        for length_alike in (_words_alike, _letters_alike):
            for name in set(shown):
                places = [place for place, other in enumerate(shown) if other == name]
                whole = {rows[place].name for place in places}
                if len(whole) > 1:
                    for place in places:
                        alike = length_alike(whole)
                        shown[place] = _what_and_rest(rows[place].name, alike, *rooms[place])
        return shown

    def _room_of_name(self, row: ArithmeticRow) -> float:
        """How wide the name of a line may be."""
        indent = self.length(INDENT) if row.side and not row.heads else 0
        whole = self._name_width if row.operands else 0.72 * (self.width() - self.length(2 * MARGIN))
        return whole - self.length(8 + MARGIN) - indent

    def _fitting_name_width(self) -> float:
        """How much of the width names get: as much as they need while all numbers of each line are seen."""
        usual, least = NAME_SHARE * self.width(), LEAST_NAME_SHARE * self.width()
        lines = [row for row in self.rows if row.operands]
        if not lines:
            return usual
        measure, gap = metrics(NUMBER_SIZE, token=True), self.length(2 * MARGIN)
        needed = max(metrics(SIZE).horizontalAdvance(row.name) for row in lines) + self.length(INDENT) + gap
        beside = max(
            measure.horizontalAdvance(TIMES.join(part.text for part in row.operands) + row.value)
            for row in lines
        )
        free = self.width() - beside - 2 * gap
        if free < min(least, needed):
            return min(usual, max(least, needed))  # the numbers are cut in any case
        return min(max(usual, needed), free)

    def adopt_theme(self) -> None:
        super().adopt_theme()
        self._name_width = self._fitting_name_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._name_width = self._fitting_name_width()

    def sizeHint(self) -> QSize:
        lines = len(self.rows) + 1 if self.rows else 0
        return QSize(round(self.length(330)), round(self.length(ROW) * lines))

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if self._sheet is not None and self._sheet.rows:
            self._draw_heading(painter, self._sheet)
        for index, row in enumerate(self.rows):
            self._draw_row(painter, index, row)
        self.draw_focus(painter)

    def _draw_heading(self, painter: Painter, sheet: WrittenSheet) -> None:
        place = self.row_rectangle(-1).adjusted(self.length(MARGIN), 0, -self.length(MARGIN), 0)
        middle = place.adjusted(self._name_width - self.length(MARGIN), 0, 0, 0)
        painter.write(place, "made of", self.theme.muted_text, 11.5)
        measure = metrics(11.5)
        room = middle.width() - measure.horizontalAdvance(sheet.last) - self.length(MARGIN)
        if measure.horizontalAdvance(sheet.middle) <= room:
            painter.write(middle, sheet.middle)
        painter.write(place, sheet.last, where=AT_RIGHT)

    def _draw_row(self, painter: Painter, index: int, row: ArithmeticRow) -> None:
        theme, place = self.theme, self.row_rectangle(index)
        if row.result or index == self._marked:
            painter.box(place, theme.accent_wash if row.result else theme.hover, radius=4)
        inner = place.adjusted(self.length(MARGIN), 0, -self.length(MARGIN), 0)
        room = self._room_of_name(row)
        color = {"left": theme.query, "right": theme.key}[row.side] if row.heads else theme.text
        indent = self.length(INDENT) if row.side and not row.heads else 0
        area = QRectF(inner.left() + indent, inner.top(), room, inner.height())
        name = self.names_shown()[index]
        if name != row.name:
            self.hide_part(area, row.name)
        painter.write(area, name, color, SIZE, bold=row.heads)
        is_bold = row.result or row.heads
        painter.write(inner, row.value, size=NUMBER_SIZE, bold=is_bold, token=True, where=AT_RIGHT)
        self._draw_operands(painter, index, row)

    def _draw_operands(self, painter: Painter, index: int, row: ArithmeticRow) -> None:
        painter.setFont(self.theme.token_font(NUMBER_SIZE))
        room = self.operands_shown(index)
        for place, operand in enumerate(row.operands):
            area = self.operand_rectangle(index, place)
            if place == room:
                dots = QRectF(area.left(), area.top(), 30, area.height())
                painter.write(dots, "…", self.theme.muted_text)
                numbers = self.row_rectangle(index).adjusted(self._name_width, 0, 0, 0)
                self.hide_part(numbers, f"{TIMES.join(part.text for part in row.operands)} = {row.value}")
                break
            lit = operand == self._hovered
            ink = self.theme.accent if lit else self.theme.text
            painter.write(area.adjusted(0, 0, 4, 0), operand.text, ink)
            if lit:
                low = area.center().y() + self.length(8)
                painter.line(QPointF(area.left(), low), QPointF(area.right(), low), self.theme.accent, 1)
            if place + 1 < len(row.operands):
                after = QRectF(area.right(), area.top(), 60, area.height())
                painter.write(after, TIMES, self.theme.muted_text)

    def _row_at(self, place: QPointF) -> int:
        found = (i for i in range(len(self.rows)) if self.row_rectangle(i).contains(place))
        return next(found, -1)

    def index_at(self, place: QPointF) -> WrittenOperand | None:
        index = self._row_at(place)
        if index < 0:
            return None
        row = self.rows[index]
        for position, operand in enumerate(row.operands[: self.operands_shown(index)]):
            if operand.can_be_followed and self.operand_rectangle(index, position).contains(place):
                return operand
        return row.main

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._marked = self._row_at(event.position())
        super().mouseMoveEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._marked = -1
        super().leaveEvent(event)
        self.update()

    def pointed_at(self, index: WrittenOperand | None) -> None:
        self.left.emit() if index is None else self.operand_hovered.emit(index.source, index.index)

    def clicked_on(self, index: WrittenOperand | None) -> None:
        if index is not None:
            self.operand_clicked.emit(index.source, index.index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        rows = self.rows
        wanted = along(DOWN, event.key(), self._marked, len(rows))
        if wanted is not None:
            self._marked = wanted
            self.set_hovered(rows[wanted].main)
            self.update()
        elif event.key() in CONFIRMING and 0 <= self._marked < len(rows):
            self.clicked_on(rows[self._marked].main)
        else:
            super().keyPressEvent(event)


class ResultLine(Canvas):
    """`ResultLine()`: `set_row(row)` shows a name and a value; None leaves the line empty."""

    usual, least = (220, ROW), (120, None)

    def __init__(self) -> None:
        super().__init__()
        self._row: ArithmeticRow | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("result")

    @property
    def row(self) -> ArithmeticRow | None:
        """What it says."""
        return self._row

    def set_row(self, row: ArithmeticRow | None) -> None:
        """Show a line."""
        self._row = row
        self.setAccessibleDescription("" if row is None else f"{row.name} {row.value}")
        self.update()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if self._row is None:
            return
        theme = self.theme
        painter.box(QRectF(self.rect()), theme.accent_wash, radius=4)
        inner = QRectF(self.rect()).adjusted(self.length(MARGIN), 0, -self.length(MARGIN), 0)
        value = metrics(NUMBER_SIZE, token=True, bold=True).horizontalAdvance(self._row.value)
        room = inner.width() - value - self.length(8)
        name = cut(self._row.name, room, metrics(SIZE))
        painter.write(inner, name, theme.text, SIZE)
        painter.write(inner, self._row.value, size=NUMBER_SIZE, bold=True, token=True, where=AT_RIGHT)


def _what_and_rest(name: str, alike: int, room: float, measure: QFontMetricsF) -> str:
    """A name without what it has alike with others, but for words that say what it is."""
    rest = name[alike:]
    if alike and not name[alike - 1].isalnum():
        words = name[:alike].partition(",")[0].split()
        shown = [" ".join([*words[:end], f"… {rest}"]) for end in range(len(words), 0, -1)]
        shown += [f"{words[0][:end]}… {rest}" for end in range(len(words[0]) - 1, 2, -1)] if words else []
        for one in shown:
            if cut(one, room, measure) == one:
                return one
    return cut(f"…{rest}", room, measure)


def _letters_alike(names: Collection[str]) -> int:
    """With how many letters all names begin alike."""
    return len(list(takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))))


def _words_alike(names: Collection[str]) -> int:
    """How long the whole words are with which all names begin alike."""
    length, one = _letters_alike(names), next(iter(names))
    return next((at for at in range(length, 0, -1) if not one[at - 1].isalnum()), 0)


def _shared(names: Sequence[str]) -> str:
    """The parts before a comma with which all names begin; empty where there is only one such name.

    A name without parts, such as "bias", is told from the others in any case.
    """
    parts = [name.split(", ")[:-1] for name in dict.fromkeys(names) if ", " in name]
    alike = takewhile(lambda same: len(set(same)) == 1, zip(*parts, strict=False))
    return "".join(f"{first}, " for first, *_ in alike) if len(parts) > 1 else ""
