"""Examples of a task: words with tags under them, texts beside their label, or pairs side by side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isqrt

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPaintEvent, QResizeEvent

from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.pixels import draw_pixels
from lmviz.app.widgets.kit.lines import InLines
from lmviz.app.widgets.kit.painter import CENTRED, Painter, cut
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable
from lmviz.app.widgets.text.chips import ROW, SIZE, ChipLayout, draw_unknown, lay_out

TAG_SIZE = 11
BETWEEN = 10  # pixels between two examples
COLUMN = 18  # pixels between two columns
PIXEL = 10  # pixels of the screen for one of a picture
WIDEST_LABEL = 160


@dataclass(frozen=True)
class ShownExample:
    """The words of a source, white space made visible, and what belongs to it.

    `tags` are as many as the words; `label` is that of the whole text; `target` are the words of the other
    language. `unknown` are the places of words that the vocabulary lacks. `pixels` are those of a picture,
    painted or not, which stands before the words; where there is a target too it stands in their place.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] = ()
    label: str = ""
    target: tuple[str, ...] = ()
    unknown: tuple[int, ...] = ()
    pixels: tuple[bool, ...] = ()


@dataclass(frozen=True)
class _Place:
    """Where an example is drawn: from which height, the chips of both sides, and the side of a picture."""

    top: float
    words: ChipLayout
    target: ChipLayout
    picture: float

    @property
    def bottom(self) -> float:
        return self.top + max(self.words.height, self.target.height, self.picture)


class ExamplesView(Pointable, InLines[tuple[_Place, ...]]):
    """`ExamplesView()`: place it in a scroll area.

    `set_examples(examples, special=())` shows a sequence of `ShownExample`; `special` are START and END as
    they are written. `set_current(index)` marks a word, counted over the words of all sources.
    Left and Right move the mark as a click would.
    """

    arrows, marks_clicked = ACROSS, True
    least = (160, ROW)

    def __init__(self) -> None:
        super().__init__()
        self._examples: tuple[ShownExample, ...] = ()
        self._special: frozenset[str] = frozenset()
        self._firsts: tuple[int, ...] = (0,)
        self.setAccessibleName("examples")

    @property
    def examples(self) -> tuple[ShownExample, ...]:
        """What is shown."""
        return self._examples

    def set_examples(self, examples: Sequence[ShownExample], *, special: Collection[str] = ()) -> None:
        """Show examples; the mark is taken away."""
        self._examples, self._special = tuple(examples), frozenset(special)
        self._firsts = tuple(accumulate((len(example.words) for example in examples), initial=0))
        self.lay_out_anew()
        self.show_count(0)
        self.show_count(self._firsts[-1])

    def description(self) -> str:
        return f"{len(self._examples)} examples"

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def part_rectangle(self, index: int) -> QRectF:
        """Where a word of a source is drawn."""
        number = next(n for n, first in enumerate(self._firsts[1:]) if index < first)
        place = self.laid_out()[number]
        if self._examples[number].pixels and not place.words.rectangles:
            row, column = divmod(index - self._firsts[number], isqrt(len(self._examples[number].pixels)))
            side = self.length(PIXEL)
            return QRectF(self._left + column * side, place.top + row * side, side, side)
        rectangle = place.words.rectangles[index - self._firsts[number]]
        return rectangle.translated(self._left + self._behind(place), place.top)

    def index_at(self, place: QPointF) -> int:
        for number, shown in enumerate(self.laid_out()):
            if shown.top <= place.y() < shown.bottom:
                left = self._left + self._behind(shown)
                found = shown.words.index_at(place - QPointF(left, shown.top))
                return self._firsts[number] + found if found >= 0 else -1
        return -1

    def height_of(self, layout: tuple[_Place, ...]) -> float:
        return layout[-1].bottom if layout else 0

    def _behind(self, place: _Place) -> float:
        """How far from the left an example's words begin: behind its picture."""
        return place.picture + self.length(COLUMN) if place.picture else 0.0

    @property
    def _left(self) -> float:
        """Where the words begin, behind the labels."""
        labels = {example.label for example in self._examples if example.label}
        if not labels:
            return 0.0
        measure = metrics(SIZE, token=True, bold=True)
        widest = max(measure.horizontalAdvance(label) for label in labels)
        return min(widest, self.length(WIDEST_LABEL)) + self.length(COLUMN)

    def lay_out(self, width: int) -> tuple[_Place, ...]:
        paired = any(example.target for example in self._examples)
        room = width - self._left
        column = (room - self.length(COLUMN)) / 2 if paired else room
        top, places, measure = 0.0, [], metrics(TAG_SIZE, token=True, bold=True)
        for example in self._examples:
            picture = self.length(PIXEL) * isqrt(len(example.pixels))
            shown = () if example.pixels and example.target else example.words
            beside = column - (picture + self.length(COLUMN) if picture else 0)
            tags = [measure.horizontalAdvance(tag) + self.length(4) for tag in example.tags]
            words = lay_out(shown, beside, self.theme, below=tags)
            places.append(_Place(top, words, lay_out(example.target, column, self.theme), picture))
            top = places[-1].bottom + self.length(BETWEEN)
        return tuple(places)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        left, half = self._left, (self.width() + self.length(COLUMN)) / 2
        for number, place in enumerate(self.laid_out()):
            if place.bottom < event.rect().top() or place.top > event.rect().bottom():
                continue
            example = self._examples[number]
            if example.label:
                self._draw_label(painter, example.label, place)
            draw_pixels(painter, QPointF(left, place.top), self.length(PIXEL), example.pixels)
            behind = left + self._behind(place)
            if place.words.rectangles:
                self._draw_words(painter, place.words, example.words, QPointF(behind, place.top))
                self._draw_below(painter, place, example, behind)
            target = behind if place.picture else half
            self._draw_words(painter, place.target, example.target, QPointF(target, place.top))
        self._draw_marks(painter)
        if self._current < 0:
            self.draw_focus(painter)

    def _draw_label(self, painter: Painter, label: str, place: _Place) -> None:
        room = self._left - self.length(COLUMN)
        measure = metrics(SIZE, token=True, bold=True)
        shown = cut(label, room, measure)
        area = QRectF(0, place.top, room + self.length(COLUMN), place.words.row)
        painter.write(area, shown, self.theme.accent, SIZE, bold=True, token=True)

    def _draw_words(
        self, painter: Painter, layout: ChipLayout, words: Sequence[str], corner: QPointF
    ) -> None:
        theme = self.theme
        painter.setFont(layout.font)
        chips = zip(layout.rectangles, layout.corners, layout.texts, strict=True)
        for n, (rectangle, place, text) in enumerate(chips):
            painter.box(rectangle.translated(corner), theme.tints[n % len(theme.tints)], radius=4)
            painter.setPen(theme.muted_text if words[n] in self._special else theme.text)
            painter.drawStaticText(place + corner, text)

    def _draw_below(self, painter: Painter, place: _Place, example: ShownExample, left: float) -> None:
        """Tags under their words, and a dotted line under those that the vocabulary lacks."""
        theme = self.theme
        for rectangle, tag in zip(place.words.rectangles, example.tags, strict=False):
            area = rectangle.translated(left, place.top + rectangle.height())
            painter.write(area, tag, theme.accent, TAG_SIZE, bold=True, token=True, where=CENTRED)
        for n in example.unknown:
            draw_unknown(painter, place.words.rectangles[n].translated(left, place.top))

    def _draw_marks(self, painter: Painter) -> None:
        marks = ((self.hovered, self.theme.strong_line, 1.2), (self._current, self.theme.accent, 2.0))
        for index, color, width in marks:
            if 0 <= index < self._firsts[-1]:
                painter.box(self.part_rectangle(index), edge=color, width=width, radius=5)
