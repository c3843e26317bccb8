"""Several small models trained beside one another on one text: how their validation losses come down."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lmviz.runs.racing import PlannedLane
from lmviz.scaling.compute import training_compute
from lmviz.training.cost import cost_on, tokens_a_step

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus


@dataclass(frozen=True)
class MeasuredLane:
    """One model so far: its losses on the validation text after some steps, in nats a token.

    `tokens` are those that each step reads. The last loss is what it came to once it `is_done`.
    """

    name: str
    parameters: int
    tokens: int
    steps: tuple[int, ...] = ()
    losses: tuple[float, ...] = ()
    is_done: bool = False

    @property
    def compute(self) -> tuple[float, ...]:
        """The operations that the training had taken by each of the steps."""
        return tuple(training_compute(self.parameters, step * self.tokens) for step in self.steps)


MeasuredRace = tuple[MeasuredLane, ...]


def measure_race(
    lanes: Sequence[PlannedLane], corpus: Corpus
) -> Generator[float | MeasuredRace, None, MeasuredRace]:
    """Train the models in turn, a step each; yields fractions and what is known so far, and returns all.

    Nothing is written. LmvizError where the text cannot be learned from, or where there is not the memory for
    all models at once.
    """
    from lmviz.runs.racing import rehearse_race

    race = rehearse_race(lanes, corpus)
    measured = {lane.name: _unmeasured(lane, corpus) for lane in lanes}
    total = sum(lane.options.steps for lane in lanes)
    for lane, now in race:
        if now.validation_loss is not None and now.step > 0:
            before = measured[lane.name]
            steps, losses = (*before.steps, now.step), (*before.losses, now.validation_loss)
            measured[lane.name] = replace(before, steps=steps, losses=losses, is_done=now.finished)
            yield tuple(measured.values())
        yield sum(each.last.step for each in race.lanes if each.last is not None) / total
    return tuple(measured.values())


def _unmeasured(lane: PlannedLane, corpus: Corpus) -> MeasuredLane:
    tokens = tokens_a_step(lane.configuration, lane.options)
    return MeasuredLane(lane.name, cost_on(lane.configuration, lane.options, corpus).parameters, tokens)
