"""Cards with a name and some figures below it, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.arrows import ACROSS
from lmviz.app.widgets.base.pointable import Pointable

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

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cards: tuple[PresetCard, ...] = ()
        self._current = ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def cards(self) -> tuple[PresetCard, ...]:
        """What can be chosen."""
        return self._cards

    @property
    def current(self) -> str:
        """The name that is chosen; empty where none is."""
        return self._current

    def set_cards(self, cards: Sequence[PresetCard], current: str = "") -> None:
        """Show cards, one of them chosen; emits nothing."""
        if (tuple(cards), current) == (self._cards, self._current):
            return
        self._cards, self._current = tuple(cards), current
        said = (f"{card.name}: {', '.join(card.lines)}" for card in self._cards)
        self.setAccessibleDescription("; ".join(said))
        self.updateGeometry()
        self.update()

    def card_rectangle(self, name: str) -> QRectF:
        """Where a card is drawn."""
        return self._place([card.name for card in self._cards].index(name))

    def sizeHint(self) -> QSize:
        lines = 1 + max((len(card.lines) for card in self._cards), default=0)
        return QSize(round(self.length(270)), round(self.length(2 * EDGE + lines * LINE)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self.length(200)), self.sizeHint().height())

    def _place(self, index: int) -> QRectF:
        gap = self.length(GAP)
        width = (self.width() - gap * (len(self._cards) - 1)) / max(1, len(self._cards))
        return QRectF(index * (width + gap), 0, width, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = self.begin()
        for index, card in enumerate(self._cards):
            self._draw(painter, card, self._place(index), index)
        names = [card.name for card in self._cards]
        if self.hasFocus() and self._current in names:
            self.draw_focus(painter, self._place(names.index(self._current)).adjusted(2, 2, -2, -2))

    def _draw(self, painter: QPainter, card: PresetCard, place: QRectF, index: int) -> None:
        theme, chosen = self.theme, card.name == self._current
        usual = theme.hover if index == self.hovered and self.isEnabled() else theme.surface
        painter.setBrush(theme.accent_wash if chosen else usual)
        painter.setPen(QPen(theme.accent if chosen else theme.line, self.length(2 if chosen else 1)))
        painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), self.length(6), self.length(6))
        line = QRectF(place.left(), place.top() + self.length(EDGE), place.width(), self.length(LINE))
        painter.setFont(self._font(card.name, NAME_SIZE, place.width(), QFont.Weight.DemiBold))
        painter.setPen(theme.accent if chosen else theme.text)
        painter.drawText(line, Qt.AlignmentFlag.AlignCenter, card.name)
        for number, words in enumerate(card.lines):
            line.translate(0, self.length(LINE))
            painter.setFont(self._font(words, LINE_SIZE if number else FIRST_SIZE, place.width()))
            painter.setPen(theme.muted_text if number else theme.text)
            painter.drawText(line, Qt.AlignmentFlag.AlignCenter, words)

    def _font(
        self, words: str, size: float, width: float, weight: QFont.Weight = QFont.Weight.Normal
    ) -> QFont:
        """The font of a size, or a smaller one in which the words fit into a card."""
        font, room = self.theme.font(size, weight), width - 2 * self.length(SIDE)
        taken = QFontMetricsF(font).horizontalAdvance(words)
        return font if taken <= room else self.theme.font(size * room / taken, weight)

    def index_at(self, place: QPointF) -> int:
        found = (index for index in range(len(self._cards)) if self._place(index).contains(place))
        return next(found, -1)

    def clicked_on(self, index: int) -> None:
        self._choose(index)

    def _choose(self, index: int) -> None:
        if 0 <= index < len(self._cards) and self._cards[index].name != self._current:
            self._current = self._cards[index].name
            self.update()
            self.card_chosen.emit(self._current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        names = [card.name for card in self._cards]
        if event.key() in ACROSS and names:
            at = names.index(self._current) if self._current in names else -1
            self._choose(at + ACROSS[event.key()])
        else:
            super().keyPressEvent(event)
