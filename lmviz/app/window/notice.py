"""A message in the window: an error or a suggestion, with one or two buttons."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, SignalInstance
from PySide6.QtWidgets import QPushButton, QSizePolicy, QToolButton, QWidget

from lmviz.app.look.icons import icon
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.building import named, reach_by_tab, row
from lmviz.app.widgets.base.plain import Label, caption
from lmviz.base.errors import one_sentence

LEAST_TIME = 3.0  # seconds
LETTERS_A_SECOND = 12


@dataclass(frozen=True)
class _Message:
    """A sentence, with a button or none."""

    sentence: str
    word: str = ""
    action: Callable[[], object] | None = None


def seconds_to_read(sentence: str) -> float:
    """How long a sentence stays that nothing has shown to be wrong."""
    return max(LEAST_TIME, len(sentence) / LETTERS_A_SECOND)


class Notice(QWidget):
    """One line that can be dismissed; hidden while it has nothing to say.

    `say(sentence)` shows a sentence; `offer(sentence, word, action)` adds a button that does something. An
    offer that a sentence covers comes back when that is gone. `show_failures` says what fails until it has
    been done after all. What only other events have made old stays until it may have been read, since no
    person may have caused them: a training shows its model, a timer runs out.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._messages: list[_Message] = []  # the last is shown; below it are offers that wait
        self._said_at = 0.0
        self._old = ""  # what goes as soon as it may have been read
        self._goes_soon = QTimer(self, singleShot=True)
        self._goes_soon.timeout.connect(lambda: self.withdraw(self._old))
        self._is_laid_out = False
        self.hide()

    def _lay_out(self) -> None:
        """Have what it shows, which is made when there first is something to say."""
        self._is_laid_out = True
        self._sentence = Label(wraps=True)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._button = QPushButton()
        self._button.clicked.connect(self._act)
        self._dismiss = named(QToolButton(), description="dismiss", role="icon")
        self._dismiss.clicked.connect(lambda: self.withdraw(self.sentence))
        row(self._sentence, self._button, self._dismiss, on=self, margins=(16, 6, 10, 6))
        reach_by_tab(self, self)
        theme_switch().theme_changed.connect(self.adopt_theme)
        self.adopt_theme()

    @property
    def sentence(self) -> str:
        """What is said; empty when nothing is."""
        return self._messages[-1].sentence if self._messages else ""

    @property
    def waits(self) -> bool:
        """Whether it is shown until a person has answered."""
        return bool(self._messages) and self._messages[-1].action is not None

    def say(self, sentence: str) -> None:
        """Show a sentence."""
        self.offer(sentence, "", None)

    def offer(self, sentence: str, word: str, action: Callable[[], object] | None) -> None:
        """Show a sentence and a button, which goes away when it has been pressed."""
        gone = (sentence, self._old)
        waiting = [each for each in self._messages if each.action is not None and each.sentence not in gone]
        self._show([*waiting, _Message(sentence, word, action)])

    def withdraw(self, sentence: str) -> None:
        """Take a sentence away, wherever it stands."""
        if any(each.sentence == sentence for each in self._messages):
            self._show([each for each in self._messages if each.sentence != sentence])

    def withdraw_when_read(self, sentence: str) -> None:
        """Take a sentence away that is old by now, once it has been shown for as long as it takes to read."""
        left = self._said_at + seconds_to_read(sentence) - time.monotonic()
        if sentence != self.sentence or left <= 0:
            self.withdraw(sentence)
        else:
            self._old = sentence
            self._goes_soon.start(round(1000 * left))

    def clear(self) -> None:
        """Take everything away."""
        self._show([])

    def make_room(self) -> None:
        """Take a sentence away that asks for nothing: a person has read it and goes on elsewhere."""
        if not self.waits:
            self.withdraw(self.sentence)

    def show_failures(
        self, failed: SignalInstance, *answered: SignalInstance, old_after: Sequence[SignalInstance] = ()
    ) -> None:
        """Say what a part of the session says failed, until one of the signals `answered`.

        After one of `old_after` it goes as well, but not before it may have been read.
        """
        last = ""

        def say(sentence: str) -> None:
            nonlocal last
            last = sentence
            self.say(sentence)

        def take_back(withdraw: Callable[[str], None]) -> None:
            nonlocal last
            said, last = last, ""
            if said and self.sentence == said:
                withdraw(said)

        failed.connect(say)
        for signal in answered:
            signal.connect(lambda *_: take_back(self.withdraw))
        for signal in old_after:
            signal.connect(lambda *_: take_back(self.withdraw_when_read))

    def adopt_theme(self) -> None:
        """Take the colours of the theme in force."""
        self._dismiss.setIcon(icon("actions/close", current_theme().muted_text))

    def _act(self) -> None:
        if self._messages:  # and no second press of what is already gone
            message = self._messages[-1]
            self.withdraw(message.sentence)
            if message.action is not None:
                message.action()

    def _show(self, messages: list[_Message]) -> None:
        """Show the last of these, or nothing."""
        self._messages, self._old = messages, ""
        self._goes_soon.stop()
        self._said_at = time.monotonic()
        if messages and not self._is_laid_out:
            self._lay_out()
        self.setVisible(bool(messages))
        if messages:
            said = messages[-1]
            self._sentence.setText(one_sentence(said.sentence))
            self.setAccessibleName(said.sentence)
            self._button.setText(caption(said.word))
            self._button.setVisible(said.action is not None)
            self.updateGeometry()
