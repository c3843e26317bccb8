"""The graph of an answer: features, errors and words, and what each adds to each that reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from lmviz.base.arguments import whole_number, whole_numbers
from lmviz.base.errors import LmvizError
from lmviz.inspection.names import title_of
from lmviz.looks.shown import Shown
from lmviz.models.address import Address

if TYPE_CHECKING:
    from lmviz.circuits.contrast import Contrast
    from lmviz.features.dictionary import Dictionary
    from lmviz.inspection.intervention import Intervention

NodeKind = Literal["feature", "error", "word", "rest"]


@dataclass(frozen=True)
class FeatureNode:
    """A feature that is on at a position, what a dictionary leaves there, a word as it enters, or all else.

    `tap` is the address of what it writes, `along` the axis of its `position` and `token` what stands there.
    `feature` is the id of a word, and −1 of an error; `activation` is None of both. `effect` is what the
    measure would lose without it over all paths, with all that is held; NaN where a file does not say.
    """

    kind: NodeKind
    tap: str
    position: int
    token: str
    effect: float
    feature: int = -1
    activation: float | None = None
    along: str = "position"

    @property
    def layer(self) -> int | None:
        """Its layer, counted from 0; None of a word."""
        return None if self.kind == "word" else Address.parse(self.tap).layer

    def __str__(self) -> str:
        """As in Python, counted from 0: "feature 12 of layers/1/residual2 @ 5"."""
        if self.kind == "rest":
            return "all else"
        what = f"feature {self.feature}" if self.kind == "feature" else self.kind
        of = "" if self.kind == "word" else f" of {self.tap}"
        return f"{what}{of} @ {self.position} “{self.token}”"


@dataclass(frozen=True)
class NodeGroup:
    """Nodes that a person has put together under a name, by their numbers."""

    name: str
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class FeatureEdge:
    """What a node adds to the score of another, by their numbers, or to the measure: `receiver` None."""

    sender: int
    receiver: int | None
    weight: float


@dataclass(frozen=True, eq=False)
class KeptAlone:
    """The measure where only the first nodes are there, (size,), in runs of the model itself.

    `sizes` say how many nodes. All others are "off", or as in the "changed" text. `whole` is the measure
    with all that there is, `nothing` that without any.
    """

    sizes: tuple[int, ...]
    measures: np.ndarray
    whole: float
    nothing: float
    rest: str

    @property
    def shares(self) -> np.ndarray:
        """(size,) of the way from nothing to the whole; NaN where these are one."""
        apart = self.whole - self.nothing
        return (self.measures - self.nothing) / apart if apart else np.full(len(self.sizes), np.nan)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FeatureGraph(Shown):
    """The nodes that matter most, the strongest first, and what each adds to each that reads it.

    `weights` (receiver, sender) are exact parts of sums: of the score of each feature, and in the last row of
    the measure. `left_out` (receiver,) is what nodes add that are not among these, `rest` all else, such as
    biases, positions and averages; `sums` are the scores themselves and the measure. Rows of errors and words
    are 0: they begin. `kept` says what the first nodes alone keep, None where it was not measured. `tokens`
    are the texts by their axis, `answer` the position and the id of the word that is asked for.
    """

    nodes: tuple[FeatureNode, ...]
    weights: np.ndarray
    left_out: np.ndarray
    rest: np.ndarray
    sums: np.ndarray
    tokens: Mapping[str, tuple[str, ...]]
    measure: str
    said: str = ""
    dictionaries: tuple[Dictionary, ...] = ()
    contrast: Contrast | None = None
    interventions: tuple[Intervention, ...] = ()
    kept: KeptAlone | None = None
    groups: tuple[NodeGroup, ...] = ()
    answer: tuple[int, int] = (0, 0)

    @property
    def value(self) -> float:
        """The measure."""
        return float(self.sums[-1])

    @property
    def rounding(self) -> np.ndarray:
        """(receiver,) what rounding leaves between each sum and its parts."""
        found: np.ndarray = self.sums - self.weights.sum(axis=1) - self.left_out - self.rest
        return found

    def edges(self, count: int = 40, among: int | None = None) -> list[FeatureEdge]:
        """The strongest edges among the first nodes, by their share of what they flow into.

        A weight counts as its share of all that is added to the receiver, times how much that one matters.
        """
        size = len(self.nodes) if among is None else min(whole_number("among", among), len(self.nodes))
        rows = [*range(size), len(self.nodes)]
        effects = [node.effect for node in self.nodes[:size]]
        return strongest_edges(
            self.weights[rows][:, :size], effects, self.value, whole_number("count", count)
        )

    def into(self, receiver: int | None, count: int = 10) -> list[FeatureEdge]:
        """The strongest edges into a node, or into the measure; LmvizError where there is no such node."""
        at = self.row(receiver)
        order = np.argsort(-np.abs(self.weights[at]), kind="stable")[: whole_number("count", count)]
        found = (FeatureEdge(int(sender), receiver, float(self.weights[at, sender])) for sender in order)
        return [edge for edge in found if edge.weight]

    def out_of(self, sender: int, count: int = 10) -> list[FeatureEdge]:
        """The strongest edges out of a node; LmvizError where there is no such node."""
        of = self.weights[:, self.check(sender)]
        order = np.argsort(-np.abs(of), kind="stable")[: whole_number("count", count)]
        last = len(self.nodes)
        found = (FeatureEdge(sender, None if row == last else int(row), float(of[row])) for row in order)
        return [edge for edge in found if edge.weight]

    def check(self, node: int) -> int:
        """The number of a node; LmvizError where there is none."""
        if whole_number("node", node) >= len(self.nodes):
            raise LmvizError(f"There is no node {node}: they are counted from 0 to {len(self.nodes) - 1}.")
        return int(node)  # of True, 1

    def row(self, receiver: int | None) -> int:
        """The row of a receiver in `weights`; LmvizError where nothing is added to it."""
        if receiver is None:
            return len(self.nodes)
        at = self.check(receiver)
        if self.nodes[at].kind != "feature":
            raise LmvizError(
                f"Nothing flows into {self.nodes[at]}: edges lead to features and to the measure."
            )
        return at

    def grouped(self, name: str, nodes: Sequence[int]) -> FeatureGraph:
        """The same graph with some nodes put together under a name; they leave the groups they were in.

        LmvizError without a name or nodes.
        """
        if not isinstance(name, str) or not name.strip():
            raise LmvizError(f"{name!r} is no name: give the group one, such as “colours”.")
        members = tuple(dict.fromkeys(self.check(node) for node in whole_numbers("nodes", nodes)))
        if not members:
            raise LmvizError("A group needs nodes: give their numbers.")
        others = [
            NodeGroup(group.name, tuple(node for node in group.nodes if node not in members))
            for group in self.groups
            if group.name != name.strip()
        ]
        kept = [group for group in others if group.nodes]
        return replace(self, groups=(*kept, NodeGroup(name.strip(), members)))

    def ungrouped(self, name: str) -> FeatureGraph:
        """The same graph without a group; LmvizError where there is none of that name."""
        if name not in {group.name for group in self.groups}:
            raise LmvizError(f"No group is called {name!r}.")
        return replace(self, groups=tuple(group for group in self.groups if group.name != name))

    def name_of(self, node: int) -> str:
        """What a node is called in words: "feature 12 after layer 2"."""
        found = self.nodes[self.check(node)]
        if found.kind == "word":
            return f"the word “{found.token}”"
        what = f"feature {found.feature}" if found.kind == "feature" else "error"
        return f"{what} of {title_of(found.tap)}" if found.tap else what


def strongest_edges(
    weights: np.ndarray, effects: Sequence[float], value: float, count: int
) -> list[FeatureEdge]:
    """The edges that matter most of weights (receiver, sender), whose last row is that of the measure.

    A weight counts as its share of all that is added to the receiver, times how much that one matters.
    """
    size = len(effects)
    if not size:
        return []
    into = np.abs(weights).sum(axis=1, keepdims=True)
    matters = np.nan_to_num(np.abs([*effects, value]), nan=1.0)
    matters[-1] = matters[-1] or 1.0
    strong = (np.abs(weights) / np.where(into > 0, into, 1.0) * matters[:, None]).ravel()
    cells = [divmod(int(at), size) for at in np.argsort(-strong, kind="stable")[:count] if strong[at] > 0]
    return [
        FeatureEdge(sender, None if row == size else row, float(weights[row, sender]))
        for row, sender in cells
    ]
