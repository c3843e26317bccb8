"""Steering: what a number of the model becomes as a direction is added, beside one that means nothing.

A direction that can be read off a state may do nothing, and one that does something may break all else. So
the number stands beside the same strengths along a random direction, and beside what the loss on another
text becomes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import Distribution
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import distribution_after, sample
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.recipes.recipe import RecipeSubject, as_source, recipe_of
from lmviz.inspection.scalar import AnyOf, read_scalar
from lmviz.inspection.tracing import trace
from lmviz.looks.shown import Shown
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model
from lmviz.readouts.direction import StateDirection
from lmviz.readouts.direction_use import DirectionUse

STRENGTHS = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
TEMPERATURE = 0.7
"""At which a steered model writes."""

RANDOM = 3
"""Random directions that are tried; their mean is shown."""


@dataclass(frozen=True, eq=False, repr=False)
class SteeredMeasure(Shown):
    """A number by strength, (strength,), along a direction and along random ones (a mean of several).

    `loss` and `random_loss` (strength,) are nats per token of `tokens` of another text; None without one.
    What has not been computed yet is NaN.
    """

    strengths: np.ndarray
    measure: str
    array: np.ndarray
    random: np.ndarray
    loss: np.ndarray | None
    random_loss: np.ndarray | None
    tokens: int

    @property
    def is_complete(self) -> bool:
        """Whether all strengths are there."""
        return bool(np.isfinite(self.random).all())


def steering(
    model: Model,
    direction: StateDirection | DirectionUse,
    text: str,
    of: AnyOf,
    *,
    strengths: Sequence[float] = STRENGTHS,
    held_out: Sequence[np.ndarray] = (),
    interventions: Sequence[Intervention] = (),
    seed: int = 0,
) -> Iterator[SteeredMeasure]:
    """The number `of` a text at each strength, as it becomes known, the smallest strengths first.

    A direction is added at all positions of its tap, unless it is said otherwise by a `DirectionUse`.
    `held_out` are rows of ids whose loss is taken, with the same done at all of their positions. LmvizError
    where there is no such number, or where the model has no such tap.
    """
    use = direction if isinstance(direction, DirectionUse) else DirectionUse(direction)
    model, interventions = unchanged(model, interventions)
    try:
        asked = np.array(sorted({float(one) for one in strengths}))
    except (TypeError, ValueError):
        asked = np.array([])
    if not len(asked) or not np.isfinite(asked).all():
        raise LmvizError(f"{strengths!r} are no strengths: give some numbers, such as (-1, 0, 1).")
    others = [use.random_like(seed + number) for number in range(RANDOM)]
    found = np.full((4, len(asked)), np.nan)
    name, tokens = "", sum(max(len(ids) - 1, 0) for ids in held_out)
    order = np.argsort(np.abs(asked), kind="stable")
    for done, at in enumerate(map(int, order)):
        look_up(done / len(order))
        with uncounted_work():
            strength = float(asked[at])
            name, found[0, at] = _number(model, text, of, (*interventions, use.change(strength)))
            found[2, at] = _loss(model, held_out, (*interventions, use.at_all_positions().change(strength)))
            changes = [(*interventions, other.change(strength)) for other in others]
            if asked[at] == 0:
                found[1, at], found[3, at] = found[0, at], found[2, at]
            else:
                found[1, at] = np.mean([_number(model, text, of, each)[1] for each in changes])
                random = others[0].at_all_positions().change(strength)
                found[3, at] = _loss(model, held_out, (*interventions, random))
        yield SteeredMeasure(
            strengths=asked,
            measure=name,
            array=found[0].copy(),
            random=found[1].copy(),
            loss=found[2].copy() if held_out else None,
            random_loss=found[3].copy() if held_out else None,
            tokens=tokens,
        )


def _number(model: Model, text: str, of: AnyOf, interventions: Sequence[Intervention]) -> tuple[str, float]:
    recorded = trace(model, text, interventions=interventions)
    values = {
        address: torch.from_numpy(traced.array.copy())[None]
        for address, traced in recorded.arrays.items()
        if address in ("logits", "probabilities")
    }
    scalar = read_scalar(of, model, recorded.ids, values)
    return scalar.name, float(scalar.numbers(values)[0])


def _loss(model: Model, held_out: Sequence[np.ndarray], interventions: Sequence[Intervention]) -> float:
    """Nats per token of rows of ids; NaN where there are none."""
    total, count = 0.0, 0
    for ids in held_out:
        look_up()
        shares = trace(model, ids, taps=["probabilities"], interventions=interventions)["probabilities"].array
        own = shares[np.arange(len(ids) - 1), ids[1:]].astype(np.float64)
        total -= float(np.log(np.maximum(own, 1e-45)).sum())
        count += len(own)
    return total / count if count else float("nan")


@dataclass(frozen=True, eq=False)
class SteeredText:
    """What a model expects after a text with a direction added, and what it writes; beside it as it is."""

    strength: float
    distribution: Distribution
    sample: str
    unsteered: Distribution


def steered_text(
    model: Model,
    direction: StateDirection | DirectionUse,
    text: str,
    strength: float,
    tokens: int,
    interventions: Sequence[Intervention] = (),
) -> SteeredText:
    """The next token after a text at a strength, and so many tokens written, always with the same draws."""
    use = direction if isinstance(direction, DirectionUse) else DirectionUse(direction)
    model, interventions = unchanged(model, interventions)
    plain = ChangedModel(model, tuple(interventions)) if interventions else model
    moved = ChangedModel(model, (*interventions, use.change(strength))) if strength else plain
    options = SamplingOptions.from_values({"seed": 0, "temperature": TEMPERATURE})
    written = text
    for step in sample(moved, text, tokens, options):
        written = step.text
    neutral = SamplingOptions.from_values({})
    return SteeredText(
        strength,
        distribution_after(Continuation.of(moved, text), neutral),
        written[len(text) :],
        distribution_after(Continuation.of(plain, text), neutral),
    )


def steering_recipe(
    subject: RecipeSubject, made: str, other: str, text: str, use: DirectionUse, strength: float
) -> str:
    """Python code for the probabilities of the next token after a text, bound to `values` (token,).

    `made` is code for the direction, `other` for the one that is swapped with it.
    """
    how = [repr(use.how)] if use.how != "add" or use.everywhere or use.start else []
    how += [f"other={other}"] if use.other is not None else []
    how += ["everywhere=True"] if use.everywhere else []
    how += [f"start={use.start}"] if use.start else []
    lines = [f"north = {made}"]
    if how:
        lines.append(f"use = DirectionUse({', '.join(['north', *how])})")
    change = f"use.change({strength!r})" if how else f"north.add({strength!r})"
    given = ", ".join([*map(as_source, subject.interventions), change])
    lines.append(f"values = lmviz.next_token(model, {text!r}, interventions=[{given}]).probabilities")
    imports = ("from lmviz.readouts.direction_use import DirectionUse",) if how else ()
    return recipe_of(subject, *lines, imports=imports)
