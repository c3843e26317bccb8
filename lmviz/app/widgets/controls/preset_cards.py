"""Cards with a name and some figures below it, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.kit.pointing import ACROSS, Pointable

GAP, LINE, EDGE, SIDE = 8, 17, 9, 4
NAME_SIZE, FIRST_SIZE, LINE_SIZE = 12.5, 12.5, 11.0


@dataclass(frozen=True)
class PresetCard:
    """A name, and its figures: the first line is the most important."""

    name: str
    lines: tuple[str, ...]


class PresetCards(Pointable):
    """`PresetCards()`: `set_cards(cards, current="")`, signal `card_chosen(str)`.

    A click chooses, and so do Left and Right.
    """

    card_chosen = Signal(str)
    arrows = ACROSS
    least = (200, None)

    def __init__(self) -> None:
        super().__init__()
        self._cards: tuple[PresetCard, ...] = ()
        self.setAccessibleName("cards")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def cards(self) -> tuple[PresetCard, ...]:
        """What can be chosen."""
        return self._cards

    @property
    def chosen(self) -> str:
        """The name that is chosen; empty where none is."""
        return self._cards[self._current].name if self._current >= 0 else ""

    def set_cards(self, cards: Sequence[PresetCard], current: str = "") -> None:
        """Show cards, one of them chosen; emits nothing."""
        if (tuple(cards), current) == (self._cards, self.chosen):
            return
        self._cards = tuple(cards)
        self.show_count(len(cards))
        self.set_current(next((at for at, card in enumerate(cards) if card.name == current), -1))

    def description(self) -> str:
        return "; ".join(f"{card.name}: {', '.join(card.lines)}" for card in self._cards)

    def clicked_on(self, index: int) -> None:
        if index != self._current:
            self.set_current(index)
            self.card_chosen.emit(self.chosen)

    def sizeHint(self) -> QSize:
        lines = 1 + max((len(card.lines) for card in self._cards), default=0)
        return QSize(round(self.length(270)), round(self.length(2 * EDGE + lines * LINE)))

    def part_rectangle(self, index: int) -> QRectF:
        gap = self.length(GAP)
        width = (self.width() - gap * (len(self._cards) - 1)) / max(1, len(self._cards))
        return QRectF(index * (width + gap), 0, width, self.height())

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        for index, card in enumerate(self._cards):
            self._draw(painter, card, self.part_rectangle(index), index)
        chosen = self.part_rectangle(self._current) if self._current >= 0 else QRectF(self.rect())
        self.draw_focus(painter, chosen.adjusted(2, 2, -2, -2))

    def _draw(self, painter: Painter, card: PresetCard, place: QRectF, index: int) -> None:
        theme, chosen = self.theme, index == self._current
        usual = theme.hover if index == self.hovered and self.isEnabled() else theme.surface
        wash, edge = (theme.accent_wash, theme.accent) if chosen else (usual, theme.line)
        painter.box(place.adjusted(1, 1, -1, -1), wash, edge, 2 if chosen else 1, radius=6)
        line = QRectF(place.left(), place.top() + self.length(EDGE), place.width(), self.length(LINE))
        painter.setFont(self._font(card.name, NAME_SIZE, place.width(), QFont.Weight.DemiBold))
        painter.write(line, card.name, theme.accent if chosen else theme.text, where=CENTRED)
        for number, words in enumerate(card.lines):
            line.translate(0, self.length(LINE))
            painter.setFont(self._font(words, LINE_SIZE if number else FIRST_SIZE, place.width()))
            painter.write(line, words, theme.muted_text if number else theme.text, where=CENTRED)

    def _font(
        self, words: str, size: float, width: float, weight: QFont.Weight = QFont.Weight.Normal
    ) -> QFont:
        """The font of a size, or a smaller one in which the words fit into a card."""
        font, room = self.theme.font(size, weight), width - 2 * self.length(SIDE)
        taken = QFontMetricsF(font).horizontalAdvance(words)
        return font if taken <= room else self.theme.font(size * room / taken, weight)
