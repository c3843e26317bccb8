"""Parts that hold all that they need to answer by themselves, without the model that the numbers are of.

A page shows them where lmviz is not. The positions of one text are pointed at together: whatever is of the
same words follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lmviz.looks.parts import NOTHING, LookPart, Matrix

NO_NUMBERS = NOTHING[0:0].ravel()


@dataclass(frozen=True, eq=False, kw_only=True)
class TokenText(LookPart):
    """The `tokens` of a text, coloured by `values` (position,), NaN where there is none.

    `measure` says what the values are, in `unit`; `scale` is one of `lmviz.models.tap.SCALES`, `limit` the
    number of the strongest colour, found where it is None, and `ends` what the ends of the scale mean.
    """

    tokens: Sequence[str] = ()
    values: np.ndarray = field(default_factory=lambda: NO_NUMBERS)
    measure: str = ""
    unit: str = ""
    scale: str = "count"
    limit: float | None = None
    ends: tuple[str, str] = ("", "")


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadWeights(LookPart):
    """What heads look at: `weights` (head, query, key) over the `tokens` of a text.

    `places` (head,) are layer and head of each, counted from 0, `of` how many layers there are, and heads in
    each; the one at `chosen` is seen at first. `keys` are the tokens that are looked at where they are of
    another text. With `top`, so many of the strongest weights of each row are handed out, and of the others
    nothing.
    """

    tokens: Sequence[str] = ()
    weights: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.float32))
    places: Sequence[tuple[int, int]] = ()
    of: tuple[int, int] = (0, 0)
    keys: Sequence[str] = ()
    top: int = 0
    chosen: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class WhatFollows(LookPart):
    """What follows at each position of a text: the likeliest, and all of it where there are logits.

    `likeliest` (position, candidate) are ids and `shares` (position, candidate) their probabilities as the
    model gives them. `logits` (place, token) are those of the `places` among the positions; with them,
    temperature and filters can be set, and `options` are the temperature, top-k, top-p and min-p that are set
    at first. `vocabulary` has the words by id.
    """

    tokens: Sequence[str] = ()
    vocabulary: Sequence[str] = ()
    likeliest: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    shares: np.ndarray = field(default_factory=lambda: NOTHING)
    places: Sequence[int] = ()
    logits: np.ndarray = field(default_factory=lambda: NOTHING)
    options: tuple[float, int, float, float] = (1.0, 0, 1.0, 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class OverText(LookPart):
    """A matrix whose columns are positions of a text, `positions` (column,) among its `tokens`."""

    tokens: Sequence[str] = ()
    positions: Sequence[int] = ()
    matrix: Matrix = field(default_factory=Matrix)

    @property
    def inner(self) -> Sequence[LookPart]:
        return (self.matrix,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Frames(LookPart):
    """One part of several, as a slider has it: `names` say which, such as the steps of a training.

    `title` says what the slider goes through, `chosen` which is seen at first.
    """

    title: str = ""
    names: Sequence[str] = ()
    parts: Sequence[LookPart] = ()
    chosen: int = 0

    @property
    def inner(self) -> Sequence[LookPart]:
        return self.parts


@dataclass(frozen=True, eq=False, kw_only=True)
class PollQuestion(LookPart):
    """A question with its choices; what is `right`, `computed` and said of it is hidden until asked for.

    `choices` are (letter, text); `right` is a letter, "" where the answer is not known here.
    """

    question: str = ""
    choices: Sequence[tuple[str, str]] = ()
    right: str = ""
    computed: str = ""
    because: str = ""


@dataclass(frozen=True)
class GraphNode:
    """A part in a graph: its `column` and its `row` from below, a name, its strength, and what is said of it.

    `kind` is "head", "layer" or "word".
    """

    name: str
    column: int
    row: int
    value: float
    kind: str = "head"
    said: str = ""


@dataclass(frozen=True)
class GraphEdge:
    """A path from one node to another, by their places among the nodes, and its strength."""

    sender: int
    receiver: int
    value: float


@dataclass(frozen=True, eq=False, kw_only=True)
class PartsGraph(LookPart):
    """Nodes over columns, such as words, in rows, such as layers from below, and paths between them.

    The area of a node and the width of a path go with their strength; a negative one has the other colour.
    """

    nodes: Sequence[GraphNode] = ()
    edges: Sequence[GraphEdge] = ()
    columns: Sequence[str] = ()
    rows: Sequence[str] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedPicture(LookPart):
    """A picture as the window drew it, PNG, of so many pixels at scale 1; it answers no pointer."""

    content: bytes = b""
    size: tuple[int, int] = (0, 0)
