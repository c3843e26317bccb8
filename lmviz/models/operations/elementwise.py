"""Operations in which each cell depends on the same cell of its operands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch

from lmviz.models.arithmetic import FUNCTIONS, Arithmetic, Factor, Terms, constant
from lmviz.models.functions import check_function
from lmviz.models.growth import ROWS
from lmviz.models.operations.factors import explained, gradient_cell, value_cell
from lmviz.models.slopes import slope_of
from lmviz.models.tap import GradientReader, Operation, Reader, Scope, Value


@dataclass(frozen=True)
class Of:
    """`function` of a tap, one factor of a product."""

    value: Value
    function: str = ""

    def __post_init__(self) -> None:
        check_function(self.function)

    def read(self, scope: Scope) -> torch.Tensor:
        """The tap's value with the function applied."""
        return FUNCTIONS[self.function].tensor(scope.read(self.value))

    def slope(self, reader: Reader, index: tuple[int, ...]) -> tuple[Factor, ...]:
        """The derivative of the function where the sum's cell reads it; nothing where it is 1."""
        return slope_at(reader, self.value, index, self.function)


def slope_at(reader: Reader, operand: Value, index: tuple[int, ...], function: str) -> tuple[Factor, ...]:
    """The derivative of a function of an operand's cell, as a factor; nothing where it is 1."""
    if not function:
        return ()
    if function == "one minus":
        return (constant(-1.0),)
    return (value_cell(reader, operand, index, slope_of(function)),)


def reader_of(reader: Reader, operand: Value, index: tuple[int, ...]) -> tuple[int, ...] | None:
    """The cell that reads an operand's cell of an index; None where that lies outside the text."""
    position = index[0] - operand.shift
    inside = not operand.shift or 0 <= position < len(reader.array(operand.address))
    return (position, *index[1:]) if inside else None


@dataclass(frozen=True)
class Product:
    """A named product of factors, and a number `times` that, one term of a sum."""

    label: str
    factors: tuple[Of, ...]
    times: float = 1.0

    def compute(self, scope: Scope) -> torch.Tensor:
        """The factors multiplied."""
        product = self.factors[0].read(scope)
        for factor in self.factors[1:]:
            product = product * factor.read(scope)
        return product if self.times == 1 else product * self.times

    @property
    def constants(self) -> tuple[Factor, ...]:
        """The number, as a factor; nothing where it is 1."""
        return () if self.times == 1 else (constant(self.times),)


@dataclass(frozen=True, eq=False)
class SumOfProducts(Operation):
    """Products added up, cell by cell, such as forget ⊙ previous cell + input ⊙ candidate."""

    products: tuple[Product, ...]

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return tuple(factor.value for product in self.products for factor in product.factors)

    def compute(self, scope: Scope) -> torch.Tensor:
        """The shape of the operands."""
        total = self.products[0].compute(scope)
        for product in self.products[1:]:
            total = total + product.compute(scope)
        return total

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The same cell of each factor."""
        groups = tuple(
            Terms(
                product.label,
                (
                    *(value_cell(reader, each.value, index, each.function) for each in product.factors),
                    *product.constants,
                ),
            )
            for product in self.products
        )
        multiplied = any(len(product.factors) > 1 for product in self.products)
        operation = "products" if multiplied else "sum"
        operation = "sum of products" if multiplied and len(groups) > 1 else operation
        return explained(reader, address, index, operation, groups)

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The gradient × the other factors × the derivative of the cell's own function."""
        groups = []
        for product in self.products:
            for place, factor in enumerate(product.factors):
                cell = reader_of(reader, factor.value, index) if factor.value.address == source else None
                if cell is None:
                    continue
                others = tuple(
                    value_cell(reader, other.value, cell, other.function)
                    for other in product.factors[:place] + product.factors[place + 1 :]
                )
                gradient = gradient_cell(reader, address, cell)
                factors = (gradient, *others, *factor.slope(reader, cell), *product.constants)
                groups.append(Terms(product.label, factors))
        return tuple(groups)


def sum_of(times: Mapping[str, float] = MappingProxyType({}), /, **operands: str) -> SumOfProducts:
    """The sum of taps, each given as label=address; underscores in labels are spaces.

    `times` has by label what a tap is multiplied by, where that is not 1.
    """
    return SumOfProducts(
        tuple(
            Product(label.replace("_", " "), (Of(Value(address)),), times.get(label, 1.0))
            for label, address in operands.items()
        )
    )


@dataclass(frozen=True, eq=False)
class Activation(Operation):
    """A function of each cell of a tap."""

    value: Value
    function: str

    def __post_init__(self) -> None:
        check_function(self.function)

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.value,)

    def compute(self, scope: Scope) -> torch.Tensor:
        """The shape of the operand."""
        return FUNCTIONS[self.function].tensor(scope.read(self.value))

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The same cell of the operand."""
        group = Terms("input", (value_cell(reader, self.value, index),))
        words = self.function or "unchanged"
        return explained(reader, address, index, words, (group,), function=self.function)

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The gradient × the derivative of the function."""
        cell = reader_of(reader, self.value, index) if source == self.value.address else None
        if cell is None:
            return ()
        slope = slope_at(reader, self.value, cell, self.function)
        return (Terms(self.function or "unchanged", (gradient_cell(reader, address, cell), *slope)),)
