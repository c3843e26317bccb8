"""The corpora that lmviz generates: the same seed gives the same text on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from lmviz.text.grammar import Grammar
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
