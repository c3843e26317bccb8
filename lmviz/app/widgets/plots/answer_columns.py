"""Models side by side in columns: how each goes on with one text, and how likely the same words are to it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.canvas import once
from lmviz.app.widgets.base.figures import brief_percentage, percentage
from lmviz.app.widgets.kit.painter import Painter, cut, measure_of
from lmviz.app.widgets.kit.pointing import DOWN, Words
from lmviz.app.widgets.kit.row_parts import RowParts
from lmviz.app.widgets.kit.rows import across, in_the_middle, side_by_side
from lmviz.looks.answer_column import AnswerColumn

HEAD, ROW, LOWEST, LINE, GAP, SIZE = 27, 21, 17, 16, 14, 11.5
FIRST = 1.7
"""How much wider the first column is, in which the beginnings stand."""

FIGURES, BAR = 44, 9
LOST = 0.5
"""A word that is less than half as likely as it was is written in the ink of what fell."""


class AnswerColumns(RowParts):
    """`AnswerColumns()`: `set_answers(columns, prompts, words)`, the first column that of the model before.

    A row for each of the prompts and the word that was expected after it; `part_clicked` is told which.
    """

    usual, least = (640, 250), (300, HEAD + 3 * LOWEST)
    spoken_as = "Chart"
    arrows, points_by_key = DOWN, True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns: tuple[AnswerColumn, ...] = ()
        self._prompts: tuple[str, ...] = ()
        self._words: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("answers before and after")
        self.set_readout(self._said_of)

    def set_answers(
        self, columns: Sequence[AnswerColumn], prompts: Sequence[str], words: Sequence[str]
    ) -> None:
        """Show models by their columns; prompts and words are (row,)."""
        self._columns, self._prompts, self._words = tuple(columns), tuple(prompts), tuple(words)
        self.show_count(len(self._prompts))

    def description(self) -> str:
        said = []
        for row, (prompt, word) in enumerate(zip(self._prompts, self._words, strict=True)):
            shares = ", ".join(f"{one.name} {percentage(float(one.shares[row]))}" for one in self._columns)
            said.append(f"{prompt} {word}: {shares}")
        return "; ".join(said)

    @once
    def _lines(self) -> int:
        """How many lines of a text have room above the rows."""
        if not any(column.text for column in self._columns):
            return 0
        room = self.height() - self.length(HEAD) - len(self._prompts) * self._row() - self.length(8)
        return max(0, int((room + 1) // self.length(LINE)))

    @once
    def _row(self) -> float:
        """The height of a row: lower where a line or two of the texts would have no room otherwise."""
        room = self.height() - self.length(HEAD) - self.length(8) - 2 * self.length(LINE)
        return min(self.length(ROW), max(self.length(LOWEST), room / max(1, len(self._prompts))))

    @once
    def _top(self) -> float:
        """Where the first row begins."""
        lines = self._lines()
        return self.length(HEAD) + (lines * self.length(LINE) + self.length(8) if lines else 0.0)

    def part_rectangle(self, index: int) -> QRectF:
        """The row of a beginning; nothing where it has no room."""
        row = QRectF(0, self._top() + index * self._row(), self.width(), self._row())
        return row if row.bottom() <= self.height() + 1 else QRectF()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if not self._columns:
            return
        self.draw_marks(painter)
        shares = [FIRST, *(1.0 for _ in self._columns[1:])]
        areas = side_by_side(QRectF(self.rect()), shares, self.length(GAP))
        for place, (column, area) in enumerate(zip(self._columns, areas, strict=True)):
            self._draw_head(painter, column, area)
            for row in range(len(self._prompts)):
                line = self.part_rectangle(row)
                if not line.isEmpty():
                    self._draw_cell(painter, place, row, across(line, area.left(), area.right()))
        if self._lines():
            y = self._top() - self.length(4)
            painter.line(QPointF(0, y), QPointF(self.width(), y), self.theme.line)
        self.draw_focus(painter)

    def _draw_head(self, painter: Painter, column: AnswerColumn, area: QRectF) -> None:
        ink, length = self.theme.ink(column.ink), self.length
        painter.fillRect(QRectF(area.left(), area.top(), area.width(), length(2)), ink)
        name = QRectF(area.left(), area.top() + length(4), area.width(), length(HEAD - 6))
        self.write_cut(painter, name, column.name, ink, SIZE, bold=True)
        lines = self._lines()
        if lines and column.text:
            text = QRectF(area.left(), length(HEAD), area.width(), lines * length(LINE))
            with painter.clipped(text):
                painter.setFont(self.theme.font(SIZE))
                painter.setPen(self.theme.text)
                painter.drawText(text, Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap, column.text)
            measure = measure_of(self.theme, SIZE, False, False)
            if measure.boundingRect(text, Qt.TextFlag.TextWordWrap, column.text).height() > text.height() + 1:
                self.hide_part(text, column.text)

    def _draw_cell(self, painter: Painter, place: int, row: int, cell: QRectF) -> None:
        column, word, length = self._columns[place], self._words[row], self.length
        share = float(column.shares[row])
        is_lost = place > 0 and share < LOST * float(self._columns[0].shares[row])
        figure = f"{brief_percentage(share)} %"
        ink = self.theme.fell if is_lost else self.theme.text
        self.write_figure(painter, cell, figure, ink, SIZE, bold=is_lost, margin=0)
        room = cell.width() - length(FIGURES)
        part = room * (0.62 if place == 0 else 0.4)
        label = across(cell, cell.left(), cell.left() + part)
        if place == 0:
            self._draw_beginning(painter, label, self._prompts[row], word)
        else:
            self.write_label(painter, label, word, self.theme.muted_text, 11)
        track = across(cell, label.right() + length(7), cell.left() + room)
        painter.fillRect(in_the_middle(track, length(BAR)), self.theme.line)
        filled = across(track, track.left(), track.left() + track.width() * share)
        self.draw_bar(painter, filled, BAR, self.theme.ink(column.ink), radius=0)

    def _draw_beginning(self, painter: Painter, area: QRectF, prompt: str, word: str) -> None:
        """The end of the beginning in muted ink, and the word that was expected behind it."""
        measure = measure_of(self.theme, SIZE, False, True)
        needed = min(area.width() * 0.55, measure.horizontalAdvance(word) + self.length(5))
        before = area.adjusted(0, 0, -needed, 0)
        plain = measure_of(self.theme, SIZE, False, False)
        shown = cut(prompt, before.width(), plain, leads_up=True)
        painter.write(before, shown, self.theme.muted_text, SIZE)
        left = before.left() + min(before.width(), plain.horizontalAdvance(shown)) + self.length(4)
        rest = QRectF(left, area.top(), area.right() - left, area.height())
        self.write_cut(painter, rest, word, self.theme.text, SIZE, bold=True)
        if shown != prompt:
            self.hide_part(before, prompt)

    def _said_of(self, row: int) -> Words:
        if not 0 <= row < len(self._prompts):
            return "", ()
        lines = [f"{self._words[row]}: {percentage(float(self._columns[0].shares[row]))} before"]
        for column in self._columns[1:]:
            said = f"{column.name}: {percentage(float(column.shares[row]))}"
            if column.expected and column.expected[row] != self._words[row]:
                said = f"{said}, and most “{column.expected[row]}”"
            lines.append(said)
        return self._prompts[row], tuple(lines)
