"""n-gram overlap: which lines have the longest end of the context, followed by the same word or by another.

It costs one look at the text. Of all estimates of what a line taught, it was the best or nearly so on small
models whose lines were really left out: see the guide, *Who taught it this*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.models.interruption import look_up
from lmviz.origins.learned_text import LearnedText

AGAINST = 0.25
"""What the end of a context counts that another word follows, beside one that the same word follows."""

LONGEST = 64
TOGETHER = 1_000_000
"""Targets whose document is looked for at once; five million took a fifth of a second."""


@dataclass(frozen=True)
class Counted:
    """What follows the last `length` tokens of the context in the text: `count` times the word that is asked
    about, `other_count` times the most frequent other one, and `total` times anything."""

    length: int
    count: int
    other: int | None
    other_count: int
    total: int


@dataclass(frozen=True, eq=False)
class Overlap:
    """How much each target (target,) has in common with a question, for it and against it.

    `lengths` is the longest common end of what came before, in tokens; `values` its square, with a minus and
    a quarter of it where another word follows. `counted` are the exact counts for each length of the context.
    """

    lengths: np.ndarray
    values: np.ndarray
    counted: tuple[Counted, ...]


def overlap(text: LearnedText, context: np.ndarray, wanted: int) -> Overlap:
    """The overlap of a text with ids (token,) before the `wanted` one."""
    lengths = np.zeros(len(text.wanted), dtype=np.int16)
    counted: list[Counted] = []
    look_up()
    alive = np.flatnonzero(text.asked & (text.ends >= 0))
    look_up()
    first = np.empty(len(alive), dtype=text.begins.dtype)
    for at in range(0, len(alive), TOGETHER):
        look_up()
        ends = text.ends[alive[at : at + TOGETHER]]
        first[at : at + TOGETHER] = text.begins[np.searchsorted(text.begins, ends, side="right") - 1]
    for length in range(1, min(len(context), LONGEST) + 1):
        look_up()
        places = text.ends[alive] - (length - 1)
        same = places >= first
        look_up()
        same[same] = text.context[places[same]] == context[-length]
        look_up()
        alive, first = alive[same], first[same]
        if not len(alive):
            counted.append(Counted(length, 0, None, 0, 0))
            break
        lengths[alive] = length
        counted.append(_counted(length, text.wanted[alive], wanted))
    look_up()
    square = lengths.astype(np.float32) ** 2
    values = np.where(text.wanted == wanted, square, -AGAINST * square).astype(np.float32)
    return Overlap(lengths, values, tuple(counted))


def _counted(length: int, followers: np.ndarray, wanted: int) -> Counted:
    ids, counts = np.unique(followers, return_counts=True)
    is_wanted = ids == wanted
    others = np.flatnonzero(~is_wanted)
    most = others[np.argmax(counts[others])] if len(others) else None
    return Counted(
        length=length,
        count=int(counts[is_wanted].sum()),
        other=None if most is None else int(ids[most]),
        other_count=0 if most is None else int(counts[most]),
        total=len(followers),
    )
