"""Panels that say what they show as one value: the base draws it and exports it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.session import Session
from lmviz.app.widgets.looks.look_card import LookCard
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import LookPart

S = TypeVar("S")
A = TypeVar("A")


class LookPanel(Panel):
    """A panel of one card that shows a `Look`: title, parts, numbers and code are always of one answer.

    A subclass names its `title` and the signals of the session that it `follows`, and is one of the two
    below. What it keeps between two looks has a value in the class: the first look is made with the panel.

    It speaks of words: where the shown model reads characters, its card has its looks speak of these.
    """

    title: ClassVar[str]
    """What the card is called where a look has no title."""

    follows: ClassVar[tuple[str, ...]] = ()
    """Signals of the session after which it is drawn again, such as "reading.changed"."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._noun = ""  # of what the look that is shown speaks
        self.look_card = LookCard(self.title, lambda: session.reading.noun)
        self.column.addWidget(self.look_card)
        self.show_look(self.first_look())
        self.follow(*(attrgetter(name)(session) for name in self.follows))
        session.library.model_changed.connect(self._follow_noun)
        session.text.changed.connect(self._follow_noun)

    @property
    def shown_look(self) -> Look:
        """What is shown."""
        return self.look_card.look

    @abstractmethod
    def first_look(self) -> Look:
        """What is shown before anything has been asked; it has all parts with names, for lessons to find."""

    def show_look(self, look: Look) -> None:
        """Show this, and nothing of what was shown before."""
        self._noun = self.session.reading.noun
        self.look_card.show_look(look)

    def _follow_noun(self) -> None:
        """Say it all again where what is read is made of other tokens than before."""
        if self._noun != self.session.reading.noun:
            self.refresh_soon()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return dict(self.shown_look.arrays)

    def page_results(self) -> Sequence[Any]:
        look = self.shown_look
        return () if look.instead else (look,)

    def exported_names(self) -> Names:
        return self.shown_look.named

    def recipe(self) -> str:
        return self.shown_look.recipe


class ShowingPanel(LookPanel):
    """Shows what the session holds: a subclass says how that looks."""

    @abstractmethod
    def look(self) -> Look:
        """What there is to see now."""

    def first_look(self) -> Look:
        return self.look()

    def refresh(self) -> None:
        self.show_look(self.look())


class AskingPanel(LookPanel, Generic[S, A]):
    """Asks about a subject, and shows how the answer looks; until it has come, all stays as it is.

    Where its question fails, nothing is shown but the sentence that says so. Where another fails that it
    asks beside it, or a job, what was found stays.

    A question is asked once: not where its answer is drawn, or on its way. Where it is drawn, the look is
    made again, for something may be marked that nobody has to compute.
    """

    key: ClassVar[Key]
    """The name of its question."""

    parts: ClassVar[Sequence[LookPart]] = ()
    """The parts of its looks that have names, as they are before anything is known."""

    begins_bare: ClassVar[bool] = False
    """Whether nothing is in sight before the first answer: its controls have their places beside that."""

    asked: Question[S, A] | None = None
    """The question that what is shown answers; None where it answers none."""

    found: A | None = None
    """The answer to it."""

    @abstractmethod
    def question(self) -> Question[S, A] | Look:
        """What is to be asked now; or what is shown where nothing is, such as what to open first."""

    @abstractmethod
    def look(self, subject: S, found: A) -> Look:
        """How the answer about a subject looks."""

    def goes_on(self, subject: S, found: A) -> Question[Any, A] | None:
        """For an answer that grows, the question whose answer takes the place of what is found so far.

        Each part of it is drawn as it comes, and others have their turn in the reading thread in between. It
        stops where the panel is hidden, and goes on when it is seen again.
        """
        return None

    def first_look(self) -> Look:
        return Look([replace(part, shown=False) for part in self.parts] if self.begins_bare else self.parts)

    def handle_failure(self, key: str) -> None:
        if key == self.key:  # what was chosen can be chosen otherwise
            self._forget(Look(self.parts) if self.begins_bare else self.first_look())

    def refresh(self) -> None:
        asks = self.question()
        if isinstance(asks, Look):
            self.silence(self.key)
            self._forget(asks)
        elif self.must_ask(asks):
            if not (self.asked == asks and self._go_on()):
                asked = asks.without_work
                self.ask(asks, lambda found: self._take(asked, found))
        elif self.has_drawn(asks):
            self._draw()

    def _forget(self, look: Look) -> None:
        """Show something that answers no question."""
        self.asked = self.found = None
        self.show_look(look)

    def _take(self, asked: Question[S, A], found: A) -> None:
        if self._is_about_another(asked):  # and `look` would say of that what was found of this
            self.silence(self.key)
            self.refresh_soon()
            return
        self.asked, self.found = asked, found
        self._draw()
        if not self.is_in_sight and self._next is not None:
            self.silence(self.key)
            self.refresh_soon()  # it goes on when it is seen again
        else:
            self._go_on()

    def _is_about_another(self, asked: Question[S, A]) -> bool:
        """Whether something else was chosen, in the turn in which an answer came, than it was asked about.

        Of another subject, such as a later step of a training, `look` gets the one that was asked.
        """
        now = self.question()
        return isinstance(now, Look) or replace(now, subject=asked.subject) != asked

    @property
    def _next(self) -> Question[Any, A] | None:
        if self.asked is None or self.found is None:
            return None
        return self.goes_on(self.asked.subject, self.found)

    def _go_on(self) -> bool:
        """Have an answer grow; whether there is more to be asked."""
        asked, further = self.asked, self._next
        if asked is None or further is None:
            return False
        self.ask(replace(further, grows=True), lambda found: self._take(asked, found))
        return True

    def _draw(self) -> None:
        if self.asked is not None and self.found is not None:
            self.show_look(self.look(self.asked.subject, self.found))
