"""A question that a panel asks: under which name, of whom, and the work that answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from lmviz.app.session.comparison import ComparedModel
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.session.work import Failed
from lmviz.looks.by_value import ByValue

S = TypeVar("S")
A = TypeVar("A")


class Key(str):
    """The name under which questions are asked: of several under one name only the newest is answered.

    Making one registers it, as a test breaks the work of each question that there is. `of` gives the names of
    several questions of a kind that are asked at the same time.
    """

    known: set[str] = set()
    """All that have been made."""

    def __new__(cls, name: str) -> Key:
        cls.known.add(name)
        return super().__new__(cls, name)

    def of(self, which: object) -> Key:
        """One of several of this kind."""
        return str.__new__(Key, f"{self}{which}")


@dataclass(frozen=True, eq=False)
class Question(ByValue, Generic[S, A]):
    """`Question(key, subject, work)`: what is asked of a subject, with the work that finds the answer.

    `work` runs in the reading thread and knows no widget. What it gets follows from the subject:

    - a `Reading`: the model that has read it; it is answered only while nothing newer has been read,
    - a `Moment`: the model at that step, as it was trained,
    - a `ComparedModel`: the model with its interventions, such as the shown one (`session.comparison.shown`),
    - a tuple of these: an iterator over the models, each of which is loaded when it comes to it,
    - anything else, such as a corpus: the subject itself.

    Two questions are the same where key, subject and `about` are: all that the answer depends on; a text is
    named by its fingerprint there, for it may be large. One that `grows` has an answer that adds to what is
    drawn, which is therefore not late meanwhile.
    """

    key: Key
    subject: S
    work: Callable[..., A] = field(compare=False)
    about: object = None
    grows: bool = field(default=False, compare=False)

    @property
    def without_work(self) -> Question[S, A]:
        """The same question, to be held beside others later: its work may hold a whole text."""
        return replace(self, work=_none)

    def put(self, session: Session, answer: Callable[[A], object], failed: Failed) -> None:
        """Have it answered, in the window's thread, or have it said why it cannot be."""
        key, subject, work = self.key, self.subject, self.work
        if isinstance(subject, Reading):
            session.reading.ask_about(subject, key, work, answer, failed)
        elif isinstance(subject, ComparedModel):
            session.comparison.ask((subject,), key, lambda models: work(next(models)), answer, failed)
        elif isinstance(subject, tuple) and subject and isinstance(subject[0], ComparedModel):
            session.comparison.ask(subject, key, work, answer, failed)
        elif isinstance(subject, tuple) and subject and isinstance(subject[0], OpenedModel):
            model, step = subject
            session.work.ask_model((model, step), key, work, answer, failed)
        else:
            session.work.ask(key, lambda: work(subject), answer, failed)


def _none(*_: object) -> Any:
    raise AssertionError("this question has been answered")
