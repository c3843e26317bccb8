"""What was answered in several ways: a row for each, its tokens over their probabilities, and what it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.figures import brief_percentage, percentage
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable, Words

NAME_SIZE, WORD_SIZE, SMALL = 13.0, 12.0, 11.5
CHIP, BAR, FIGURE, SAID = 20, 3.5, 15, 17  # heights in pixels at scale 1
ABOVE_BAR = 4
NAMES, LEAST_NAMES = 176, 104
"""The room left of the tokens for the names of rows, in pixels at scale 1, where there is much and little."""
GAP, DOTS = 6, 16
LEAST, USUAL = 65, 84  # of a row


@dataclass(frozen=True)
class AnswerRow:
    """A way of asking: its name, what was asked in numbers and in words, and the answer with what it did.

    `special` are the places of tokens of the answer that are no words.
    """

    name: str
    amount: str
    meaning: str
    tokens: tuple[str, ...]
    probabilities: tuple[float, ...]
    special: frozenset[int]
    said: str


class AnswerRows(Pointable):
    """`AnswerRows()`: `set_rows(rows)`; the first is the one to compare with. Tokens that find no room at the
    right are left out, with dots in their place; Left and Right, or the pointer, say each in words."""

    arrows = ACROSS
    points_by_key = True

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[AnswerRow, ...] = ()
        self.setAccessibleName("answers")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.set_readout(self._say)

    @property
    def rows(self) -> tuple[AnswerRow, ...]:
        """What is drawn."""
        return self._rows

    def set_rows(self, rows: Sequence[AnswerRow]) -> None:
        """Draw other rows."""
        self._rows = tuple(rows)
        self.show_count(sum(len(row.tokens) for row in rows))

    def sizeHint(self) -> QSize:
        return self._sized(620, USUAL * len(self._rows))

    def minimumSizeHint(self) -> QSize:
        return self._sized(300, LEAST * len(self._rows))

    def description(self) -> str:
        return "; ".join(f"{row.name}: {' '.join(row.tokens)}. {row.said}" for row in self._rows)

    def part_rectangle(self, index: int) -> QRectF:
        row, at = self._place_of(index)
        return self._chips(row).get(at, QRectF())

    def _place_of(self, index: int) -> tuple[int, int]:
        """The row and the place in it of a token, counted over all rows."""
        row = 0
        while index >= len(self._rows[row].tokens):
            index -= len(self._rows[row].tokens)
            row += 1
        return row, index

    def _say(self, index: int) -> Words:
        row, at = self._place_of(index)
        answer = self._rows[row]
        kind = "a special token, no word" if at in answer.special else f"token {at + 1} of the answer"
        return answer.tokens[at], (percentage(answer.probabilities[at]), kind)

    def _area(self, row: int) -> QRectF:
        high = min(self.height() / max(len(self._rows), 1), self.length(1.6 * USUAL))
        return QRectF(0, row * high, self.width(), high)

    def _names_width(self) -> float:
        return max(self.length(LEAST_NAMES), min(self.length(NAMES), 0.26 * self.width()))

    def _top(self, row: int) -> float:
        """Where what is drawn in a row begins, in the middle of it."""
        area = self._area(row)
        high = self.length(CHIP + ABOVE_BAR + BAR + FIGURE + SAID)
        return area.top() + max(self.length(3), (area.height() - high) / 2)

    def _chips(self, row: int) -> dict[int, QRectF]:
        """Where the tokens of a row stand, as far as there is room; a special one at the end always does."""
        answer, measure, gap = self._rows[row], metrics(WORD_SIZE, token=True), self.length(GAP)
        widths = [
            max(measure.horizontalAdvance(token) + self.length(14), self.length(24))
            for token in answer.tokens
        ]
        left, top, last = self._names_width(), self._top(row), len(widths) - 1
        places: dict[int, QRectF] = {}
        kept = widths[last] + gap if last in answer.special else 0.0
        for at, wide in enumerate(widths):
            needed = wide if at == last else wide + gap + kept + (self.length(DOTS) if at < last - 1 else 0)
            if left + needed > self.width():
                break
            places[at] = QRectF(left, top, wide, self.length(CHIP))
            left += wide + gap
        if kept and last not in places:
            places[last] = QRectF(left + self.length(DOTS), top, widths[last], self.length(CHIP))
        return places

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        first = 0
        for number, row in enumerate(self._rows):
            self._draw_names(painter, number, row)
            self._draw_answer(painter, number, row, first)
            first += len(row.tokens)
        self.draw_focus(painter)

    def _draw_names(self, painter: Painter, number: int, row: AnswerRow) -> None:
        theme, area = self.theme, self._area(number)
        if number:
            painter.line(area.topLeft(), area.topRight(), theme.line, 1)
        ink = theme.accent if number == 0 else theme.text
        wide, line = self._names_width() - self.length(14), self.length(18)
        name = QRectF(0, self._top(number), wide, line)
        painter.write(name, row.name, ink, NAME_SIZE, bold=True)
        taken = metrics(NAME_SIZE, bold=True).horizontalAdvance(row.name) + self.length(9)
        beside = name.adjusted(taken, 0, 0, 0)
        painter.fit(beside, row.amount, theme.muted_text, SMALL)
        below = QRectF(0, name.bottom(), wide, area.bottom() - name.bottom() - self.length(2))
        wrapped = Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        painter.write(below, row.meaning, theme.muted_text, SMALL, where=wrapped)

    def _draw_answer(self, painter: Painter, number: int, row: AnswerRow, first: int) -> None:
        theme, places = self.theme, self._chips(number)
        for at, place in places.items():
            self._draw_token(painter, row, at, place, is_pointed=first + at == self._hovered)
        left, top = self._names_width(), self._top(number)
        if len(places) < len(row.tokens):
            shown = next(at for at in range(len(row.tokens)) if at not in places)
            after = places[shown - 1].right() + self.length(GAP) if shown else left
            dots = QRectF(after, top, self.length(DOTS), self.length(CHIP))
            painter.write(dots, "…", theme.muted_text, WORD_SIZE)
        below = top + self.length(CHIP + ABOVE_BAR + BAR + FIGURE)
        painter.fit(QRectF(left, below, self.width() - left, self.length(SAID)), row.said, theme.text, 12.5)

    def _draw_token(
        self, painter: Painter, row: AnswerRow, at: int, place: QRectF, *, is_pointed: bool
    ) -> None:
        theme, is_special, share = self.theme, at in row.special, row.probabilities[at]
        ground = theme.text if is_special else mix(theme.surface, theme.accent, 0.13)
        edge = theme.accent if is_pointed else ground
        painter.box(place, ground, edge, 1.5, radius=CHIP / 2 if is_special else 4)
        ink = theme.on(ground)
        painter.write(place, row.tokens[at], ink, WORD_SIZE, bold=is_special, token=True, where=CENTRED)
        top = place.bottom() + self.length(ABOVE_BAR)
        bar = QRectF(place.left() + 2, top, place.width() - 4, self.length(BAR))
        painter.share(bar, share, theme.text if is_special else theme.accent, radius=BAR / 2)
        under = QRectF(place.left() - 8, bar.bottom(), place.width() + 16, self.length(FIGURE))
        painter.write(under, brief_percentage(share), theme.muted_text, SMALL, where=CENTRED)
