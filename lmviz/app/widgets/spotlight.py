"""A frame around one control of a window, and a small card beside it that says what to do."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lmviz.app.theme import current_theme

AROUND, WIDTH, GAP, EDGE = 5, 300, 12, 8
FOLLOW_EVERY = 100  # milliseconds; a control is moved by any of its ancestors, which tell nobody else


class Spotlight(QWidget):
    """`Spotlight(window)`; `point_at(control, heading, sentence, word)`; `stop()`.

    The frame lets the pointer through. Signals: `next_wanted`, `end_wanted`.
    """

    next_wanted = Signal()
    end_wanted = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._control: QWidget | None = None
        self._card = QFrame(window)
        self._card.setObjectName("tour_card")
        self._heading = QLabel()
        self._heading.setProperty("role", "muted")
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        self._next = _button("tour_next", "next")
        self._next.clicked.connect(self.next_wanted)
        self._end = _button("tour_end", "end the tour")
        self._end.clicked.connect(self.end_wanted)
        self._lay_out()
        self._follow = QTimer(self)
        self._follow.setInterval(FOLLOW_EVERY)
        self._follow.timeout.connect(self._place)
        self.stop()

    @property
    def control(self) -> QWidget | None:
        """What is pointed at."""
        return self._control

    @property
    def card(self) -> QWidget:
        """The card with the sentence."""
        return self._card

    @property
    def sentence(self) -> str:
        """What the card says; empty when nothing is pointed at."""
        return self._sentence.text() if self._card.isVisible() else ""

    def point_at(self, control: QWidget, heading: str, sentence: str, word: str = "next") -> None:
        """Frame a control of the window, with a sentence beside it and a word on the button that goes on."""
        self._control = control
        self._heading.setText(heading)
        self._sentence.setText(sentence)
        self._card.setAccessibleName(sentence)
        self._next.setText(word)
        self._follow.start()
        self.show()
        self._card.show()
        self._place()

    def stop(self) -> None:
        """Point at nothing."""
        self._control = None
        self._follow.stop()
        self.hide()
        self._card.hide()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.addWidget(self._end)
        buttons.addStretch(1)
        buttons.addWidget(self._next)
        column = QVBoxLayout(self._card)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(8)
        column.addWidget(self._heading)
        column.addWidget(self._sentence)
        column.addLayout(buttons)

    def _place(self) -> None:
        control, window = self._control, self.parentWidget()
        if control is None or not control.isVisible():
            self.hide()
            return
        seen = QRect(control.mapTo(window, QPoint(0, 0)), control.size()) & window.rect()
        frame = seen.adjusted(-AROUND, -AROUND, AROUND, AROUND)
        self.show()
        if frame != self.geometry():
            self.setGeometry(frame)
        width = round(WIDTH * current_theme().scale)
        height = max(self._card.heightForWidth(width), self._card.minimumSizeHint().height())
        card = beside(frame, QRect(0, 0, width, height), window.rect())
        if card != self._card.geometry():
            self._card.setGeometry(card)
        self.raise_()
        self._card.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(current_theme().accent, 2))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)


def beside(frame: QRect, card: QRect, window: QRect) -> QRect:
    """Where a card goes: below, above, right or left of a frame, where it covers it least."""
    left = frame.left() + (frame.width() - card.width()) // 2
    top = frame.top() + (frame.height() - card.height()) // 2
    wanted = (
        (left, frame.bottom() + GAP),
        (left, frame.top() - GAP - card.height()),
        (frame.right() + GAP, top),
        (frame.left() - GAP - card.width(), top),
    )
    room = window.adjusted(EDGE, EDGE, -EDGE - card.width(), -EDGE - card.height())
    places = [
        QRect(min(max(x, room.left()), room.right()), min(max(y, room.top()), room.bottom()), *_size(card))
        for x, y in wanted
    ]
    return min(places, key=lambda place: _area(place & frame))


def _size(area: QRect) -> tuple[int, int]:
    return area.width(), area.height()


def _area(area: QRect) -> int:
    return max(0, area.width()) * max(0, area.height())


def _button(name: str, text: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName(name)
    button.setProperty("role", "link")
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


if __name__ == "__main__":
    from lmviz.app.widgets.demo import show

    def build() -> QWidget:
        page = QWidget()
        button = QPushButton("a control", page)
        button.move(120, 30)
        light = Spotlight(page)
        page.showEvent = lambda event: light.point_at(button, "1 of 1", "Press this, and see what it does.")
        return page

    show("Spotlight", "", build, (420, 240))
