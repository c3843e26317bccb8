"""A message in the window: an error or a suggestion, with one or two buttons."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtWidgets import QPushButton, QSizePolicy, QToolButton, QWidget

from lmviz.app.look.icons import icon
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.building import named, row
from lmviz.app.widgets.base.plain import Label, caption
from lmviz.base.errors import one_sentence


class Notice(QWidget):
    """One line that can be dismissed; hidden while it has nothing to say.

    `say(sentence)` shows a sentence; `offer(sentence, word, action)` adds a button that does something.
    `show_failures(failed, *answered)` says what fails until it has been done after all.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._sentence = Label(wraps=True)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._button = QPushButton()
        self._button.clicked.connect(self._act)
        self._action: Callable[[], object] | None = None
        self._dismiss = named(QToolButton(), description="dismiss", role="icon")
        self._dismiss.clicked.connect(self.hide)
        row(self._sentence, self._button, self._dismiss, on=self, margins=(16, 6, 10, 6))
        theme_switch().theme_changed.connect(self.adopt_theme)
        self.adopt_theme()
        self.hide()

    @property
    def sentence(self) -> str:
        """What is said; empty when nothing is."""
        return self.accessibleName() if not self.isHidden() else ""

    @property
    def waits(self) -> bool:
        """Whether it is shown until a person has answered."""
        return self._action is not None and not self.isHidden()

    def say(self, sentence: str) -> None:
        """Show a sentence."""
        self.offer(sentence, "", None)

    def show_failures(self, failed: SignalInstance, *answered: SignalInstance) -> None:
        """Say what a part of the session says failed, until one of the signals `answered`."""
        last = ""

        def say(sentence: str) -> None:
            nonlocal last
            last = sentence
            self.say(sentence)

        def take_back() -> None:
            nonlocal last
            if last and self.sentence == last:
                self.hide()
            last = ""

        failed.connect(say)
        for signal in answered:
            signal.connect(take_back)

    def offer(self, sentence: str, word: str, action: Callable[[], object] | None) -> None:
        """Show a sentence and a button, which goes away when it has been pressed."""
        self._sentence.setText(one_sentence(sentence))
        self.setAccessibleName(sentence)
        self._button.setText(caption(word))
        self._button.setVisible(action is not None)
        self._action = action
        self.show()
        self.updateGeometry()

    def make_room(self) -> None:
        """Hide a sentence that asks for nothing: a person has read it and goes on elsewhere."""
        if self._action is None:
            self.hide()

    def adopt_theme(self) -> None:
        """Take the colours of the theme in force."""
        self._dismiss.setIcon(icon("actions/close", current_theme().muted_text))

    def _act(self) -> None:
        action, self._action = self._action, None
        self.hide()
        if action is not None:
            action()
