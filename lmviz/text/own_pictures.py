"""The corpus `pictures`, which lmviz paints: every picture of one or two shapes, with its caption."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

from lmviz.text.pictures import SIDE, picture_of

SHAPES = {
    "square": ("###", "#.#", "###"),
    "circle": (".#.", "#.#", ".#."),
    "cross": ("#.#", ".#.", "#.#"),
    "triangle": ("#..", "##.", "###"),
}
"""Shapes by their names, row by row."""

_SIZE = 3
_SEED = 1

Place = tuple[str, int, int]
"""A shape, and the row and the column of its upper left pixel."""


def pictures() -> str:
    """Pictures with, behind a tab, their captions: all there are, each on one line, in a shuffled order.

    So a picture that is held out is one that no model has seen.
    """
    lines = [f"{_painted(places)}\t{caption}" for places, caption in _all()]
    random = Random(_SEED)
    keys = [random.random() for _ in lines]  # shuffle() may differ between versions of Python
    order = sorted(range(len(lines)), key=keys.__getitem__)
    return "\n".join(lines[place] for place in order) + "\n"


def _all() -> Iterator[tuple[tuple[Place, ...], str]]:
    """Each shape everywhere, and each two shapes wherever one is clearly above or left of the other."""
    starts = range(SIDE - _SIZE + 1)
    for shape, row, column in product(SHAPES, starts, starts):
        yield ((shape, row, column),), shape
    for first, second in product(SHAPES, SHAPES):
        for one, other, aside, apart in product(starts, starts, starts, starts):
            # One behind the other and never overlapping; and less far to the side than that.
            if other - one >= _SIZE and abs(apart - aside) < other - one:
                yield ((first, one, aside), (second, other, apart)), f"{first} above {second}"
                yield ((first, aside, one), (second, apart, other)), f"{first} left of {second}"


def _painted(places: tuple[Place, ...]) -> str:
    painted = {
        (row + down, column + right)
        for shape, row, column in places
        for down, line in enumerate(SHAPES[shape])
        for right, pixel in enumerate(line)
        if pixel == "#"
    }
    return picture_of([at in painted for at in product(range(SIDE), range(SIDE))])
