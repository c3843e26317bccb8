"""The prefix as a chat: one line each for the system, the user and the beginning of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QWidget

from lmviz.app.session.chat import ASSISTANT, SYSTEM, USER
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.controls.switch import Switch

if TYPE_CHECKING:
    from lmviz.app.session.session import Session

HINTS = {
    SYSTEM: "what the assistant is told beforehand",
    USER: "ask something",
    ASSISTANT: "the model goes on from here",
}

INKS = {SYSTEM: "muted", USER: "translation", ASSISTANT: "title"}
"""The roles of the style sheet for the names of who speaks."""


class ChatLines(QWidget):
    """What is said in the chat. It is shown while the prefix is one."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._chat = session.chat
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(6)
        self._lines: dict[str, tuple[Label, QLineEdit]] = {}
        for row, role in enumerate((SYSTEM, USER, ASSISTANT)):
            name, line = Label(role), QLineEdit()
            set_role(name, INKS[role])
            name.setBuddy(line)
            line.setObjectName(f"{role}_edit")
            line.setAccessibleName(f"what the {role} says")
            line.textChanged.connect(lambda text, role=role: self._chat.say(role, text))
            grid.addWidget(name, row, 0)
            grid.addWidget(line, row, 1)
            self._lines[role] = name, line
        self._chat.changed.connect(self._show_chat)
        self._show_chat()

    @property
    def user(self) -> QLineEdit:
        """The line of the question."""
        return self._lines[USER][1]

    def _show_chat(self) -> None:
        self.setVisible(self._chat.is_on)
        if not self._chat.is_on:
            return
        default = self._chat.default_system
        for role, (name, line) in self._lines.items():
            line.setPlaceholderText(HINTS[role])
            if line.text() != self._chat.said(role):
                line.setText(self._chat.said(role))
            for widget in (name, line):
                widget.setVisible(role != SYSTEM or default is not None)
        line = self._lines[SYSTEM][1]
        if default:
            line.setPlaceholderText(default)
            line.setToolTip(paragraph("What the template says of itself, as long as you write nothing here"))
        else:
            line.setToolTip("")


class ChatSwitch(QWidget):
    """On, the prefix is a chat, and plain text otherwise; shown where the model has a template for chats."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._chat = session.chat
        self._switch = Switch("chat_switch", "read what is typed as a question in a chat")
        label = Label("chat")
        set_role(label, "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._switch)
        row.addWidget(label)
        self._switch.toggled.connect(self._chat.turn_on)
        for changed in (self._chat.changed, session.reading.encoding_changed):
            changed.connect(self._show_chat)
        self._show_chat()

    def _show_chat(self) -> None:
        self.setVisible(self._chat.is_possible)
        self._switch.setChecked(self._chat.is_on)
