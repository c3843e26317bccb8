"""Operations in which each cell depends on the same cell of its operands."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lmviz.models.arithmetic import FUNCTIONS, Arithmetic, Terms
from lmviz.models.arithmetic.functions import check_function
from lmviz.models.growth import ROWS
from lmviz.models.operations.factors import explained, value_cell
from lmviz.models.tap import Operation, Reader, Scope, Value


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


@dataclass(frozen=True)
class Product:
    """A named product of factors, one term of a sum."""

    label: str
    factors: tuple[Of, ...]

    def compute(self, scope: Scope) -> torch.Tensor:
        """The factors multiplied."""
        product = self.factors[0].read(scope)
        for factor in self.factors[1:]:
            product = product * factor.read(scope)
        return product


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
                tuple(value_cell(reader, factor.value, index, factor.function) for factor in product.factors),
            )
            for product in self.products
        )
        multiplied = any(len(product.factors) > 1 for product in self.products)
        operation = "products" if multiplied else "sum"
        operation = "sum of products" if multiplied and len(groups) > 1 else operation
        return explained(reader, address, index, operation, groups)


def sum_of(**operands: str) -> SumOfProducts:
    """The sum of taps, each given as label=address; underscores in labels are spaces."""
    return SumOfProducts(
        tuple(Product(label.replace("_", " "), (Of(Value(address)),)) for label, address in operands.items())
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
        return explained(reader, address, index, self.function, (group,), function=self.function)
