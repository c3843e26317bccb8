"""The corpora that lmviz generates: the same seed gives the same text on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

from lmviz.text.grammar import Grammar
from lmviz.text.pictures import SIDE, picture_of
from lmviz.text.resources import resource_path

STORIES_SIZE = 2_000_000
"""Characters of `stories`, to within one story."""

_SEED = 1
_LARGEST_ADDEND = 99


def stories() -> str:
    """Short stories, one paragraph each, with a blank line between two."""
    grammar = Grammar.parse(resource_path("corpora", "stories.grammar").read_text(encoding="utf-8"))
    return "\n\n".join(_tell_until(grammar, STORIES_SIZE)) + "\n"


def _tell_until(grammar: Grammar, size: int) -> Iterator[str]:
    random = Random(_SEED)
    told = 0
    while told < size:
        story = grammar.tell("story", random)
        told += len(story) + 2
        yield story


def sums() -> str:
    """Every addition of two numbers from 0 to 99, one a line, in a shuffled order."""
    numbers = range(_LARGEST_ADDEND + 1)
    lines = [f"{left}+{right}={left + right}" for left in numbers for right in numbers]
    random = Random(_SEED)
    keys = [random.random() for _ in lines]  # shuffle() may differ between versions of Python
    order = sorted(range(len(lines)), key=keys.__getitem__)
    return "\n".join(lines[place] for place in order) + "\n"


SHAPES = {
    "square": ("###", "#.#", "###"),
    "circle": (".#.", "#.#", ".#."),
    "cross": ("#.#", ".#.", "#.#"),
    "triangle": ("#..", "##.", "###"),
}
"""Shapes by their names, row by row."""

_SIZE = 3

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
