"""Shapes that fit together, and sentences about those that do not."""

from __future__ import annotations

import numpy as np

from lmviz.base.errors import LmvizError

Shape = tuple[int, ...]


class ShapeFault(LmvizError):
    """Why a module cannot take inputs of these shapes."""


def in_words(shape: Shape) -> str:
    """A shape as a person says it: "a number", "a vector of 3", "a matrix of 3 × 2"."""
    if not shape:
        return "a number"
    return f"a vector of {shape[0]}" if len(shape) == 1 else f"a matrix of {shape[0]} × {shape[1]}"


def broadcast(word: str, shapes: tuple[Shape, ...]) -> Shape:
    """The shape of a result taken cell by cell.

    A number goes with every cell, a vector with every row of a matrix; other shapes must be equal.
    """
    largest = max(shapes, key=len)
    for shape in shapes:
        if shape != largest[len(largest) - len(shape) :]:
            raise ShapeFault(
                f"{word} takes {in_words(largest)} and {in_words(shape)}, which do not go together cell by "
                "cell: give both the same shape."
            )
    return largest


def fitted(gradient: np.ndarray, shape: Shape) -> np.ndarray:
    """A gradient summed over the axes along which its value was repeated."""
    repeated = tuple(range(gradient.ndim - len(shape)))
    return np.asarray(gradient.sum(axis=repeated)) if repeated else gradient


def need_matrix(word: str, what: str, shape: Shape) -> None:
    """ShapeFault where an input is not a matrix."""
    if len(shape) != 2:
        raise ShapeFault(
            f"{word} needs a matrix as its {what}, and this is {in_words(shape)}: end its rows "
            "with a semicolon."
        )


def need_axis(word: str, shape: Shape) -> None:
    """ShapeFault where an input is a single number."""
    if not shape:
        raise ShapeFault(f"{word} needs a vector or a matrix, and this is a number: write it as [1; 2].")
