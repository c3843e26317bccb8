"""What the panels about two models have in common: A and B, and why there is nothing to compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.pair import Two
from lmviz.app.widgets.base.figures import brief_percentage
from lmviz.looks.look import Look

if TYPE_CHECKING:
    from lmviz.differences.pair import ModelPair
    from lmviz.models.model import Model

A = TypeVar("A")
B = TypeVar("B")

NO_MODEL = "Open or train a model to see {}."
NO_OTHER = "Open another model, or train this one on, to see {}."
NO_TEXT = "Type a text that both models read, to see {}."
NO_WRITER = "Open a language model to see {}."


class PairPanel(AskingPanel[Two, A]):
    """A panel that asks about A and B; subclasses say what, with `asked_of`."""

    shows: ClassVar[str]
    """What is to be seen here, as part of a sentence: each says its own, as of several alike one is read."""

    follows: ClassVar[tuple[str, ...]] = ("pair.changed", "reading.encoding_changed", "work.ready_changed")

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        cls.needs_next_word = NO_WRITER.format(cls.shows)

    def out_of_place(self, model: OpenedModel) -> str:
        if model.reads_source:
            return f"{model.name} {model.does}. {self.needs_next_word}"
        return super().out_of_place(model)

    @property
    def obstacle(self) -> Look | None:
        """What is shown where there is nothing to compare."""
        if self.session.library.model is None:
            return Look(self.parts, instead=NO_MODEL.format(self.shows))
        if self.session.pair.models is None:
            return Look(self.parts, instead=NO_OTHER.format(self.shows))
        return None

    @property
    def no_text(self) -> str:
        """What is said where no text is typed."""
        return NO_TEXT.format(self.shows)

    def asked_of(
        self, work: Callable[[ModelPair], B], about: Any, key: Key | None = None
    ) -> Question[Two, B] | Look:
        """What is asked of A and B, which depends on them and on what else it is `about`.

        It is the question of the panel where no other `key` is given.
        """
        two = self.session.pair.models
        if two is None:
            return self.obstacle or Look(self.parts)

        def with_both(models: Iterator[Model]) -> B:
            from lmviz.differences.pair import pair_of

            return work(pair_of(models))

        return Question(key or self.key, two, with_both, about=about)

    @property
    def text(self) -> str:
        """What both read."""
        return self.session.reading.prefix


def whole(share: float) -> str:
    """A share in whole per cent, with its sign: "82 %", "−3 %"; small ones in one figure."""
    return f"{brief_percentage(share)} %"


def in_short(two: Two) -> tuple[str, str]:
    """What A and B are called beside each other: by their steps where they are one model."""
    one, other = two
    if one.model != other.model:
        return one.model.name, other.model.name
    return f"step {one.step:,}", f"step {other.step:,}"


def why_not(two: Two, sentence: str) -> str:
    """A sentence about why two cannot be compared, with their names before it."""
    one, other = two
    return f"A is {one.model.name}, B {other.model.name}. {sentence}"
