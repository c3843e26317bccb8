"""A card with a small drawing for each family, one of them chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Signal
from PySide6.QtGui import QFont, QHelpEvent, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip

from lmviz.app.look.color_maps import mix
from lmviz.app.widgets.base.canvas import fitted
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.diagrams.family_shapes import draw_shape
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import ACROSS, DOWN, Pointable

COLUMNS = 3
CARD_HEIGHT = 66
GAP = 8
MARGIN, SIZES = 5, (12, 11.5, 11, 10.5, 10, 9.5)  # beside a title, and of its type
REFUSED = 0.35  # opacity


@dataclass(frozen=True)
class FamilyCard:
    """One family: the name it is chosen by, its title, and a sentence on what it does."""

    name: str
    title: str
    sentence: str = ""


class FamilyCards(Pointable):
    """`FamilyCards(cards)`: three in a row; `chosen`, `choose(name)`, signal `family_chosen(str)`.

    A click, the arrow keys or the first letter choose; the sentence is the tooltip. `set_refused({name:
    sentence})` fades those that cannot be chosen, whose tooltip says why.
    """

    family_chosen = Signal(str)
    arrows = ACROSS | {key: COLUMNS * way for key, way in DOWN.items()}
    least = (230, None)

    def __init__(self, cards: Sequence[FamilyCard]) -> None:
        super().__init__()
        self._cards = tuple(cards)
        self._refused: dict[str, str] = {}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("model family")
        self.show_count(len(cards))
        self.set_current(0)

    @property
    def chosen(self) -> str:
        """The name of the chosen family."""
        return self._cards[self._current].name

    def choose(self, name: str) -> None:
        """Choose a family without a signal; an unknown name changes nothing."""
        found = (at for at, card in enumerate(self._cards) if card.name == name)
        self.set_current(next(found, self._current))

    def set_refused(self, refused: Mapping[str, str]) -> None:
        """Which cannot be chosen, and why; all others can."""
        if dict(refused) != self._refused:
            self._refused = dict(refused)
            self.update()

    @property
    def refused(self) -> dict[str, str]:
        """Those that cannot be chosen, and why."""
        return self._refused

    def description(self) -> str:
        card = self._cards[self._current]
        return f"{card.title}. {card.sentence}"

    def sizeHint(self) -> QSize:
        rows = -(-len(self._cards) // COLUMNS)
        return QSize(round(self.length(270)), round(self.length(rows * (CARD_HEIGHT + GAP) - GAP)))

    def part_rectangle(self, index: int) -> QRectF:
        gap, row, column = self.length(GAP), index // COLUMNS, index % COLUMNS
        width, height = (self.width() - gap * (COLUMNS - 1)) / COLUMNS, self.length(CARD_HEIGHT)
        return QRectF(column * (width + gap), row * (height + gap), width, height)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        for index, card in enumerate(self._cards):
            self._draw(painter, card, self.part_rectangle(index), index)
        if self.hasFocus():
            self.draw_focus(painter, self.part_rectangle(self._current).adjusted(2, 2, -2, -2))

    def _draw(self, painter: Painter, card: FamilyCard, place: QRectF, index: int) -> None:
        theme, chosen = self.theme, index == self._current
        refused = card.name in self._refused
        usual = theme.hover if index == self.hovered and not refused else theme.surface
        painter.setOpacity(REFUSED if refused else 1.0)
        wash, edge = (theme.accent_wash, theme.accent) if chosen else (usual, theme.line)
        painter.box(place.adjusted(1, 1, -1, -1), wash, edge, 2 if chosen else 1, radius=6)
        ink = theme.accent if chosen else theme.muted_text
        faint = mix(theme.accent_wash, theme.accent, 0.18) if chosen else theme.line
        left, top = place.left() + self.length(10), place.top() + self.length(10)
        draw_shape(painter, card.name, QPointF(left, top), ink, faint)
        title, size = fitted(card.title, place.width() - 2 * self.length(MARGIN), SIZES)
        painter.setFont(theme.font(size, QFont.Weight.Medium if chosen else QFont.Weight.Normal))
        words = QRectF(place.left(), place.bottom() - self.length(25), place.width(), self.length(18))
        wide = painter.fontMetrics().horizontalAdvance(title) + self.length(MARGIN)
        words.setLeft(max(place.left() + self.length(MARGIN), min(left, words.right() - wide)))
        painter.write(words, title, theme.text)
        painter.setOpacity(1.0)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self.index_at(QPointF(event.pos()))
            card = self._cards[index] if index >= 0 else None
            sentence = self._refused.get(card.name, card.sentence) if card is not None else ""
            QToolTip.showText(event.globalPos(), paragraph(sentence), self)
            return True
        return super().event(event)

    def clicked_on(self, index: int) -> None:
        if index != self._current and self._cards[index].name not in self._refused:
            self.set_current(index)
            self.family_chosen.emit(self.chosen)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        letters = [card.title[:1].casefold() for card in self._cards]
        way = self.arrows.get(event.key(), 0)
        if event.text() and event.text().casefold() in letters:
            self.clicked_on(letters.index(event.text().casefold()))
        elif way:
            ahead = range(self._current + way, len(self._cards) if way > 0 else -1, way)
            able = (at for at in ahead if self._cards[at].name not in self._refused)
            self.clicked_on(next(able, self._current))
        else:
            super().keyPressEvent(event)
