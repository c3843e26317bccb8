"""A small card next to the pointer with the exact value under it, shown without delay."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.kit.painter import Painter

SHADOW = 10
PADDING = 11
DISTANCE = 14
TITLE_SIZE = 12.5
LINE_SIZE = 12


class HoverCard(Canvas):
    """`HoverCard.beside(widget, place, title, lines)` shows the window's one card; `HoverCard.leave(widget)`.

    `place` is in the widget's coordinates. The card keeps inside the window and lets the pointer through. A
    widget whose numbers change under the pointer calls `HoverCard.renew(widget, readout)`.
    """

    spoken_as = "ToolTip"

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._title = ""
        self._lines: tuple[str, ...] = ()
        self._spoken_for: QWidget | None = None
        self._place = QPoint()
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    @classmethod
    def beside(cls, widget: QWidget, place: QPoint, title: str, lines: Sequence[str] = ()) -> HoverCard:
        """Show a title in bold monospace and muted lines, below and to the right of a place."""
        window = widget.window()
        card = cls._of(window) or cls(window)
        card._spoken_for, card._place = widget, widget.mapTo(window, place)
        card._fill(title, lines)
        return card

    @classmethod
    def renew(cls, widget: QWidget, readout: Callable[[], tuple[str, Sequence[str]]] | None) -> None:
        """Say anew what is under the pointer, where the card is the widget's; None hides it.

        `readout` gives the title and the lines, and is called only where the card can be seen.
        """
        card = cls._of(widget.window())
        if card is None or card.isHidden() or card._spoken_for is not widget:
            return
        if readout is None:
            card.hide()
        else:
            card._fill(*readout())

    @classmethod
    def leave(cls, widget: QWidget) -> None:
        """Hide the card of the widget's window."""
        card = cls._of(widget.window())
        if card is not None:
            card.hide()

    @classmethod
    def bring_in_front(cls, window: QWidget) -> None:
        """Put the window's card over everything that lies over the window."""
        card = cls._of(window)
        if card is not None:
            card.raise_()

    @classmethod
    def _of(cls, window: QWidget) -> HoverCard | None:
        return window.findChild(cls, options=Qt.FindChildOption.FindDirectChildrenOnly)

    @property
    def title(self) -> str:
        """What the card says in bold."""
        return self._title

    @property
    def lines(self) -> tuple[str, ...]:
        """What the card says below."""
        return self._lines

    def _fill(self, title: str, lines: Sequence[str]) -> None:
        self._title, self._lines, place = title, tuple(lines), self._place
        self.setAccessibleName("\n".join((title, *lines)))
        size = self.sizeHint()
        distance, window = round(self.length(DISTANCE)), self.window()
        left, top = place.x() + distance - SHADOW, place.y() + distance - SHADOW
        if left + size.width() > window.width():
            left = place.x() - distance - size.width() + SHADOW
        if top + size.height() > window.height():
            top = place.y() - distance - size.height() + SHADOW
        self.setGeometry(max(0, left), max(0, top), size.width(), size.height())
        self.update()
        self.raise_()
        self.show()

    def sizeHint(self) -> QSize:
        title, line = metrics(TITLE_SIZE, token=True, bold=True), metrics(LINE_SIZE)
        widths = [
            title.horizontalAdvance(self._title),
            *(line.horizontalAdvance(text) for text in self._lines),
        ]
        margin = 2 * (self.length(PADDING) + SHADOW)
        height = self._title_height + self._line_height * len(self._lines)
        return QSize(round(max(widths) + margin), round(height + margin - self.length(4)))

    @property
    def _title_height(self) -> float:
        return self.length(18) if self._title else 0

    @property
    def _line_height(self) -> float:
        return self.length(17)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        theme, radius = self.theme, self.length(6)
        panel = QRectF(self.rect()).adjusted(SHADOW, SHADOW, -SHADOW, -SHADOW)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(0, 0, 0, 6 if theme.name == "light" else 30))
        for spread in range(1, SHADOW, 2):
            shade = panel.adjusted(-spread, 2 - spread, spread, 2 + spread)
            painter.drawRoundedRect(shade, radius + spread, radius + spread)
        painter.setPen(theme.strong_line)
        painter.setBrush(theme.surface)
        painter.drawRoundedRect(panel.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        left, top = panel.left() + self.length(PADDING), panel.top() + self.length(PADDING - 2)
        painter.setFont(theme.token_font(TITLE_SIZE, painter.font().weight().DemiBold))
        row = QRectF(left, top, panel.width(), self._title_height)
        painter.write(row, self._title, theme.text)
        painter.setPen(theme.muted_text)
        painter.setFont(theme.font(LINE_SIZE))
        for index, line in enumerate(self._lines):
            place = top + self._title_height + index * self._line_height
            row = QRectF(left, place, panel.width(), self._line_height)
            painter.drawText(row, Qt.AlignmentFlag.AlignVCenter, line)
