"""The card: a surface with a title on the left and a unit or a control on the right."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from lmviz.app.look.roles import PROJECTOR_SCALE
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import CENTRED, Painter, cut
from lmviz.base.errors import one_sentence

RADIUS = 8
MARGIN = 14
USUAL_TITLE, LEAST_TITLE = 200, 120
"""Pixels at scale 1 from which on a title may end in dots: up to a projector's type, and in larger type."""
TITLE_HEIGHT = 20  # pixels at scale 1
PALE = 0.62
"""How much of the surface lies over what a late card still shows."""
DASHES = (4.0, 3.0)  # in widths of the line


class Card(Canvas):
    """`Card(title, aside="", body=None)`: one body under a line of title and aside.

    `set_title(text)`; `set_aside(text or widget)`, the unit or control on the right; `set_control(widget)`, a
    control that stands there beside any unit;
    `set_body(widget)` replaces the body; `layout_below` takes further widgets under the body.
    `set_provisional(True)` draws it with dashes and a muted title, for what nobody has chosen yet.
    `set_placeholder(sentence)` says in the place of the body what will stand there.
    `set_invitation(invitation)` has it said there with a button.
    `complain(sentence)` says under the title line what failed.
    `set_mark(number)` puts a number before the title, of where to look first; 0 takes it away.
    `set_late(words)` pales all that it shows, and says in a corner what that is of, or what is waited for.
    """

    spoken_as = "Grouping"

    def __init__(
        self,
        title: str,
        aside: str | QWidget = "",
        body: QWidget | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._title = _Title(title, role="title")
        self._unit = MutedLine(right=True)
        # the title comes first
        self._unit.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._control: QWidget | None = None
        self._control_stays = False  # beside a unit
        self._body: QWidget | None = None
        self._placeholder: EmptyText | Invitation | None = None  # made when there is first nothing to show
        self._complaint: Label | None = None  # made when something first fails
        self._provisional = False
        self._veil: _Veil | None = None  # made when it is first late
        self._mark: Label | None = None  # made for the panels that one looks at first
        self._head = QHBoxLayout()
        self.layout_below = QVBoxLayout(self)
        self.layout_below.addLayout(self._head)
        self._head.addWidget(self._title)
        self._head.addWidget(self._unit, 1)
        self.set_title(title)
        self.set_aside(aside)
        if body is not None:
            self.set_body(body)
        self._measure()

    @property
    def title(self) -> str:
        """The words on the left."""
        return self._title.text()

    @property
    def aside(self) -> str:
        """The words on the right; they are cut short with dots where there is no room."""
        return self._unit.text

    @property
    def body(self) -> QWidget | None:
        """The widget that the card frames."""
        return self._body

    def set_title(self, title: str) -> None:
        """The words on the left; they also name the card for assistive tools."""
        self._title.setText(title)
        self.setAccessibleName(title)
        self._fit_control()

    @property
    def mark(self) -> int:
        """The number before the title; 0 where there is none."""
        return 0 if self._mark is None or self._mark.isHidden() else int(self._mark.text())

    def set_mark(self, number: int) -> None:
        """Say that this is to be looked at as the first, second or third; 0 takes it away."""
        if self._mark is None:
            self._mark = Label(role="mark")
            self._mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
            self._head.insertWidget(0, self._mark)
        self._mark.setText(str(number))
        order = "Look here first" if number == 1 else f"Look here as number {number}"
        self._mark.setToolTip(paragraph(order))
        self._mark.setAccessibleName(order)
        self._mark.setVisible(number > 0)
        self._fit_control()

    def set_aside(self, aside: str | QWidget, explanation: str = "") -> None:
        """What is shown on the right: a unit in muted words, which the pointer explains, or a control."""
        if aside is self._control:
            return
        if not (self._control_stays and isinstance(aside, str)):
            self._replace_control(None if isinstance(aside, str) else aside)
        self._unit.set_text(aside if isinstance(aside, str) else "", explanation)

    def set_control(self, control: QWidget) -> None:
        """A control on the right, which stays there whatever the unit is."""
        self._replace_control(control)
        self._control_stays = True
        control.show()

    def _replace_control(self, control: QWidget | None) -> None:
        if self._control is not None:
            self._control.hide()
            self._control.deleteLater()
        self._control, self._control_stays = control, False
        if control is not None:
            self._head.addWidget(control)

    def set_body(self, body: QWidget) -> None:
        """Put a widget into the card, instead of the one that was there."""
        if self._body is not None:
            self.layout_below.removeWidget(self._body)
            self._body.deleteLater()
        self._body = body
        self.layout_below.insertWidget(1 if self._complaint is None else 2, body, 1)
        if self.placeholder:
            body.hide()

    @property
    def placeholder(self) -> str:
        """The sentence in the place of the body; empty while the body is there."""
        return "" if self._placeholder is None else self._placeholder.text()

    def set_placeholder(self, sentence: str) -> None:
        """Say in the place of the body what will stand there; an empty sentence brings the body back."""
        if self._placeholder is None:
            if not sentence:
                return
            self._hold(EmptyText())
        placeholder = self._placeholder
        assert placeholder is not None, "it was made above"
        placeholder.set_text(sentence)
        placeholder.setVisible(bool(sentence))
        if self._body is not None:
            self._body.setVisible(not sentence)

    def set_invitation(self, invitation: Invitation) -> None:
        """Have what stands in the place of the body say its sentences with a button below: before any."""
        self._hold(invitation)
        invitation.hide()

    def _hold(self, placeholder: EmptyText | Invitation) -> None:
        self._placeholder = placeholder
        place = self.layout_below.count() if self._body is None else self.layout_below.indexOf(self._body)
        self.layout_below.insertWidget(place, placeholder, 1)

    def set_provisional(self, provisional: bool) -> None:
        """Draw the edge with dashes and mute the title, or draw both as ever."""
        if provisional != self._provisional:
            self._provisional = provisional
            set_role(self._title, "provisional" if provisional else "title")
            self.update()

    @property
    def late(self) -> str:
        """What is said over its pale picture; empty where it shows what is asked now."""
        return "" if self._veil is None else self._veil.words

    def set_late(self, words: str) -> None:
        """Pale what is shown, for it answers an older question; empty words bring the picture back."""
        if words == self.late:
            return
        if self._veil is None:
            self._veil = _Veil(self, self._title)
        self._veil.words = words
        self._veil.setGeometry(self.rect())
        self._veil.setVisible(bool(words))
        self._veil.raise_()
        if self._complaint is not None:
            self._complaint.raise_()
        self._veil.update()
        self.setAccessibleDescription(words)

    @property
    def complaint(self) -> str:
        """The sentence about what failed; empty where none is shown."""
        return "" if self._complaint is None else self._complaint.text()

    def complain(self, sentence: str) -> None:
        """Say under the title line what failed; an empty sentence takes the line away."""
        if self._complaint is None:
            if not sentence:
                return
            self._complaint = Label()
            self._complaint.setObjectName("complaint")
            self._complaint.setProperty("role", "warning")
            self._complaint.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._complaint.setWordWrap(True)
            self.layout_below.insertWidget(1, self._complaint)
        self._complaint.setText(one_sentence(sentence))
        self._complaint.setVisible(bool(sentence))
        self._complaint.raise_()  # above the veil

    def adopt_theme(self) -> None:
        self._measure()
        super().adopt_theme()
        self._fit_control()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_control()
        if self._veil is not None:
            self._veil.setGeometry(self.rect())

    @property
    def room_beside_title(self) -> int:
        """How wide a control can be without cutting the title, in pixels."""
        gaps = self._head.spacing() * (self._head.count() - 1)
        title = self._title.sizeHint().width() if self._title.text() else 0
        title += self._mark.sizeHint().width() if self._mark is not None and self.mark else 0
        return round(self.width() - 2 * self.length(MARGIN)) - title - gaps

    def _fit_control(self) -> None:
        if isinstance(self._control, FittingRow):
            self._control.fit(self.room_beside_title)

    def _measure(self) -> None:
        margin = round(self.length(MARGIN))
        self.layout_below.setContentsMargins(margin, round(margin * 0.8), margin, margin)
        self.layout_below.setSpacing(round(self.length(10)))
        self._head.setSpacing(round(self.length(8)))
        self._head.setContentsMargins(0, 0, 0, 0)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        corner = math.ceil(self.length(RADIUS))
        inside = (self.rect().adjusted(corner, 2, -corner, -2), self.rect().adjusted(2, corner, -2, -corner))
        if any(area.contains(event.rect()) for area in inside):  # what is behind a picture that changed
            painter.fillRect(event.rect(), self.theme.surface)
            return
        pen = QPen(self.theme.strong_line if self._provisional else self.theme.line, 1)
        if self._provisional:
            pen.setDashPattern(DASHES)
        edge = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.box(edge, self.theme.surface, pen, radius=RADIUS)


class _Title(Painted, Label):
    """The title: where it has too little room it ends in dots, and the pointer brings the whole."""

    def sizeHint(self) -> QSize:
        return super().sizeHint().expandedTo(QSize(0, round(TITLE_HEIGHT * current_theme().scale)))

    def minimumSizeHint(self) -> QSize:
        hint, scale = self.sizeHint(), current_theme().scale
        is_usual = scale <= PROJECTOR_SCALE or theme_switch().projector  # where lengths grow with the window
        least = USUAL_TITLE if is_usual else LEAST_TITLE
        return QSize(min(hint.width(), round(least * scale)), hint.height())

    @property
    def shown(self) -> str:
        """As much of it as has room."""
        return cut(self.text(), self.contentsRect().width() + 1, QFontMetricsF(self.font()))

    def event(self, event: QEvent) -> bool:
        is_asked = event.type() == QEvent.Type.ToolTip and self.shown != self.text()
        if isinstance(event, QHelpEvent) and is_asked:
            QToolTip.showText(event.globalPos(), paragraph(self.text()), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.shown == self.text():
            Label.paintEvent(self, event)
        else:
            super().paintEvent(event)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        painter.setFont(self.font())
        painter.write(QRectF(self.contentsRect()), self.shown, self.palette().windowText().color())


class _Veil(Canvas):
    """Lies over a card that is late; the pointer goes through."""

    spoken_as = "StaticText"

    def __init__(self, card: Card, title: QWidget) -> None:
        super().__init__(card)
        self.words = ""
        self._title = title
        self.setObjectName("late")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        pale = QColor(self.theme.surface)
        pale.setAlphaF(PALE)
        pen = QPen(self.theme.strong_line, 1)
        pen.setDashPattern(DASHES)
        painter.setPen(pen)
        painter.setBrush(pale)
        radius, margin, height = self.length(RADIUS), self.length(MARGIN), self.length(22)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        head = QRectF(self._title.geometry())
        head.setLeft(min(head.right() + margin, self.width() / 2))
        head.setRight(self.width() - margin)
        shown = cut(self.words, head.width() - height, metrics(12))
        chip = QRectF(0, 0, metrics(12).horizontalAdvance(shown) + height, height)
        chip.moveCenter(head.center())
        chip.moveRight(head.right())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.fillRect(head.united(chip), self.theme.surface)  # over a control that stands there
        painter.setBrush(self.theme.line)
        painter.drawRoundedRect(chip, height / 2, height / 2)
        painter.write(chip, shown, self.theme.text, 12, where=CENTRED)
