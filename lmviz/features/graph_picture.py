"""A graph of features as it is drawn: its first nodes, groups as one, and the edges that matter most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.features.graph import FeatureEdge, FeatureGraph, strongest_edges

GROUP = "group"


@dataclass(frozen=True)
class PicturedNode:
    """A node, or those of a group: `members` are their numbers in the graph, the strongest first.

    It stands where the strongest does. `effect` is the sum of theirs.
    """

    members: tuple[int, ...]
    kind: str
    label: str
    tap: str
    position: int
    along: str
    effect: float


@dataclass(frozen=True)
class PicturedGraph:
    """Nodes, and edges by their numbers among these."""

    nodes: tuple[PicturedNode, ...]
    edges: tuple[FeatureEdge, ...]


def pictured(graph: FeatureGraph, count: int, edges: int = 60) -> PicturedGraph:
    """The first `count` nodes, with those of a group as one, and so many edges among them.

    What flows between groups is the sum over their nodes.
    """
    count = min(count, len(graph.nodes))
    of_group = {node: group.name for group in graph.groups for node in group.nodes}
    members: dict[object, list[int]] = {}
    for at in range(count):
        members.setdefault(of_group.get(at, at), []).append(at)
    nodes = tuple(_node(graph, key, found) for key, found in members.items())
    belongs = np.zeros((count, len(nodes)))
    for number, node in enumerate(nodes):
        belongs[list(node.members), number] = 1
    among = np.vstack(
        [belongs.T @ graph.weights[:count, :count] @ belongs, graph.weights[-1:, :count] @ belongs]
    )
    np.fill_diagonal(among, 0)  # what flows within a group
    found = strongest_edges(among, [node.effect for node in nodes], graph.value, edges)
    return PicturedGraph(nodes, tuple(found))


def _node(graph: FeatureGraph, key: object, members: Sequence[int]) -> PicturedNode:
    first = graph.nodes[members[0]]
    is_group = isinstance(key, str)
    label = str(first.feature) if first.kind == "feature" else first.token
    return PicturedNode(
        tuple(members),
        GROUP if is_group else first.kind,
        str(key) if is_group else label,
        first.tap,
        first.position,
        first.along,
        float(sum(graph.nodes[at].effect for at in members)),
    )
