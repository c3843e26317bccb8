"""What finding features takes, before it begins: time here, memory, and how much text there is."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch

from lmviz.base.durations import in_words
from lmviz.base.figures import count
from lmviz.base.machine_memory import GIGABYTE
from lmviz.features.learner import DictionaryLearner
from lmviz.features.learning import chosen_taps
from lmviz.features.memory_taken import MEGABYTE, NUMBER, counted_bytes
from lmviz.features.places import States, feature_taps
from lmviz.features.recipe import FeatureRecipe
from lmviz.features.texts import FeatureTexts
from lmviz.inspection.backpropagation import differentiating
from lmviz.looks.shown import Shown
from lmviz.models.model import Model

TRIED = 3
"""Steps whose time is taken, after a first one."""

MEASURED_ROWS = 8


@dataclass(frozen=True, repr=False)
class FeaturePlan(Shown):
    """What finding features at `tap` takes: `seconds` here, `bytes` of memory, and `tokens` to learn from.

    `read` of them are different; a shorter text is read more than once. Features are written to `written`,
    if that is another tap. `taps` are those that features of this kind can be found at.
    """

    tap: str
    written: str
    seconds: float
    bytes: int
    tokens: int
    read: int
    taps: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The plan in a sentence."""
        again = "" if self.read >= self.tokens else f", {count(self.read)} of them different"
        return (
            f"{in_words(self.seconds).capitalize()}: {count(self.tokens)} tokens to learn from{again}, and "
            f"{self.bytes / GIGABYTE:.1f} GB of memory."
        )


def offered_taps(model: Model, recipe: FeatureRecipe) -> tuple[str, ...]:
    """The taps that a recipe can be used at: for transcoders the outputs of feed-forward networks."""
    taps = feature_taps(model)
    if not recipe.transcoder:
        return taps
    return tuple(tap for tap in taps if tap.endswith("feedforward/output"))


def _seconds_of_step(recipe: FeatureRecipe, states: list[torch.Tensor]) -> float:
    """How long a step takes, on states (state, channel) at each tap."""
    chosen = torch.randint(len(states[0]), (recipe.batch,), device=states[0].device)
    batch = [each[chosen] for each in states]
    moments = [(each.mean(0), max(float(each.std()), 1e-6)) for each in states]
    learner = DictionaryLearner(recipe, *moments[0], moments[1] if len(moments) > 1 else None)
    seconds = []
    for _ in range(TRIED + 1):
        began = time.perf_counter()
        learner.learn(*batch)
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:])


def measured_plan(
    model: Model, texts: FeatureTexts, recipe: FeatureRecipe, tap: str | None = None
) -> FeaturePlan:
    """The plan, after some rows were read and some steps made, of which nothing is kept.

    LmvizError where the tap or the memory is not there.
    """
    read, written = chosen_taps(model, recipe, tap)
    states = States.at(model, read, *([written] if written else []))
    taken = counted_bytes(model, recipe, states.widths())
    rows = texts.learned[:MEASURED_ROWS]
    began = time.perf_counter()
    found = [states.read([rows[at] for at in batch]) for batch in states.batches(rows)]
    reading = time.perf_counter() - began
    with differentiating():
        some = [torch.cat(each).clone() for each in zip(*found, strict=True)]
        reading /= len(some[0])
        step = _seconds_of_step(recipe, some)
    different = sum(states.count(row) for row in texts.learned)
    fits = different * NUMBER * sum(states.widths()) <= recipe.memory * MEGABYTE
    to_read = different if fits else max(different, recipe.tokens)
    judging = sum(states.count(row) for row in texts.held_out) * 5
    total = reading * (min(to_read, recipe.tokens) + judging) + recipe.steps * step
    return FeaturePlan(
        read,
        written,
        total,
        taken,
        recipe.tokens,
        min(different, recipe.tokens),
        offered_taps(model, recipe),
    )
