"""A product or a sum along a text, in one line that ends at its newest word: a part above each word."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.canvas import metrics, once
from lmviz.app.widgets.base.figures import number, whole_percentage
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable

FACTOR_SIZE, WORD_SIZE = 11.0, 12.0
FACTOR, CHIP, LEAST_BAR = 16, 22, 6
TIMES = 16  # pixels at scale 1 between two words, for the sign
STRONGEST = 0.85


class ProductStrip(Pointable):
    """`ProductStrip()`: `set_product(words, factors, heights)`, each (word,); NaN where there is none.

    `set_sum(words, losses, mean)` shows the words' losses instead, with a line as high as their mean.
    The bar above a word is as high as its `heights`, the same for all. The strip ends at the newest word;
    the wheel, Left and Right look back. `set_current(index)` marks a word, `set_new(count)` the last ones;
    `set_forgotten(indices)` strikes words out; `set_readout(function)` gives the hover card's words.
    """

    takes_clicks = True
    usual, least = (600, FACTOR + 26 + CHIP), (120, FACTOR + LEAST_BAR + CHIP)

    def __init__(self) -> None:
        super().__init__()
        self._words: tuple[str, ...] = ()
        self._said: tuple[str, ...] = ()
        self._heights = np.zeros(0)
        self._sign, self._mean = "×", float("nan")
        self._behind = 0  # words that are hidden to the right while one looks back
        self._new = 0
        self._forgotten: frozenset[int] = frozenset()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("the factors of the product")

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the whole text, those that are out of sight too."""
        return self._words

    @property
    def in_sight(self) -> range:
        """The words that are drawn."""
        return range(self._first(), len(self._words) - self._behind)

    def set_product(self, words: Sequence[str], factors: np.ndarray, heights: np.ndarray) -> None:
        """Show a text, from its newest word back."""
        self._show(words, [factor_in_words(factor) for factor in factors], heights, "×", float("nan"))

    def set_sum(self, words: Sequence[str], losses: np.ndarray, mean: float) -> None:
        """Show the losses (word,) of a text and their mean, NaN where there is none."""
        self._show(words, ["–" if np.isnan(loss) else number(loss, 2) for loss in losses], losses, "+", mean)

    def _show(
        self, words: Sequence[str], said: Sequence[str], heights: np.ndarray, sign: str, mean: float
    ) -> None:
        self._words, self._said, self._heights = tuple(words), tuple(said), heights
        self._sign, self._mean = sign, mean
        self._behind = 0
        self._forgotten = frozenset()
        self.set_hovered(-1)
        self.show_count(len(words))

    def description(self) -> str:
        pairs = zip(self._words, self._said, strict=True)
        whole = f" {self._sign} ".join(f"{word} {said}" for word, said in pairs)
        return whole if np.isnan(self._mean) else f"{whole}; mean {number(self._mean, 2)}"

    def set_new(self, count: int) -> None:
        """How many of the last words were written after what was typed."""
        self._new = count
        self.update()

    @property
    def forgotten(self) -> frozenset[int]:
        """The words that are struck out."""
        return self._forgotten

    def set_forgotten(self, indices: Collection[int]) -> None:
        """Strike out the words that a factor does not depend on."""
        if self._forgotten != frozenset(indices):
            self._forgotten = frozenset(indices)
            self.update()

    def look_back(self, words: int) -> None:
        """Move so many words back; a negative number goes towards the newest."""
        most = len(self._words) - 1
        behind = min(max(self._behind + words, 0), max(most, 0))
        if words > 0 and self._first() == 0:
            return
        if behind != self._behind:
            self._behind = behind
            self.update()

    def part_rectangle(self, index: int) -> QRectF:
        """Where a word and what stands above it are drawn; empty while it is out of sight."""
        return self._places().get(index, QRectF())

    @once
    def _widths(self) -> list[float]:
        factor, word = metrics(FACTOR_SIZE), metrics(WORD_SIZE, token=True)
        factors = [factor.horizontalAdvance(said) for said in self._said]
        words = [word.horizontalAdvance(name) + self.length(12) for name in self._words]
        return [max(pair) for pair in zip(factors, words, strict=True)]

    def _margin(self) -> float:
        """The room on the left for how many words are hidden there."""
        return metrics(FACTOR_SIZE).horizontalAdvance("‹ 888") + self.length(6)

    @once
    def _first(self) -> int:
        widths, right = self._widths(), float(self.width() - 2)
        last = len(widths) - self._behind
        for index in range(last - 1, -1, -1):
            right -= widths[index]
            if right < (self._margin() if index > 0 else 0) and index < last - 1:
                return index + 1
            right -= self.length(TIMES)
        return 0

    @once
    def _places(self) -> dict[int, QRectF]:
        """The columns of the words in sight, ending at the right edge, or beginning at the left one."""
        widths, shown = self._widths(), self.in_sight
        gap = self.length(TIMES)
        total = sum(widths[index] for index in shown) + gap * max(0, len(shown) - 1)
        left = 1.0 if shown.start == 0 and not self._behind else self.width() - 1 - total
        left = max(left, self._margin() if shown.start else 1.0)
        places = {}
        for index in shown:
            places[index] = QRectF(left, 0, widths[index], self.height())
            left += widths[index] + gap
        return places

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        places = self._places()
        for index, place in places.items():
            self._draw_word(painter, index, place, is_first=index == self.in_sight.start)
        self._draw_mean(painter, places)
        self._draw_hidden(painter)
        self.draw_focus(painter)

    def _draw_word(self, painter: Painter, index: int, place: QRectF, *, is_first: bool) -> None:
        theme, chip, above = self.theme, self.length(CHIP), self.length(FACTOR)
        height = self._height(index)
        marked = index in (self._current, self.hovered)
        is_new = index >= len(self._words) - self._new
        newest = index == len(self._words) - 1
        is_strong = newest or marked
        said, ink = self._said[index], theme.text if is_strong else theme.muted_text
        head = place.adjusted(-8, 0, 8, above - place.height())
        painter.write(head, said, ink, FACTOR_SIZE, bold=is_strong, where=CENTRED)
        if not is_first:
            sign = QRectF(place.left() - self.length(TIMES), 0, self.length(TIMES), above)
            painter.write(sign, self._sign, theme.faint_text, where=CENTRED)
        room = self._bar_room()
        bar = max(height * room, self.length(1.5))
        width = min(self.length(20), place.width())
        color = QColor(theme.validation if is_new else theme.accent)
        color.setAlphaF(0.75)
        if not np.isnan(self._heights[index]):
            top = above + self.length(2) + room - bar
            area = QRectF(place.center().x() - width / 2, top, width, bar)
            painter.box(area, color, radius=2 / theme.scale)
        box = QRectF(place.left(), place.bottom() - chip, place.width(), chip - 1)
        struck = index in self._forgotten
        ground = theme.surface if struck else mix(theme.surface, theme.share_all, STRONGEST * height)
        edge = theme.validation if is_new else theme.accent if marked else ground
        inside = box.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.box(inside, ground, edge, 1.4 if is_new or marked else 1, radius=4)
        ink = theme.muted_text if struck else theme.on(ground) if height > 0.45 else theme.text
        painter.write(box, self._words[index], ink, WORD_SIZE, bold=is_strong, token=True, where=CENTRED)
        if struck:
            half = QPointF(box.width() / 2 - 2, 0)
            painter.line(box.center() - half, box.center() + half, theme.key, 1.6)

    def _draw_mean(self, painter: Painter, places: Mapping[int, QRectF]) -> None:
        """A line across the bars, as high as their mean."""
        if not places or not np.isfinite(self._mean):
            return
        room = self._bar_room()
        high = self.length(FACTOR) + self.length(2) + room * (1 - self._mean / self._highest())
        left = min(place.left() for place in places.values())
        right = max(place.right() for place in places.values())
        painter.line(QPointF(left, high), QPointF(right, high), self.theme.key, 1.4)

    def _bar_room(self) -> float:
        """The height of the highest bar."""
        return max(1.0, self.height() - self.length(FACTOR) - self.length(CHIP) - self.length(4))

    def _height(self, index: int) -> float:
        """The height of a word's bar, as a share of the room: all of it where the word is impossible."""
        height = self._heights[index]
        if not np.isfinite(height):
            return 0.0 if np.isnan(height) else 1.0
        return float(height) / self._highest()

    @once
    def _highest(self) -> float:
        finite = self._heights[np.isfinite(self._heights)]
        return float(np.max(finite, initial=0.0)) or 1.0

    def _draw_hidden(self, painter: Painter) -> None:
        """How many words there are to the left."""
        hidden = self.in_sight.start if self._words else 0
        if hidden:
            area = QRectF(0, self.height() - self.length(CHIP), self._margin(), self.length(CHIP))
            painter.write(area, f"‹ {hidden:,}", self.theme.muted_text, FACTOR_SIZE)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.angleDelta().x()
        self.look_back(1 if turned > 0 else -1)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ACROSS:
            self.look_back(-ACROSS[event.key()])
        else:
            super().keyPressEvent(event)


def factor_in_words(probability: float) -> str:
    """A probability in whole per cent: "97 %", "0.002 %"; a dash where there is none."""
    return "–" if np.isnan(probability) else whole_percentage(probability)
