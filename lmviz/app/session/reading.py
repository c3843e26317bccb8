"""A reading: the trace of the prefix by one model at one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lmviz.app.workers.threads import leave_half_of_the_cores
from lmviz.inspection.names import POSITIONAL, coordinate
from lmviz.models.address import Address
from lmviz.models.interruption import part_of_work
from lmviz.models.sequences import SOURCE
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.inspection.intervention import Intervention
    from lmviz.inspection.recipes.recipe import RecipeSubject
    from lmviz.inspection.trace import Trace
    from lmviz.models.model import Model


NAMED = ("token", "label")
"""The axes whose indices are told by what they stand for."""

TYPED = 16  # letters: a word or two


@dataclass(frozen=True)
class ReadingQuestion:
    """What is read, and by what: all that the numbers of a reading depend on.

    `source` is what a translator reads beside the text; `interventions` are those that are switched on.
    """

    model: OpenedModel
    step: int
    text: str
    source: str | None = None
    interventions: tuple[Intervention, ...] = ()

    def said_before(self, now: ReadingQuestion | None) -> str:
        """What tells this question from a newer one, in words: "of the text before", "of step 300"."""
        if now is None or self.model != now.model:
            return f"of {self.model.name}"
        if self.text != now.text:
            return "of the text before"
        if self.source != now.source:
            return "of the source before"
        return f"of step {self.step:,}" if self.step != now.step else "before the last change"


@dataclass(frozen=True)
class Reading:
    """A trace, and what it was taken from.

    `baseline` is the same without interventions, None when none are in force. `asked` is the question that
    it answers, where it is more than the trace says.
    """

    trace: Trace
    baseline: Trace | None
    model: OpenedModel
    step: int
    asked: ReadingQuestion | None = None

    @property
    def question(self) -> ReadingQuestion:
        """What it is the answer to."""
        return self.asked or ReadingQuestion(self.model, self.step, self.trace.text)

    @property
    def untouched(self) -> Trace:
        """The trace without interventions."""
        return self.trace if self.baseline is None else self.baseline

    @property
    def moment(self) -> RecipeSubject:
        """What is shown, as the recipes of Python code take it."""
        read, source = self.trace, self.trace.further.get(SOURCE)
        beside = None if source is None else source.text
        return self.model.reading(read.text, self.step, read.interventions, beside)

    def word(self, axis: str, index: int) -> str:
        """The token or the label at an index along such an axis, as it is shown."""
        names = self.trace.names(axis) or self.model.tokenizer.tokens()
        return visible(names[index])

    def names(self, axis: str) -> list[str]:
        """The words along an axis, as they are shown; none along the model's own, such as units."""
        return [visible(token) for token in self.trace.names(axis)] if axis in POSITIONAL else []

    def coordinate(self, axis: str, index: int) -> str:
        """An index in words: "source 2 “cow”", "unit 3"; a token or a label as itself."""
        if axis in NAMED:
            return f"“{self.word(axis, index)}”"
        tokens = self.trace.names(axis) if axis in POSITIONAL else ()
        return coordinate(axis, index, visible(tokens[index]) if 0 <= index < len(tokens) else "")

    def cell_name(self, axes: Sequence[str], index: Sequence[int]) -> str:
        """The place of a cell in words: "position 6 “night”, source 5 “at”"."""
        return ", ".join(self.coordinate(axis, at) for axis, at in zip(axes, index, strict=True))

    @property
    def answers(self) -> Sequence[str]:
        """All that the model can predict, by id: tokens or labels."""
        return self.trace.names(self.trace.predicts.axis) or self.model.tokenizer.tokens()

    def answer(self, id: int) -> str:
        """What the model predicts by its id, a token or a label, as it is shown."""
        return self.word(self.trace.predicts.axis, id)

    @property
    def last(self) -> int:
        """The last position."""
        return len(self.trace) - 1

    def axes(self, address: str) -> tuple[str, ...] | None:
        """The axes of a tap, or of its gradient; None where the trace has no such tap."""
        tap = Address.parse(address).value
        return self.trace[tap].axes if tap in self.trace else None

    def has_cell(self, address: str, index: tuple[int, ...]) -> bool:
        """Whether the trace holds such a cell, or the one whose gradient is meant."""
        address = Address.parse(address).value
        if address not in self.trace:
            return False
        shape = self.trace[address].shape
        return len(index) == len(shape) and all(0 <= at < size for at, size in zip(index, shape, strict=True))


def read(model: Model, question: ReadingQuestion, previous: Reading | None = None) -> Reading:
    """Trace a prefix with a model that carries the weights of the step that is asked about.

    What the previous reading has in common with this one, such as the words before the one that is
    being typed, is taken over from it.
    """
    from lmviz.inspection.tracing import trace

    opened, step, text, source = question.model, question.step, question.text, question.source
    earlier = None
    beside: dict[str, Any] = {} if source is None else {"source": source}
    if previous is not None and (previous.model, previous.step) == (opened, step):
        earlier = previous.untouched
    enabled = question.interventions
    if earlier is not None and not enabled and _is_typed(text, earlier.text):
        leave_half_of_the_cores()
    with part_of_work(0, 2 if enabled else 1):
        untouched = trace(model, text, earlier=earlier, answers_later=True, **beside)
    if not enabled:
        return Reading(untouched, None, opened, step, question)
    with part_of_work(1, 2):
        changed = trace(model, text, interventions=enabled, answers_later=True, **beside)
    return Reading(changed, untouched, opened, step, question)


def _is_typed(text: str, before: str) -> bool:
    """Whether a text differs from the one before in a few letters at its end."""
    return len(text) <= len(before) + TYPED and text.startswith(before[: max(0, len(text) - TYPED)])


def of_source(model: Model, source: str | None) -> Model:
    """A translator that is given its source, and so continues its translation like any other text.

    The model itself where it reads no source.
    """
    if source is None:
        return model
    from lmviz.models.given_source import GivenSource

    return GivenSource.reading(model, source)
