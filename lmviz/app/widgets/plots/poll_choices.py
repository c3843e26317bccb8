"""The choices of a poll as rows to be read from afar: letter, text, and once shown the bar of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.figures import count, whole_percentage
from lmviz.app.widgets.kit.painter import AT_LEFT, AT_RIGHT, CENTRED, Painter
from lmviz.app.widgets.kit.pointing import Pointable
from lmviz.app.widgets.kit.rows import across

LEAST_ROW, USUAL_ROW, HINTED_ROW, MOST_ROW, GAP = 44, 78, 110, 260, 8
LETTER, TEXT, FIGURE, LARGE_TEXT, LEAST_TEXT = 22.0, 21.0, 18.0, 15.0, 11.0

RIGHT, LIKELIEST = "right", "likeliest"


@dataclass(frozen=True)
class ChoiceRow:
    """One choice: what is written, and how many chose it."""

    letter: str
    text: str
    count: int = 0


class PollChoices(Pointable):
    """`PollChoices()`: `set_choices(rows)`, `show_answers(shown, letter, word)`.

    The letter is that of the choice to be marked, or empty. The word says what that choice is: "right", or
    "likeliest" where it is a model's opinion, which is not drawn in the colour of what is right.

    Signals: `letter_chosen(str)` for a click or the letter's key; `letter_taken_back()` for Backspace.
    """

    letter_chosen = Signal(str)
    letter_taken_back = Signal()
    takes_clicks = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[ChoiceRow, ...] = ()
        self._shown, self._right, self._word = False, "", RIGHT
        self._most_growth = 1.0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("choices")

    @property
    def rows(self) -> tuple[ChoiceRow, ...]:
        """What is drawn."""
        return self._rows

    @property
    def marked(self) -> str:
        """The letter that is marked; empty while answers are hidden."""
        return self._right if self._shown else ""

    def set_choices(self, rows: Sequence[ChoiceRow]) -> None:
        """Draw other choices or other counts."""
        self._rows = tuple(rows)
        self.show_count(len(rows))

    def set_most_growth(self, growth: float) -> None:
        """How many times larger than usual type may be: not larger than that of the question."""
        if growth != self._most_growth:
            self._most_growth = growth
            self.update()

    def show_answers(self, shown: bool, letter: str, word: str = RIGHT) -> None:
        """Show counts and mark a choice, or neither."""
        self._shown, self._right, self._word = shown, letter, word
        self._describe()
        self.update()

    def description(self) -> str:
        said = []
        for row in self._rows:
            counted = f", {row.count}" + (f", {self._word}" if row.letter == self._right else "")
            said.append(f"{row.letter}: {row.text}" + (counted if self._shown else ""))
        return "; ".join(said)

    def sizeHint(self) -> QSize:
        return self._sized(420, (HINTED_ROW + GAP) * max(2, self._count))

    def minimumSizeHint(self) -> QSize:
        return self._sized(200, (LEAST_ROW + GAP) * max(2, self._count))

    def part_rectangle(self, index: int) -> QRectF:
        """Where a choice is drawn."""
        rows = max(1, len(self._rows))
        gap = self.length(GAP)
        height = min(self.length(MOST_ROW), (self.height() - gap * (rows - 1)) / rows)
        return QRectF(1, index * (height + gap) + 1, self.width() - 2, height - 2)

    def clicked_on(self, index: int) -> None:
        self.letter_chosen.emit(self._rows[index].letter)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        letter = event.text().upper()
        plain = not event.modifiers() & (
            Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        )
        if plain and letter and letter in (row.letter for row in self._rows):
            self.letter_chosen.emit(letter)
        elif event.key() == Qt.Key.Key_Backspace:
            self.letter_taken_back.emit()
        else:
            super().keyPressEvent(event)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        total = sum(row.count for row in self._rows)
        size = self.text_size
        for index, row in enumerate(self._rows):
            self._draw(painter, index, row, total, size)
        self.draw_focus(painter)

    @property
    def _growth(self) -> float:
        """By how much all type is larger than usual, where rows are higher."""
        return max(1.0, min(self.part_rectangle(0).height() / self.length(USUAL_ROW), self._most_growth))

    def _columns(self) -> tuple[float, float]:
        """Where the texts begin, and how wide counts and percentages are."""
        growth = self._growth
        figure = FIGURE * growth
        percent = metrics(figure, bold=True).horizontalAdvance("100 %")
        return self.length(52 * growth), percent + metrics(figure).horizontalAdvance("888") + self.length(32)

    @property
    def text_size(self) -> float:
        """The largest size at which every text fits into its row; on one line where it is large enough."""
        left, figures = self._columns()
        room = QRectF(0, 0, self.width() - left - figures, self.part_rectangle(0).height() - 4)
        line = metrics(TEXT * self._growth, token=True).height()
        size = self._largest(QRectF(0, 0, room.width(), line))
        return size if size >= LARGE_TEXT else self._largest(room)

    def _largest(self, room: QRectF) -> float:
        size = TEXT * self._growth
        while size > LEAST_TEXT and not all(self._fits(row.text, size, room) for row in self._rows):
            size -= 1
        return size

    def _fits(self, text: str, size: float, room: QRectF) -> bool:
        # The right choice is written in bold once it is shown, and must not change its size then.
        needed = metrics(size, token=True, bold=True).boundingRect(room, Qt.TextFlag.TextWordWrap, text)
        return needed.width() <= room.width() and needed.height() <= room.height()

    def _draw(self, painter: Painter, index: int, row: ChoiceRow, total: int, size: float) -> None:
        theme, place = self.theme, self.part_rectangle(index)
        right, marking = self.marked == row.letter, theme.right if self._word == RIGHT else theme.accent
        edge = marking if right else theme.accent if index == self.hovered else theme.strong_line
        fill = mix(theme.surface, marking, 0.06) if right else theme.surface
        painter.box(place, fill, edge, 2.5 if right else 1, radius=6)
        share = row.count / total if total and self._shown else 0.0
        if share:
            inner, fill = place.adjusted(2, 2, -2, -2), marking if right else theme.muted_text
            bar = across(inner, inner.left(), inner.left() + inner.width() * share)
            painter.box(bar, mix(theme.surface, fill, 0.2), radius=6)
        left, figures = self._columns()
        figure, ink = FIGURE * self._growth, marking if right else theme.text
        painter.setFont(theme.font(LETTER * self._growth, QFont.Weight.Bold))
        painter.write(across(place, place.left(), place.left() + left), row.letter, ink, where=CENTRED)
        words, wrapped = place.adjusted(left, 0, -figures, 0), AT_LEFT | Qt.TextFlag.TextWordWrap
        painter.write(words, row.text, theme.text, size, bold=right, token=True, where=wrapped)
        if not self._shown:
            return
        numbers = place.adjusted(0, 0, -self.length(14), 0)
        percent = metrics(figure, bold=True).horizontalAdvance("100 %") + self.length(12)
        beside = numbers.adjusted(0, 0, -percent, 0)
        painter.write(beside, count(row.count), theme.muted_text, figure, where=AT_RIGHT)
        painter.setFont(theme.font(figure, QFont.Weight.Bold))
        painter.write(numbers, whole_percentage(share) if total else "–", ink, where=AT_RIGHT)
