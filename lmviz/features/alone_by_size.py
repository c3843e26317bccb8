"""What errors alone, and features alone, take of an answer, as each word has more and more features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.circuits.read_contrast import read_contrast
from lmviz.features.kept_alone import measured_with_taken
from lmviz.features.state_parts import StateParts, check_placed
from lmviz.looks.shown import Shown
from lmviz.models.interruption import look_up

if TYPE_CHECKING:
    from lmviz.circuits.cached_pass import CachedPass
    from lmviz.circuits.contrast import Contrast
    from lmviz.features.dictionary import Dictionary
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model

SIZES = (1, 2, 4, 8, 16, 32, 64)
"""Features at a word."""


@dataclass(frozen=True, eq=False, repr=False)
class AloneBySize(Shown):
    """Shares of the measure's change that go with only some parts as in the changed text, (size,).

    With `sizes` features at a word, `features` is what all features alone take, `errors` all errors alone,
    and `explained` the share of the variance of the states in the text. `clean` and `changed` are the measure
    in both texts, `own` how many features a word has in the dictionaries themselves, None where that varies.
    """

    sizes: tuple[int, ...]
    features: np.ndarray
    errors: np.ndarray
    explained: np.ndarray
    own: int | None
    clean: float
    changed: float
    measure: str


def alone_by_size(
    model: Model,
    contrast: Contrast,
    dictionaries: Sequence[Dictionary],
    sizes: Sequence[int] | None = None,
    *,
    interventions: Sequence[Intervention] = (),
) -> AloneBySize:
    """The shares by how many features each word has: those with the largest scores, whatever the kind.

    LmvizError without a changed text, where the measure is the same in both, and as of `feature_graph`.
    """
    question = read_contrast(model, contrast, interventions)
    clean, changed = question.passes()
    check_placed(dictionaries, clean)
    before, after = clean.measure(question.scalar), changed.measure(question.scalar)
    if before == after:
        raise LmvizError(
            f"{question.scalar.name} is the same in both texts, and nothing can be taken of it: change "
            "another word, or ask about something else."
        )
    largest = min(one.size for one in dictionaries)
    given = tuple(whole_number("sizes", size, least=1) for size in sizes or SIZES)
    if sizes is None:
        given += tuple(one.k for one in dictionaries if one.k is not None)
    asked = tuple(sorted({min(size, largest) for size in given}))
    found: list[tuple[float, float, float]] = []
    for number, size in enumerate(asked):
        look_up(number / len(asked))
        some = [replace(one, kind="topk", k=size, threshold=None) for one in dictionaries]
        parts, others = ([StateParts.of(one, read) for one in some] for read in (clean, changed))
        features, errors = measured_with_taken(clean, question.scalar, parts, others)
        taken = [(before - measured) / (before - after) for measured in (features, errors)]
        found.append((taken[0], taken[1], _explained(parts, clean)))
    own = {one.k if one.kind == "topk" else None for one in dictionaries}
    numbers = np.array(found).reshape(-1, 3)
    return AloneBySize(
        asked,
        numbers[:, 0],
        numbers[:, 1],
        numbers[:, 2],
        own.pop() if len(own) == 1 else None,
        before,
        after,
        question.scalar.name,
    )


def _explained(parts: Sequence[StateParts], read: CachedPass) -> float:
    """The share of the variance of the states that is not in the errors, of all dictionaries together."""
    left = total = 0.0
    for part in parts:
        states = read.values[part.dictionary.target][0, part.first :].detach().cpu().double().numpy()
        left += float((part.error[part.first :] ** 2).sum())
        total += float(((states - states.mean(axis=0)) ** 2).sum())
    return 1 - left / total if total else float("nan")
