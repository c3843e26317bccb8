"""Words, each with the label that a model gives it, how sure it is, and what is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.row_parts import RowParts
from lmviz.app.widgets.kit.rows import across, in_the_middle
from lmviz.app.widgets.text.marked_words import WordColumn

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


class LabelledWords(RowParts, WordColumn):
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
            self._draw_row(painter, index, columns)
        self.draw_focus(painter)

    def _columns(self) -> tuple[float, float, float]:
        """How wide words, labels and notes are."""
        word = self.label_width([item.word for item in self._words], WORD)
        label = self.widest([item.label for item in self._words], SIZE, token=True) + self.length(2)
        note = self.label_width([item.note for item in self._words], NOTE, token=False)
        return word, min(label, LABEL * self.width()), note

    def _draw_row(self, painter: Painter, index: int, columns: tuple[float, float, float]) -> None:
        theme, item, gap, margin = self.theme, self._words[index], self.length(8), self.length(4)
        word, label, note = columns
        row = self.part_rectangle(index).adjusted(margin, 0, -margin, 0)
        ink, beside = (theme.warning,) * 2 if item.wrong else (theme.accent, theme.muted_text)
        first = across(row, row.left(), row.left() + word)
        second = across(row, first.right() + gap, first.right() + gap + label)
        self.write_cut(painter, first, item.word, theme.text, SIZE, token=True)
        self.write_cut(painter, second, item.label, ink, SIZE, bold=True, token=True)
        if note:
            last = across(row, row.right() - note, row.right())
            self.write_label(painter, last, item.note, beside, token=False)
            row = across(row, row.left(), last.left() - gap)
        self.write_figure(painter, row, percentage(item.probability), margin=0)
        left, right = second.right() + gap, row.right() - self.widest(["00.00 %"], SIZE) - gap
        if right > left:
            bar = in_the_middle(across(row, left, right), self.length(BAR))
            painter.share(bar, item.probability, ink, radius=2)
