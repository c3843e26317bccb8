"""The memory that learning features takes, counted before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.base.figures import count
from lmviz.base.machine_memory import GIGABYTE, machine_memory

if TYPE_CHECKING:
    from lmviz.features.recipe import FeatureRecipe
    from lmviz.models.model import Model

MEGABYTE = 2**20
NUMBER = 4
"""Bytes of a number."""

KEPT = 4
"""Numbers that learning keeps of each of the dictionary: itself, its gradient and two moments."""

SQUARES = 8
"""Numbers that a step keeps of each feature at each token."""


def counted_bytes(model: Model, recipe: FeatureRecipe, widths: tuple[int, ...]) -> int:
    """The memory that learning takes beside the model; LmvizError where the machine has not so much."""
    numbers = recipe.size * (widths[0] + widths[-1] + 3) * KEPT
    found = NUMBER * (numbers + SQUARES * recipe.size * recipe.batch) + 2 * recipe.memory * MEGABYTE
    memory = machine_memory()
    if memory is not None and found > memory:
        raise LmvizError(
            f"{count(recipe.size)} features of {model.name or 'this model'} take about "
            f"{found / GIGABYTE:,.0f} GB of memory, and the machine has {memory / GIGABYTE:,.1f} GB: take "
            "fewer features, or fewer tokens a step."
        )
    return found
