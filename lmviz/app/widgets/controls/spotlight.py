"""A frame around one control of a window, with a small card next to it that says what to do."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lmviz.app.look.theme import current_theme

AROUND, WIDTH, GAP, EDGE = 5, 300, 12, 8
FOLLOW_EVERY = 100  # milliseconds; an ancestor that moves the control sends it no event


class Spotlight(QWidget):
    """`Spotlight(window)`; `point_at(control, sentence, heading)`; `confirm(is_done)`; `stop()`.

    The frame lets the pointer through. While the control cannot be seen, the card offers to go back to it.
    Signals: `next_wanted`, `back_wanted`, `return_wanted`, `end_wanted`.
    """

    next_wanted = Signal()
    back_wanted = Signal()
    return_wanted = Signal()
    end_wanted = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._control: QWidget | None = None
        self._watched: tuple[QWidget, ...] = ()
        self._card = QFrame(window)
        self._card.setObjectName("tour_card")
        self._heading = QLabel()
        self._heading.setProperty("role", "muted")
        self._done = QLabel("✓ done")
        self._done.setObjectName("tour_done")
        self._done.setProperty("role", "title")
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        self._next = _button("tour_next", "next")
        self._next.clicked.connect(self.next_wanted)
        self._back = _button("tour_back", "back")
        self._back.clicked.connect(self.back_wanted)
        self._return = _button("tour_return", "show me where")
        self._return.clicked.connect(self.return_wanted)
        self._end = _button("tour_end", "end the tour")
        self._end.setToolTip("Escape does the same while nothing is pinned. Help → Tour starts it again.")
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

    def point_at(
        self,
        control: QWidget,
        sentence: str,
        heading: str,
        *,
        watched: Iterable[QWidget] = (),
        is_first: bool = False,
        is_last: bool = False,
    ) -> None:
        """Frame a control of the window, with a sentence next to it that does not cover `watched`."""
        self._control, self._watched = control, tuple(watched)
        self._heading.setText(heading)
        self._sentence.setText(sentence)
        self._card.setAccessibleName(sentence)
        self._back.setVisible(not is_first)
        self._next.setText("done" if is_last else "next")
        self.confirm(False)
        self._follow.start()
        self.show()
        self._card.show()
        self._place()

    def confirm(self, is_done: bool) -> None:
        """Show whether what the card asks for was done."""
        self._done.setVisible(is_done)

    def stop(self) -> None:
        """Point at nothing."""
        self._control, self._watched = None, ()
        self._follow.stop()
        self.hide()
        self._card.hide()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self._heading)
        top.addStretch(1)
        top.addWidget(self._done)
        buttons = QHBoxLayout()
        buttons.setSpacing(12)
        buttons.addWidget(self._end)
        buttons.addStretch(1)
        for button in (self._return, self._back, self._next):
            buttons.addWidget(button)
        column = QVBoxLayout(self._card)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(8)
        column.addLayout(top)
        column.addWidget(self._sentence)
        column.addLayout(buttons)

    def _place(self) -> None:
        control, window = self._control, self.window()
        frame = QRect() if control is None else _seen_part(control, window)
        self.setVisible(not frame.isEmpty())
        self._return.setVisible(frame.isEmpty())
        if frame.isEmpty():
            return  # the card stays where it was, and offers to return
        frame = frame.adjusted(-AROUND, -AROUND, AROUND, AROUND) & window.rect()
        if frame != self.geometry():
            self.setGeometry(frame)
        width = round(WIDTH * current_theme().scale)
        height = max(self._card.heightForWidth(width), self._card.minimumSizeHint().height())
        watched = [_seen_part(widget, window) for widget in self._watched]
        card = beside(frame, QRect(0, 0, width, height), window.rect(), watched)
        if card != self._card.geometry():
            self._card.setGeometry(card)
        self.raise_()
        self._card.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(current_theme().accent, 2))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)


def beside(frame: QRect, card: QRect, window: QRect, watched: Iterable[QRect] = ()) -> QRect:
    """Where a card goes: below, above, right or left of a frame, where it covers it least.

    Of the places that cover the frame equally, the one is taken that leaves most free of what is `watched`;
    where the frame lies in something watched, it may go to that one's side as well.
    """
    width, height = card.width(), card.height()
    watched = tuple(watched)
    wanted = []
    for area in (frame, *(area for area in watched if area.contains(frame))):
        across = (area.left() + (area.width() - width) // 2, area.left(), area.right() + 1 - width)
        along = (area.top() + (area.height() - height) // 2, area.top(), area.bottom() + 1 - height)
        wanted += [
            *((left, area.bottom() + GAP) for left in across),
            *((left, area.top() - GAP - height) for left in across),
            *((area.right() + GAP, top) for top in along),
            *((area.left() - GAP - width, top) for top in along),
        ]
    room = window.adjusted(EDGE, EDGE, -EDGE - width, -EDGE - height)
    places = [
        QRect(min(max(x, room.left()), room.right()), min(max(y, room.top()), room.bottom()), width, height)
        for x, y in wanted
    ]
    covered = lambda place: (_area(place & frame), sum(_area(place & area) for area in watched))  # noqa: E731
    return min(places, key=covered)


def _seen_part(widget: QWidget, window: QWidget) -> QRect:
    """What of a widget is not cut off by what it is in, in the window; empty when it cannot be seen."""
    if not widget.isVisible():
        return QRect()
    seen, inside = widget.rect(), widget
    while inside is not window and (around := inside.parentWidget()) is not None:
        seen.translate(inside.pos())
        seen &= around.rect()
        inside = around
    return seen


def _area(area: QRect) -> int:
    return max(0, area.width()) * max(0, area.height())


def _button(name: str, text: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName(name)
    button.setProperty("role", "link")
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
