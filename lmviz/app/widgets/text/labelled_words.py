"""Words, each with the label that a model gives it, how sure it is, and what is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter, cut
from lmviz.app.widgets.text.marked_words import ROW, WordColumn

SIZE = 12
WORD, LABEL, NOTE = 0.3, 0.2, 0.26  # of the width, at most
BAR = 5


@dataclass(frozen=True)
class LabelledWord:
    """A word, a label and that label's probability there; `note` stands at the right edge.

    `wrong` where it is known that another label is right.
    """

    word: str
    label: str
    probability: float
    note: str = ""
    wrong: bool = False


class LabelledWords(WordColumn):
    """`LabelledWords()`: `set_words(words)`, one below the other; `set_current(index)` marks one.

    `set_readout(function)` gives the hover card's words for an index. Up and Down move the mark.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words: tuple[LabelledWord, ...] = ()
        self.setAccessibleName("words and their labels")

    @property
    def words(self) -> tuple[LabelledWord, ...]:
        """What is shown."""
        return self._words

    def set_words(self, words: Sequence[LabelledWord]) -> None:
        """Show words."""
        self._words = tuple(words)
        self.show_count(len(self._words))

    def readout(self, index: int) -> tuple[str, Sequence[str]]:
        if self._readout is not None:
            return self._readout(index)
        item = self._words[index]
        return item.word, [f"{item.label} {percentage(item.probability)}"]

    def description(self) -> str:
        said = [
            f"{item.word}: {item.label} {percentage(item.probability)}{', wrong' if item.wrong else ''}"
            for item in self._words
        ]
        return said[self.current] if self.current >= 0 else ", ".join(said[:5])

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        self.draw_marks(painter)
        columns = self._columns()
        for index in self.rows_in(event.rect()):
            self._draw_row(painter, self._words[index], self.top(index), columns)
        self.draw_focus(painter)

    def _columns(self) -> tuple[float, float, float]:
        """How wide words, labels and notes are."""
        typed, noted = self.metrics(SIZE, token=True), self.metrics(SIZE)
        wanted = (
            max((typed.horizontalAdvance(item.word) for item in self._words), default=0),
            max((typed.horizontalAdvance(item.label) for item in self._words), default=0) + self.length(2),
            max((noted.horizontalAdvance(item.note) for item in self._words), default=0),
        )
        word, label, note = (
            min(float(wide), share * self.width())
            for wide, share in zip(wanted, (WORD, LABEL, NOTE), strict=True)
        )
        return word, label, note

    def _draw_row(
        self, painter: Painter, item: LabelledWord, top: float, columns: tuple[float, float, float]
    ) -> None:
        theme, gap, row = self.theme, self.length(8), self.length(ROW)
        word, label, note = columns
        typed, noted = self.metrics(SIZE, token=True), self.metrics(SIZE)
        left = self.length(4)
        painter.write(QRectF(left, top, word, row), cut(item.word, word, typed), theme.text, SIZE, token=True)
        left += word + gap
        ink = theme.warning if item.wrong else theme.accent
        shown = cut(item.label, label, typed)
        painter.write(QRectF(left, top, label, row), shown, ink, SIZE, bold=True, token=True)
        left += label + gap
        right = self.width() - self.length(4) - (note + gap if note else 0)
        beside = theme.warning if item.wrong else theme.muted_text
        said = cut(item.note, note, noted)
        painter.write(QRectF(right + gap, top, note, row), said, beside, SIZE, where=AT_RIGHT)
        share = percentage(item.probability)
        wide = noted.horizontalAdvance("00.00 %")
        painter.write(QRectF(right - wide, top, wide, row), share, theme.muted_text, where=AT_RIGHT)
        full = right - wide - gap - left
        if full > 0:
            bar = QRectF(left, top + (row - self.length(BAR)) / 2, full, self.length(BAR))
            painter.share(bar, item.probability, ink, radius=2)
