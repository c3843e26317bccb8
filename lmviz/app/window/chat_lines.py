"""The prefix as a chat: one line for each who has spoken, and for the beginning of the answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, QTimer
from PySide6.QtWidgets import QGridLayout, QLineEdit, QPushButton, QSizePolicy, QWidget

from lmviz.app.session.chat import ASSISTANT, QUESTION, SYSTEM, USER
from lmviz.app.widgets.base.building import (
    STRETCH,
    column,
    give_menu,
    name_with,
    named,
    reach_by_tab,
    row,
    sheet,
)
from lmviz.app.widgets.base.plain import Label, caption, paragraph
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.base.scrolling import QuietScrollArea, scrolling
from lmviz.app.widgets.controls.switch import Switch
from lmviz.app.window.text_line import TextLine

if TYPE_CHECKING:
    from lmviz.app.session.session import Session

HINTS = {
    SYSTEM: "what the assistant is told beforehand",
    USER: "ask something",
    ASSISTANT: "what the assistant says",
}
GOES_ON = "the model goes on from here"
INKS = {SYSTEM: "muted", USER: "translation", ASSISTANT: "title"}
"""The roles of the style sheet for the names of who speaks."""

GAP = 6
MOST_LINES = 4
"""So many are seen at once; more are scrolled."""


@dataclass(frozen=True, eq=False)
class _Line:
    """What stands in a row: who speaks, what is said, and for a turn that was added a button."""

    role: str
    name: Label
    edit: QLineEdit
    remove: QuietButton | None

    def discard(self) -> None:
        """Take it away at once: a line that follows may have its name."""
        for widget in (self.name, self.edit, self.remove):
            if widget is not None:
                widget.hide()
                widget.setParent(None)
                widget.deleteLater()


class ChatLines(QWidget):
    """What is said in the chat. It is shown while the prefix is one; `show_chat()` follows each change.

    Tab reaches its lines from `before`.
    """

    def __init__(self, session: Session, before: QWidget) -> None:
        super().__init__()
        self._before = before
        self._chat, self._say = session.chat, session.say
        self._lines: list[_Line] = []
        self._add = QuietButton("add_turn_button", "+ turn", description="choose who speaks next")
        self._add.setToolTip(paragraph("Choose who speaks next: this ends the answer that has begun"))
        self._add.setProperty("menu", True)
        self._roles = give_menu(self._add)
        self._roles.aboutToShow.connect(self._offer_roles)
        page = QWidget()
        self._grid = QGridLayout(page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(GAP)
        self._area = _LinesArea(page)
        self._above = QuietButton("lines_above_button", "", "link", "show the lines above")
        self._below = QuietButton("lines_below_button", "", "link", "show the lines below")
        self._hidden_lines = sheet(column(self._above, STRETCH, self._below))
        row((scrolling(page, area=self._area), 1), self._hidden_lines, on=self)
        bar = self._area.verticalScrollBar()
        self._count_soon = QTimer(self, singleShot=True, interval=0)  # it changes what it counts
        self._count_soon.timeout.connect(self._count_hidden)
        bar.valueChanged.connect(lambda _: self._count_soon.start())
        bar.rangeChanged.connect(lambda *_: self._follow_range())
        self._above.clicked.connect(lambda: bar.setValue(bar.minimum()))
        self._below.clicked.connect(lambda: bar.setValue(bar.maximum()))
        self._count_hidden()
        self.hide()

    @property
    def user(self) -> QLineEdit:
        """The line of the question that was asked last."""
        return [line.edit for line in self._lines if line.role == USER][-1]

    def show_chat(self) -> None:
        """Show what is said now: called when the chat has changed."""
        self.setVisible(self._chat.is_on)
        if not self._chat.is_on:
            return
        roles, default = [role for role, _ in self._chat.lines], self._chat.default_system
        if roles != [line.role for line in self._lines]:
            self._build(roles)
        for line, (_, words) in zip(self._lines, self._chat.lines, strict=True):
            if line.edit.text() != words:
                line.edit.setText(words)
        system = self._lines[0]
        for widget in (system.name, system.edit):
            widget.setVisible(default is not None)
        system.edit.setPlaceholderText(default or HINTS[SYSTEM])
        own = "What the template itself says, as long as you write nothing here"
        system.edit.setToolTip(paragraph(own) if default else "")

    def _build(self, roles: list[str]) -> None:
        """A line for each who speaks. One that is new gets the keys, to be written in."""
        is_longer = bool(self._lines) and len(roles) > len(self._lines)
        for line in self._lines:
            line.discard()
        counts: Counter[str] = Counter()
        self._lines = []
        for number, role in enumerate(roles[:-1]):
            counts[role] += 1
            name = role if counts[role] == 1 and role != ASSISTANT else f"{role}_{counts[role]}"
            self._put(number, role, name, HINTS[role], was_added=number > QUESTION)
        self._put(len(roles) - 1, ASSISTANT, ASSISTANT, GOES_ON)
        self._grid.addWidget(self._add, len(roles) - 1, 2)
        self._lead_tab()
        if is_longer:
            self._lines[-2].edit.setFocus()

    def _lead_tab(self) -> None:
        """Have Tab go down the lines as they are read: Qt puts each new one behind all of the window."""
        before = self._before
        controls = [
            widget for line in self._lines for widget in (line.edit, line.remove) if widget is not None
        ]
        for control in (*controls, self._add, self._above, self._below):
            reach_by_tab(before, control)
            before = control

    def _put(self, number: int, role: str, name: str, hint: str, *, was_added: bool = False) -> None:
        said_by, edit = Label(role, role=INKS[role]), named(TextLine(), f"{name}_edit")
        edit.setAccessibleName(f"what the {name.replace('_', ' ')} says")
        edit.setPlaceholderText(hint)
        edit.textChanged.connect(lambda text: self._chat.say(number, text))
        edit.shortened.connect(self._say)
        edit.installEventFilter(self)
        name_with(said_by, edit)
        self._grid.addWidget(said_by, number, 0)
        self._grid.addWidget(edit, number, 1)
        remove = None
        if was_added:
            remove = QuietButton(f"remove_{name}_button", "remove", "link", f"take back what the {name} says")
            remove.clicked.connect(lambda: self._chat.remove_turn(number))
            self._grid.addWidget(remove, number, 2)
        self._lines.append(_Line(role, said_by, edit, remove))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The line that gets the keys is scrolled to."""
        if event.type() == QEvent.Type.FocusIn and isinstance(watched, QWidget):
            self._bring_into_sight(watched)
        return super().eventFilter(watched, event)

    def _bring_into_sight(self, edit: QWidget) -> None:
        """A line, and those around it: Qt's own way would leave out what follows a line that is seen."""
        self._area.ensureVisible(0, edit.geometry().center().y(), 0, 2 * edit.height())

    def _follow_range(self) -> None:
        """There are more lines or fewer than before: the one that has the keys stays in sight."""
        for line in self._lines:
            if line.edit.hasFocus():
                self._bring_into_sight(line.edit)
        self._count_soon.start()

    def _count_hidden(self) -> None:
        """Say how many lines are out of sight above, and below."""
        bar = self._area.verticalScrollBar()
        top, bottom = bar.value(), bar.value() + self._area.viewport().height()
        middles = [line.edit.geometry().center().y() for line in self._lines if not line.edit.isHidden()]
        above, below = sum(y < top for y in middles), sum(y > bottom for y in middles)
        self._hidden_lines.setVisible(bar.maximum() > bar.minimum())
        for button, sign, count in ((self._above, "↑", above), (self._below, "↓", below)):
            button.setText(f"{sign} {count} more" if count else "")
            button.setEnabled(count > 0)

    def _offer_roles(self) -> None:
        """Those who may speak next, as the template has it."""
        menu = self._roles
        menu.clear()
        for role in self._chat.roles_to_add():
            menu.addAction(caption(role), lambda role=role: self._chat.add_turn(role))
        if menu.isEmpty():
            menu.addAction("the template takes no further turn").setEnabled(False)


class _LinesArea(QuietScrollArea):
    """As high as its lines, but never more than a few of them."""

    def __init__(self, page: QWidget) -> None:
        super().__init__()
        self._page = page
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        wanted = self._page.sizeHint()
        line = max((edit.sizeHint().height() for edit in self._page.findChildren(QLineEdit)), default=0)
        last = max((button.sizeHint().height() for button in self._page.findChildren(QPushButton)), default=0)
        most = (MOST_LINES - 1) * (line + GAP) + max(line, last)  # the button is the highest of the last line
        return QSize(wanted.width(), min(wanted.height(), most))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Another number of lines needs another height."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self.sizeHint().height())


class ChatSwitch(QWidget):
    """On, the prefix is a chat, and plain text otherwise; shown where the model has a template for chats."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._chat = session.chat
        self._switch = Switch("chat_switch", "read what is typed as a question in a chat")
        row(self._switch, Label("chat", role="muted"), on=self)
        self._switch.toggled.connect(self._chat.turn_on)
        for changed in (self._chat.changed, session.reading.encoding_changed):
            changed.connect(self._show_chat)
        self._show_chat()

    def _show_chat(self) -> None:
        self.setVisible(self._chat.is_possible)
        self._switch.setChecked(self._chat.is_on)
