"""One value of a network: what made it, its number, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import index as whole

import numpy as np

from lmviz.autodiff.modules.module import Module
from lmviz.autodiff.modules.shapes import Shape
from lmviz.autodiff.modules.use import NamedArray, Use
from lmviz.base.errors import LmvizError
from lmviz.models.address import Address, gradient_of

INPUT, PARAMETER, COMPUTED = "input", "parameter", "computed"


@dataclass(frozen=True)
class PlaceInText:
    """Where the numbers of an input stand in the text: line, from and to which column, and which row."""

    line: int
    first: int
    last: int
    row: int | None = None


@dataclass(eq=False)
class Node:
    """A value with its name. Inputs and parameters have numbers; a module computes the others.

    `value` is None before the forward pass has reached it, `gradient` before the sweep has. `held` has
    the numbers that were set by hand, and NaN in the cells that are computed.
    """

    name: str
    kind: str
    shape: Shape
    line: int
    module: Module | None = None
    inputs: tuple[Node, ...] = ()
    value: np.ndarray | None = None
    gradient: np.ndarray | None = None
    held: np.ndarray | None = None
    place: PlaceInText | None = None
    begins_at: float = 0.0
    consumers: list[Node] = field(default_factory=list, repr=False)

    @property
    def address(self) -> str:
        """How explanations name its value; that of a parameter has a dot, as everywhere in lmviz."""
        return f"parameter.{self.name}" if self.kind == PARAMETER else self.name

    @property
    def numbers(self) -> np.ndarray:
        """The value; ValueError before it is known."""
        if self.value is None:
            raise ValueError(f"{self.name} has no value yet")
        return self.value

    def cell(self, index: Sequence[int]) -> tuple[int, ...]:
        """The index of a cell, counted from 0; LmvizError where the value has no such cell."""
        try:
            found = tuple(map(whole, index))
        except TypeError:
            raise LmvizError(
                f"{index!r} is not a cell of {self.name}: give a whole number for each axis, as its shape "
                f"is {self.shape}."
            ) from None
        inside = all(0 <= at < size for at, size in zip(found, self.shape, strict=False))
        if len(found) != len(self.shape) or not inside:
            raise LmvizError(f"{self.name} has no cell {list(found)}: its shape is {self.shape}.")
        return found

    def apply(self) -> None:
        """Gather the inputs' values and compute the own value from them."""
        assert self.module is not None
        with np.errstate(all="ignore"):  # a NaN is shown as what it is
            self.value = np.asarray(self.module.forward(*(node.numbers for node in self.inputs)))
        if self.held is not None:
            computed = np.isnan(self.held)
            self.value = np.where(computed, self.value, self.held).astype(self.value.dtype)

    def hand_back(self) -> list[np.ndarray]:
        """What is handed back to each input: its share of the own gradient."""
        assert self.module is not None
        assert self.gradient is not None
        gradient = self.gradient
        if self.held is not None:  # what is set by hand depends on nothing
            gradient = np.where(np.isnan(self.held), gradient, 0).astype(gradient.dtype)
        values = [node.numbers for node in self.inputs]
        with np.errstate(all="ignore"):
            return [np.asarray(each) for each in self.module.backward(gradient, self.numbers, *values)]

    @property
    def use(self) -> Use:
        """The arrays that explanations of its cells read."""
        inputs = tuple(NamedArray(node.address, node.numbers) for node in self.inputs)
        return Use(inputs, NamedArray(self.address, self.numbers), self._gradient_operand())

    def _gradient_operand(self) -> NamedArray | None:
        if self.gradient is None:
            return None
        gradient = self.gradient
        if self.held is not None:
            gradient = np.where(np.isnan(self.held), gradient, 0)
        return NamedArray(gradient_of(self.name), gradient)


def read_address(address: str) -> tuple[str, bool]:
    """The name that an address means, and whether it means the gradient."""
    found = Address.parse(address)
    return found.value.removeprefix("parameter."), found.is_gradient
