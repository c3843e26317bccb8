"""Where a module stands in a network: the arrays that explanations of its cells read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from lmviz.models.arithmetic import Factor


@dataclass(frozen=True, eq=False)
class NamedArray:
    """An array with the address under which explanations name it."""

    source: str
    array: np.ndarray

    def factor(self, indices: np.ndarray | Sequence[Sequence[int]], function: str = "") -> Factor:
        """The numbers at some places (term, axis) as one factor of as many terms."""
        places = np.asarray(indices, dtype=np.int64).reshape(len(indices), self.array.ndim)
        numbers = np.broadcast_to(self.array[tuple(places.T)], len(places)).astype(np.float64)
        return Factor(self.source, places, numbers, function)

    def cell(self, index: Sequence[int], function: str = "") -> Factor:
        """One number as a factor of one term."""
        return self.factor([tuple(index)], function)


@dataclass(frozen=True, eq=False)
class Use:
    """A module's inputs and output, and the gradient of its output where the sweep has reached it."""

    inputs: tuple[NamedArray, ...]
    output: NamedArray
    gradient: NamedArray | None = None

    @property
    def output_gradient(self) -> NamedArray:
        """The gradient of the output; ValueError before the sweep has reached it."""
        if self.gradient is None:
            raise ValueError("the sweep has not reached this module")
        return self.gradient


def places(shape: Sequence[int]) -> np.ndarray:
    """Every place in an array of a shape, (cell, axis), row by row."""
    return np.array(list(np.ndindex(*shape)), dtype=np.int64).reshape(prod(shape), len(shape))
