"""Labels of several models under the words of one text, and where they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.kit.painter import CENTRED, Painter, cut
from lmviz.app.widgets.text.marked_words import PagedWords
from lmviz.looks.label_row import LabelRow, TableLabel

ROW, SIZE, NAME_SIZE = 30, 12, 12
PADDING, BAR, MORE = 7, 3, 16
WIDEST_NAME, WIDEST_WORD = 150, 320


class LabelTable(PagedWords):
    """`LabelTable()`: `set_rows(words, rows, gold=())`, a column for each word.

    `gold` are the right labels, "" where none is known. A column in which models disagree is marked.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words: tuple[str, ...] = ()
        self._rows: tuple[LabelRow, ...] = ()
        self._gold: tuple[str, ...] = ()
        self._edges: tuple[float, ...] = (0.0,)
        self.setAccessibleName("labels of several models")

    @property
    def rows(self) -> tuple[LabelRow, ...]:
        """What is shown."""
        return self._rows

    @property
    def gold(self) -> tuple[str, ...]:
        """The right labels."""
        return self._gold

    @property
    def disagreements(self) -> tuple[int, ...]:
        """The words that models give different labels."""
        columns = range(len(self._words))
        return tuple(place for place in columns if len({row.labels[place].label for row in self._rows}) > 1)

    def set_rows(self, words: Sequence[str], rows: Sequence[LabelRow], gold: Sequence[str] = ()) -> None:
        """Show words and labels."""
        self._words, self._rows, self._gold = tuple(words), tuple(rows), tuple(gold)
        self.show_count(len(self._words))
        self._measure()

    def part_rectangle(self, index: int) -> QRectF:
        width = self._edges[index + 1] - self._edges[index]
        left = self._edges[0] + self._edges[index] - self._edges[self._in_sight.start]
        return QRectF(left, 0, width, self._height)

    def sizeHint(self) -> QSize:
        return QSize(round(self._edges[-1]), round(self._height))

    def minimumSizeHint(self) -> QSize:
        widest = max(self.widths(), default=0.0)
        return QSize(round(self._edges[0] + widest + self.length(MORE)), self.sizeHint().height())

    def adopt_theme(self) -> None:
        self._measure()
        super().adopt_theme()

    def index_at(self, place: QPointF) -> int:
        if not 0 <= place.y() < self._height:
            return -1
        return next((at for at in self._in_sight if self.part_rectangle(at).contains(place)), -1)

    def readout(self, index: int) -> tuple[str, Sequence[str]]:
        return self._words[index], [self._in_words(row, index) for row in self._rows]

    @property
    def _height(self) -> float:
        return (1 + bool(self._gold) + len(self._rows)) * self.length(ROW)

    def _in_words(self, row: LabelRow, word: int) -> str:
        found = row.labels[word]
        said = f"{found.label} {percentage(found.probability)}" if found.label else "no label"
        return f"{row.name}: {said}{', wrong' if found.wrong else ''}"

    def description(self) -> str:
        if self.current >= 0:
            said = ", ".join(self._in_words(row, self.current) for row in self._rows)
            return f"{self._words[self.current]}: {said}"
        many = len(self.disagreements)
        return f"{len(self._words)} words, {many} disagreement{'' if many == 1 else 's'}"

    def _measure(self) -> None:
        """Where the columns begin, and where the last one ends."""
        named, typed = metrics(NAME_SIZE), metrics(SIZE, token=True, bold=True)
        names = [row.name for row in self._rows] + (["gold"] if self._gold else [])
        widest = max((named.horizontalAdvance(name) for name in names), default=0.0)
        edges = [min(widest, self.length(WIDEST_NAME)) + self.length(3 * PADDING)]
        for place, word in enumerate(self._words):
            written = [word, *self._gold[place : place + 1], *(row.labels[place].label for row in self._rows)]
            wide = max(typed.horizontalAdvance(text) for text in written)
            # A sum of fractions can be a little less than the word is wide, which would cut it.
            edges.append(edges[-1] + ceil(min(wide, self.length(WIDEST_WORD)) + self.length(2 * PADDING)) + 1)
        self._edges = tuple(edges)
        self.find_in_sight()
        self.updateGeometry()

    def widths(self) -> list[float]:
        return [after - before for before, after in pairwise(self._edges)]

    def room(self) -> tuple[float, float]:
        return self.width() - self._edges[0], self.length(MORE)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        marked = [(place, self.theme.note_wash) for place in self.disagreements]
        for place, color in (*marked, (self.hovered, self.theme.hover)):
            if place in self._in_sight:
                painter.box(self.part_rectangle(place), color, radius=4)
        self._draw_names(painter)
        for place in self._in_sight:
            self._draw_column(painter, place, self._words[place])
        self._draw_more(painter)
        if self.current in self._in_sight:
            area = self.part_rectangle(self.current).adjusted(1, 1, -1, -1)
            painter.box(area, edge=self.theme.accent, width=2, radius=4)
        self.draw_focus(painter)

    def _draw_more(self, painter: Painter) -> None:
        """Say on which side there are more words."""
        for area, words in self._dots():
            if words:
                painter.write(area, "…", self.theme.muted_text, where=CENTRED)

    def _dots(self) -> tuple[tuple[QRectF, range], ...]:
        """Where dots stand at either end, and the words that they stand for."""
        if not self._in_sight:
            return ()
        row, more = self.length(ROW), self.length(MORE)
        after = self.part_rectangle(self._in_sight.stop - 1).right()
        return (
            (QRectF(self._edges[0] - more, 0, more, row), range(self._in_sight.start)),
            (QRectF(after, 0, more, row), range(self._in_sight.stop, len(self._words))),
        )

    def beyond(self, place: QPointF) -> range:
        return next((words for area, words in self._dots() if area.contains(place)), range(0))

    def _draw_names(self, painter: Painter) -> None:
        row, measure = self.length(ROW), metrics(NAME_SIZE)
        room = self._edges[0] - self.length(2 * PADDING)
        names: list[tuple[str, QColor]] = [("gold", self.theme.muted_text)] if self._gold else []
        names += [(item.name, self.theme.ink(item.ink)) for item in self._rows]
        for place, (name, color) in enumerate(names, start=1):
            area = QRectF(0, place * row, room, row)
            painter.write(area, self.shown_in(area, name, measure), color, NAME_SIZE)

    def _draw_column(self, painter: Painter, place: int, word: str) -> None:
        row, padding = self.length(ROW), self.length(PADDING)
        area = QRectF(self.part_rectangle(place).adjusted(padding, 0, -padding, 0))
        area.setHeight(row)
        self._write(painter, area, word, self.theme.text)
        if self._gold:
            area.translate(0, row)
            self._write(painter, area, self._gold[place], self.theme.muted_text)
        for item in self._rows:
            area.translate(0, row)
            self._draw_label(painter, area, item.labels[place])

    def _draw_label(self, painter: Painter, area: QRectF, found: TableLabel) -> None:
        if not found.label:
            return
        ink = self.theme.warning if found.wrong else self.theme.accent
        self._write(painter, area.adjusted(0, 0, 0, -self.length(BAR)), found.label, ink, bold=True)
        bar = QRectF(area.left(), area.bottom() - self.length(BAR + 3), area.width(), self.length(BAR))
        painter.share(bar, found.probability, ink, radius=1.5)

    def _write(self, painter: Painter, area: QRectF, text: str, ink: QColor, bold: bool = False) -> None:
        shown = cut(text, area.width(), metrics(SIZE, token=True, bold=bold))
        painter.write(area, shown, ink, SIZE, bold=bold, token=True)
