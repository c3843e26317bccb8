"""What stands out among predictions of the next word, as a sentence made of their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.base.figures import count, percentage
from lmviz.decoding.comparison import largest_differences, overlap
from lmviz.decoding.distribution import Distribution, distribution_under
from lmviz.decoding.options import SamplingOptions
from lmviz.text.tokenizer import visible

LIKELY = 0.3
"""A probability of the first word that is worth saying."""

APART = 0.2
"""By how much two models have to differ on a word before that is said."""

ALIKE = 0.8
"""The share that models have in common from which on it is said that they agree."""


def draw_remark(distribution: Distribution, draw: float) -> str:
    """How a number between 0 and 1 chose another word than the likeliest; empty where it chose that one."""
    chosen = distribution.candidate(distribution.rank_of(distribution.at_draw(draw)))
    if chosen.rank == 1:
        return ""
    best = distribution.candidate(1)
    return (
        f"{draw:.3f} falls beyond “{visible(best.token)}”, which ends at {percentage(best.probability)}, on "
        f"“{visible(chosen.token)}”, {percentage(chosen.probability)}."
    )


def distribution_remark(distribution: Distribution, noun: str = "word") -> str:
    """What the sampling options change, or else how far the likeliest word is ahead.

    Empty where the options are off and no word is likely.
    """
    options, best = distribution.options, distribution.candidate(1)
    plain = distribution_under(distribution.logits, SamplingOptions(), distribution.tokens).candidate(1)
    name, before, now = f"“{visible(best.token)}”", percentage(plain.probability), best.probability
    left, of = distribution.choices, len(distribution.order)
    if options.temperature == 0:
        return f"Temperature 0 always takes the likeliest {noun}, {name}, which has {before}."
    if left == 1:
        return f"The options leave one {noun}, {name}, which has {before} without them."
    if left < of and best.probability > best.before_filters:
        words = f"{count(left)} of {count(of)} {noun}s can be drawn"
        return f"{words}: {name} has {percentage(now)}, and without the options {before}."
    if options.temperature != 1 and max(now, plain.probability) >= LIKELY:
        return f"Temperature {options.temperature:g} takes {name} from {before} to {percentage(now)}."
    if now < LIKELY or of < 2:
        return ""
    second = distribution.candidate(2)
    return (
        f"{name} has {percentage(now)}, the next {noun}, “{visible(second.token)}”, "
        f"{percentage(second.probability)}."
    )


def compared_remark(
    models: Sequence[str], shares: np.ndarray, names: Sequence[str], noun: str = "word"
) -> str:
    """On which word models are furthest apart, or that they agree on one; empty where neither stands out.

    `shares` (model, unit) are their probabilities of the same units, which have the `names`.
    """
    if len(models) < 2:
        return ""
    (most,) = largest_differences(shares, names, 1)
    low, high = int(np.argmin(most.shares)), int(np.argmax(most.shares))
    if most.shares[high] - most.shares[low] >= APART:
        return (
            f"{models[high]} gives “{visible(most.name)}” {percentage(most.shares[high])}, "
            f"{models[low]} only {percentage(most.shares[low])}."
        )
    best = set(np.asarray(shares).argmax(axis=1).tolist())
    if len(best) > 1 or float(overlap(shares)) < ALIKE:
        return ""
    agreed = np.asarray(shares)[:, best.pop()]
    if float(agreed.min()) < LIKELY:
        return ""
    unit = int(np.asarray(shares)[0].argmax())
    return (
        f"All {count(len(models))} expect the same {noun}: “{visible(names[unit])}”, with "
        f"{percentage(float(agreed.min()))} to {percentage(float(agreed.max()))}."
    )
