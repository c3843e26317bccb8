"""Cards one below the other, each with a name and bars on scales that all cards share; one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.kit.pointing import DOWN, Pointable

GAP, EDGE, TITLE, LINE, THICK = 8, 8, 20, 17, 7
NAMES, FIGURES = 62, 66
"""Widths of what stands left and right of a bar."""


@dataclass(frozen=True)
class MeasuredBar:
    """A bar by its name; `share` of the longest of all cards, None while it is not known, and the figure."""

    name: str
    share: float | None
    figure: str


@dataclass(frozen=True)
class MeasuredCard:
    """What is chosen by `name`; `aside` stands right of the title, and `refused` says why it cannot be."""

    name: str
    title: str
    aside: str
    bars: tuple[MeasuredBar, ...]
    refused: str = ""


class MeasuredCards(Pointable):
    """`MeasuredCards()`: `set_cards(cards, current="")`, signal `card_chosen(str)`.

    A click chooses, and so do Up and Down.
    """

    card_chosen = Signal(str)
    arrows = DOWN
    least = (210, None)

    def __init__(self) -> None:
        super().__init__()
        self._cards: tuple[MeasuredCard, ...] = ()
        self.setAccessibleName("what is learned")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def cards(self) -> tuple[MeasuredCard, ...]:
        """What can be chosen."""
        return self._cards

    @property
    def chosen(self) -> str:
        """The name that is chosen; empty where none is."""
        return self._cards[self._current].name if 0 <= self._current < len(self._cards) else ""

    def set_cards(self, cards: Sequence[MeasuredCard], current: str = "") -> None:
        """Show cards, one of them chosen; emits nothing."""
        if (tuple(cards), current) == (self._cards, self.chosen):
            return
        self._cards = tuple(cards)
        self.show_count(len(cards))
        self.set_current(next((at for at, card in enumerate(cards) if card.name == current), -1))
        self.updateGeometry()
        self.update()

    def description(self) -> str:
        return "; ".join(
            f"{card.title}, {card.aside}: {', '.join(f'{bar.name} {bar.figure}' for bar in card.bars)}"
            for card in self._cards
        )

    def clicked_on(self, index: int) -> None:
        if index != self._current:
            self.set_current(index)
            self.card_chosen.emit(self.chosen)

    def sizeHint(self) -> QSize:
        bars = max((len(card.bars) for card in self._cards), default=0)
        height = 2 * EDGE + TITLE + bars * LINE
        count = max(1, len(self._cards))
        return QSize(round(self.length(270)), round(self.length(count * (height + GAP) - GAP)))

    def part_rectangle(self, index: int) -> QRectF:
        gap = self.length(GAP)
        height = (self.height() - gap * (len(self._cards) - 1)) / max(1, len(self._cards))
        return QRectF(0, index * (height + gap), self.width(), height)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        for index, card in enumerate(self._cards):
            self._draw(painter, card, self.part_rectangle(index), index)
        chosen = self.part_rectangle(self._current) if self._current >= 0 else QRectF(self.rect())
        self.draw_focus(painter, chosen.adjusted(2, 2, -2, -2))

    def _draw(self, painter: Painter, card: MeasuredCard, place: QRectF, index: int) -> None:
        theme, chosen = self.theme, index == self._current
        usual = theme.hover if index == self.hovered and self.isEnabled() else theme.surface
        wash, edge = (theme.accent_wash, theme.accent) if chosen else (usual, theme.line)
        painter.box(place.adjusted(1, 1, -1, -1), wash, edge, 2 if chosen else 1, radius=6)
        inner = place.adjusted(self.length(12), self.length(EDGE), -self.length(12), 0)
        line = QRectF(inner.left(), inner.top(), inner.width(), self.length(TITLE - 3))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme.font(11.5))
        painter.write(line, card.aside, theme.muted_text, where=right)
        painter.setFont(theme.font(12.5, QFont.Weight.DemiBold))
        painter.write(line, card.title, theme.accent if chosen else theme.text)
        painter.setFont(theme.font(11.5))
        top = inner.top() + self.length(TITLE)
        for bar in card.bars:
            row = QRectF(inner.left(), top, inner.width(), self.length(LINE))
            painter.write(row, bar.name, theme.muted_text)
            track = row.adjusted(self.length(NAMES), 0, -self.length(FIGURES), 0)
            track = QRectF(
                track.left(), row.center().y() - self.length(THICK) / 2, track.width(), self.length(THICK)
            )
            painter.fillRect(track, theme.line)
            if bar.share is not None:
                filled = QRectF(track)
                filled.setWidth(max(self.length(2), track.width() * min(1.0, bar.share)))
                painter.fillRect(filled, theme.accent if chosen else theme.muted_text)
            figures = QRectF(
                row.right() - self.length(FIGURES - 8), row.top(), self.length(FIGURES - 8), row.height()
            )
            painter.write(figures, bar.figure, theme.text)
            top += self.length(LINE)
