"""Products of matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.autodiff.modules.module import Formula, Module, gradient_of
from lmviz.autodiff.modules.shapes import Shape, ShapeFault, fitted, in_words, need_axis, need_matrix
from lmviz.autodiff.modules.use import Use
from lmviz.models.arithmetic import Factor, Terms


class Linear(Module):
    """weight times input, plus bias; of an input that is a matrix, each row is taken by itself"""

    word, arguments, optional, weights = "linear", ("weight", "input", "bias"), 1, frozenset({0, 2})

    def shape(self, *shapes: Shape) -> Shape:
        weight, input, *bias = shapes
        result = input
        if weight:
            need_matrix(self.word, "weight", weight)
            need_axis(self.word, input)
            if weight[1] != input[-1]:
                raise ShapeFault(
                    f"linear multiplies {in_words(weight)} with {in_words(input)}: the weight needs "
                    f"{input[-1]} columns, or the input {weight[1]} cells."
                )
            result = (*input[:-1], weight[0])
        if bias and bias[0] not in ((), result[-1:]):
            raise ShapeFault(
                f"linear adds {in_words(bias[0])} to {in_words(result)}: give the bias the same size."
            )
        return result

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        weight, input, *bias = inputs
        product = weight * input if weight.ndim == 0 else input @ weight.T
        return np.array(product + bias[0] if bias else product)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        weight, input, *bias = inputs
        if weight.ndim == 0:
            handed = [(gradient * input).sum(), gradient * weight]
        else:
            handed = [np.atleast_2d(gradient).T @ np.atleast_2d(input), gradient @ weight]
        return [np.asarray(each) for each in handed] + [fitted(gradient, each.shape) for each in bias]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        weight, input, *bias = use.inputs
        if weight.array.ndim == 0:
            products = (weight.cell(()), input.cell(index))
        else:
            row, columns = index[-1], range(weight.array.shape[1])
            products = (
                weight.factor([(row, column) for column in columns]),
                input.factor([(*index[:-1], column) for column in columns]),
            )
        added = [Terms("bias", (each.cell(index[-1:] if each.array.ndim else ()),)) for each in bias]
        return Formula((Terms("weight × input", products), *added))

    def explain_gradient(self, use: Use, place: int, index: tuple[int, ...]) -> tuple[Factor, ...]:
        weight, input, *_ = use.inputs
        gradient = use.output_gradient
        if weight.array.ndim == 0 or place == 2:
            cells = _where_used(gradient.array.shape, index, repeated=place != 1)
            if place == 2:
                return (gradient.factor(cells),)
            other = input.factor(cells) if place == 0 else weight.factor([()] * len(cells))
            return gradient.factor(cells), other
        if place == 0:
            rows = _rows(input.array.shape)
            return (
                gradient.factor([(*row, index[0]) for row in rows]),
                input.factor([(*row, index[1]) for row in rows]),
            )
        outputs = range(weight.array.shape[0])
        return (
            gradient.factor([(*index[:-1], output) for output in outputs]),
            weight.factor([(output, index[-1]) for output in outputs]),
        )

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        weight, input, *_ = inputs
        g = gradient_of(output)
        return [rf"{g} \, {input}^T", rf"{weight}^T {g}", g][: len(inputs)]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        weight, input, *bias = inputs
        product = f"{input} @ {weight}.T" if shapes[0] else f"{weight} * {input}"
        return f"{product} + {bias[0]}" if bias else product


class MatrixProduct(Module):
    """the matrix product; of two vectors, their dot product"""

    word, arguments = "matmul", ("a", "b")

    def shape(self, *shapes: Shape) -> Shape:
        a, b = shapes
        need_axis(self.word, a)
        need_axis(self.word, b)
        if a[-1] != b[0]:
            raise ShapeFault(
                f"matmul multiplies {in_words(a)} with {in_words(b)}: the second needs {a[-1]} rows."
            )
        return (*a[:-1], *b[1:])

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        a, b = inputs
        return np.asarray(a @ b)

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        a, b = inputs
        rows, columns = np.atleast_2d(a), b.reshape(len(b), -1)
        product = gradient.reshape(len(rows), columns.shape[1])
        return [(product @ columns.T).reshape(a.shape), (rows.T @ product).reshape(b.shape)]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        a, b = use.inputs
        row, column = index[: a.array.ndim - 1], index[a.array.ndim - 1 :]
        between = range(b.array.shape[0])
        products = (a.factor([(*row, k) for k in between]), b.factor([(k, *column) for k in between]))
        return Formula((Terms("products", products),))

    def explain_gradient(self, use: Use, place: int, index: tuple[int, ...]) -> tuple[Factor, ...]:
        a, b = use.inputs
        if place == 0:
            row, between = index[:-1], index[-1]
            columns = _rows(b.array.shape[1:], keep=True)
            cells = [(*row, *column) for column in columns]
            return use.output_gradient.factor(cells), b.factor([(between, *column) for column in columns])
        between, column = index[0], index[1:]
        rows = _rows(a.array.shape)
        cells = [(*row, *column) for row in rows]
        return use.output_gradient.factor(cells), a.factor([(*row, between) for row in rows])

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        g = gradient_of(output)
        return [rf"{g} \, {inputs[1]}^T", rf"{inputs[0]}^T {g}"]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return f"{inputs[0]} @ {inputs[1]}"


class Transpose(Module):
    """rows become columns"""

    word = "transpose"

    def shape(self, *shapes: Shape) -> Shape:
        need_matrix(self.word, "input", shapes[0])
        return shapes[0][::-1]

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        return inputs[0].T

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        return [gradient.T]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        return Formula((Terms("", (use.inputs[0].cell(index[::-1]),)),))

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        return [f"{gradient_of(output)}^T"]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return f"{inputs[0]}.T"


def _rows(shape: Shape, *, keep: bool = False) -> list[tuple[int, ...]]:
    """The places of the rows of an array: all axes but the last, or all of them."""
    return list(np.ndindex(*(shape if keep else shape[:-1])))


def _where_used(shape: Shape, index: tuple[int, ...], *, repeated: bool) -> list[tuple[int, ...]]:
    """The cells of an output into which one cell of an input goes that may have been repeated."""
    if not repeated:
        return [index]
    return [(*before, *index) for before in np.ndindex(*shape[: len(shape) - len(index)])]
