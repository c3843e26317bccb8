"""The base of both games: their start page, starting a game, and the message if something is missing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from lmviz.app.panels.compare.text_to_come import lacking_in_text
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.library import FIRST_MODEL, FIRST_TEXT, MODEL_OFFER
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, stack
from lmviz.app.widgets.base.invitation import Invitation

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

T = TypeVar("T")

OF_CAPTIONERS = "Open a language model to play against."
OF_TRANSLATORS = "See By length, or open a language model to play against."


class GamePanel(Panel):
    """A game with the held-out part of the open text, against the models that are open.

    Subclasses name what has to be there first, begin a game from what `deal` found, and forget it.
    """

    title = ""
    key: ClassVar[Key]
    """Under which the game asks the reading thread."""
    needs_model = ""
    needs_text = ""
    needs_held_out = ""

    def __init__(self, session: Session, play_button: str, next_button: str) -> None:
        super().__init__(session)
        self.next = named(QPushButton("Next"), next_button)
        self.next.clicked.connect(self.hold_keyboard)
        self.seed = 0
        self.invitation = Invitation(play_button)
        self.invitation.accepted.connect(self._play_or_open)
        self.pages = stack(self.invitation)
        self.game_card = self.add_card(self.title, "", self.pages)
        session.text.changed.connect(self._end)
        self.follow(
            session.text.changed,
            session.text.reading_begun,
            session.text.reading_given_up,
            session.library.model_changed,
            session.library.models_changed,
            session.work.ready_changed,
        )

    def out_of_place(self, model: OpenedModel) -> str:
        if model.reads_source:
            what = "picture" if model.reads_picture else "source"
            instead = OF_CAPTIONERS if model.reads_picture else OF_TRANSLATORS
            return f"{model.name} {model.does}: its words depend on a {what}. {instead}"
        return super().out_of_place(model)

    def add_page(self, page: QWidget) -> None:
        """The page that is shown while one plays."""
        self.pages.addWidget(page)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return presses the button that goes on: Play, or Next after an answer."""
        button = self.invitation.button if self.invitation.isVisible() else self.next
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and button.isVisible():
            button.click()
        else:
            super().keyPressEvent(event)

    def hold_keyboard(self) -> None:
        """Keep the keyboard in this panel while what has it is about to be hidden.

        Qt would pass it on to whatever stands next, which may be in the panel behind another tab.
        """
        self.setFocus()

    def hold_keyboard_of(self, *widgets: QWidget) -> None:
        """Keep the keyboard in this panel if one of these, which are about to be hidden, has it."""
        focused = QApplication.focusWidget()
        if any(widget is focused or (focused and widget.isAncestorOf(focused)) for widget in widgets):
            self.hold_keyboard()

    def pass_keyboard_to(self, widget: QWidget) -> None:
        """Give a widget the keyboard, if it was held for it."""
        if self.hasFocus() and widget.isVisible():
            widget.setFocus()

    def show_page(self, index: int) -> None:
        """Show the invitation, 0, or a page of the game; the keyboard stays in this panel."""
        if index != self.pages.currentIndex():
            self.hold_keyboard_of(self.pages)
        self.pages.setCurrentIndex(index)
        if index == 0:
            self.pass_keyboard_to(self.invitation.button)

    @abstractmethod
    def start(self, corpus: Corpus) -> None:
        """Begin a game with a text."""

    @abstractmethod
    def forget(self) -> None:
        """Forget the game under way."""

    def deal(self, corpus: Corpus, work: Callable[[Corpus], T], begin: Callable[[Corpus, T], object]) -> None:
        """Have passages of a text found, and begin with them if it is still the one that is open."""

        def take(found: T) -> None:
            if corpus is self.session.text.corpus:
                begin(corpus, found)

        self.ask(Question(self.key, corpus, work), take)

    def invite(self, sentence: str, *, again: bool) -> bool:
        """Say what to do before one can play, or else `sentence`; whether one can play."""
        lacking, (first, _) = self.lacking(), self._first()
        self.invitation.invite(lacking or sentence, first if lacking else "Play again" if again else "Play")
        return not lacking

    def handle_failure(self, key: str) -> None:
        self.forget()
        self.refresh_soon()

    def _end(self) -> None:
        """Another text, another game."""
        self.silence(self.key)
        self.forget()

    def _play_or_open(self) -> None:
        self.hold_keyboard()
        corpus = self.session.text.corpus
        if corpus is None or self.lacking():
            self._first()[1]()
        else:
            self.seed += 1
            self.start(corpus)

    def lacking(self) -> str:
        """The sentence about what has to be there first; empty when one can play."""
        session = self.session
        if session.library.model is None:
            return self.needs_model
        if session.text.corpus is None:
            return lacking_in_text(session, self.needs_text)
        return "" if len(session.text.corpus.validation) else lacking_in_text(session, self.needs_held_out)

    def _first(self) -> tuple[str, Callable[[], object]]:
        """What opens what is missing, in words and as an act; no words where nothing does."""
        session, model = self.session, self.session.library.model
        if model is None:
            return MODEL_OFFER, lambda: session.library.open(FIRST_MODEL)
        if session.text.corpus is not None or session.text.is_opening:
            return "", lambda: None
        if model.description.corpus.get("sources"):
            return f"Open the text of {model.name}", lambda: session.text.open_text_of(model)
        return f"Open “{FIRST_TEXT}”", lambda: session.text.open(FIRST_TEXT)
