"""A graph of features as its panel draws it: where each node stands, and what all of it is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.widgets.base.figures import signed_figure, whole_percentage
from lmviz.app.widgets.diagrams.circuit_picture import CircuitNode, CircuitPath
from lmviz.base.counting import numbered
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.features.graph import FeatureEdge, FeatureGraph
    from lmviz.features.graph_picture import PicturedGraph

EDGES, PATHS = 5, 60
SMALLEST, LARGEST = 0.6, 1.7
"""Of the usual width of a node, by how strong it is."""


@dataclass(frozen=True)
class DrawnFeatures:
    """The first `count` nodes of a graph, in a row for each layer and a column for each word."""

    graph: FeatureGraph
    count: int
    pictured: PicturedGraph

    @property
    def nodes(self) -> list[CircuitNode]:
        """The nodes, each as wide as its effect is strong."""
        columns = self._places
        effects = [abs(node.effect) for node in self.pictured.nodes if node.kind != "word"]
        largest = max(effects, default=1.0) or 1.0
        taken: dict[tuple[int, int], int] = {}
        nodes = []
        for node in self.pictured.nodes:
            is_word = node.kind == "word"
            row = -1 if is_word else self._taps.index(node.tap)
            column = columns.index((node.along, node.position))
            slot = taken.get((row, column), 0)
            taken[row, column] = slot + 1
            share = 1.0 if np.isnan(node.effect) else abs(node.effect) / largest
            nodes.append(
                CircuitNode(
                    visible(node.label) if is_word else node.label,
                    row,
                    column,
                    0 if is_word else slot,
                    node.effect,
                    node.kind == "feature",
                    node.label,
                    node.kind == "error",
                    1.0 if is_word else SMALLEST + (LARGEST - SMALLEST) * share**0.5,
                )
            )
        return nodes

    @property
    def paths(self) -> list[CircuitPath]:
        """What flows from node to node, and to the answer."""
        return [CircuitPath(edge.sender, edge.receiver, edge.weight) for edge in self.pictured.edges]

    @property
    def rows(self) -> list[str]:
        """The names of the rows, from below."""
        return [self._row_name(tap) for tap in self._taps]

    @property
    def columns(self) -> list[str]:
        """The words, from the left."""
        return [visible(self._token(along, position)) for along, position in self._places]

    def edges_of(self, at: int | None) -> list[FeatureEdge]:
        """The strongest edges into a node and out of it; for None those into the answer."""
        into = [edge for edge in self.pictured.edges if edge.receiver == at]
        out = [] if at is None else [edge for edge in self.pictured.edges if edge.sender == at]
        return [*_largest(into), *_largest(out)]

    def name(self, at: int | None) -> str:
        """A node in words; for None the answer."""
        if at is None:
            return "the answer"
        node = self.pictured.nodes[at]
        if node.kind == "word":
            return f"“{visible(node.label)}”"
        where = f" at “{visible(self._token(node.along, node.position))}”"
        if node.kind == "error":
            return f"error {self._row_name(node.tap)}{where}"
        return f"feature {node.label}{where}" if node.kind == "feature" else f"“{node.label}”"

    def in_graph(self, edge: FeatureEdge) -> tuple[int, int | None] | None:
        """The numbers in the graph of the nodes that an edge joins; None where one of them is a group."""
        sender, receiver = (self._members(at) for at in (edge.sender, edge.receiver))
        if len(sender) != 1 or len(receiver) > 1:
            return None
        return sender[0], receiver[0] if receiver else None

    @property
    def kept(self) -> float | None:
        """The share of the answer that these nodes keep alone; None where that was not measured."""
        kept = self.graph.kept
        if kept is None or self.count not in kept.sizes:
            return None
        share = float(kept.shares[kept.sizes.index(self.count)])
        return None if np.isnan(share) else share

    @property
    def briefly(self) -> str:
        """How many there are and what they keep, for the end of a line."""
        return str(self.count) if self.kept is None else f"{self.count} keep {whole_percentage(self.kept)}"

    @property
    def sentence(self) -> str:
        """What these nodes keep alone, and how many of them are errors."""
        kept = self.graph.kept
        if kept is None or self.kept is None:
            return f"{len(self.graph.nodes)} nodes. What they keep alone was not measured."
        rest = "as in the changed text" if kept.rest == "changed" else "off"
        errors = sum(node.kind == "error" for node in self.graph.nodes[: self.count])
        who = f"These {self.count} nodes alone keep" if self.count > 1 else "This node alone keeps"
        said = (
            f"{who} {whole_percentage(self.kept)} of the way from {signed_figure(kept.nothing)}, with all "
            f"features and errors {rest}, to {signed_figure(kept.whole)}."
        )
        if errors:
            said += f" {errors} of them {'are errors' if errors > 1 else 'is an error'}."
        return said

    def _members(self, at: int | None) -> tuple[int, ...]:
        return () if at is None else self.pictured.nodes[at].members

    @cached_property
    def _places(self) -> list[tuple[str, int]]:
        return sorted({(node.along, node.position) for node in self.pictured.nodes})

    @cached_property
    def _taps(self) -> list[str]:
        """The taps of what is drawn, from below."""
        present = {node.tap for node in self.pictured.nodes if node.kind != "word"}
        order = [one.target for one in self.graph.dictionaries]
        return sorted(present, key=lambda tap: order.index(tap) if tap in order else _layer(tap))

    def _row_name(self, tap: str) -> str:
        """The layer of a row; its place where two are of one layer."""
        layers = [_layer(one) for one in self._taps]
        is_told = len(set(layers)) == len(layers)
        return str(numbered(_layer(tap)) if is_told else self._taps.index(tap) + 1)

    def _token(self, along: str, position: int) -> str:
        tokens = self.graph.tokens.get(along, ())
        return tokens[position] if position < len(tokens) else ""


def drawn_features(graph: FeatureGraph, count: int) -> DrawnFeatures:
    """The first `count` nodes, with those of a group as one, and the edges that matter most."""
    from lmviz.features.graph_picture import pictured

    return DrawnFeatures(graph, count, pictured(graph, count, PATHS))


def sizes_of(graph: FeatureGraph) -> tuple[int, ...]:
    """The numbers of nodes that can be drawn: those for which it was measured what they keep."""
    if graph.kept is not None:
        return graph.kept.sizes
    steps = np.geomspace(1, max(len(graph.nodes), 1), 20).astype(int)
    return tuple(sorted({int(size) for size in steps})) if graph.nodes else ()


def _layer(tap: str) -> int:
    from lmviz.models.address import Address

    return Address.parse(tap).layer or 0


def _largest(edges: Sequence[FeatureEdge]) -> list[FeatureEdge]:
    return sorted(edges, key=lambda edge: -abs(edge.weight))[:EDGES]
