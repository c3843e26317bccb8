"""What attention does with positions: turns of queries and keys, and biases of scores by distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from lmviz.models.address import gradient_of
from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant
from lmviz.models.growth import ROWS, WHOLE
from lmviz.models.operations.factors import (
    explained,
    gradient_cell,
    part,
    value_cell,
    value_cells,
    weight_row,
)
from lmviz.models.positions import distance_bias, distance_rows, rotate, rotations
from lmviz.models.precision import widened
from lmviz.models.rotary import Alibi, Rotary
from lmviz.models.tap import GradientReader, Operation, Reader, Scope, Value, Weight


@dataclass(frozen=True, eq=False)
class Rotate(Operation):
    """Queries or keys, each pair of channels turned by an angle that grows with position (Su et al. 2021).

    Where fewer channels are turned than a head has, the last ones pass through.
    """

    address: str
    rotary: Rotary

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, head, position, channel)."""
        vectors = scope.read(Value(self.address))
        turns = rotations(scope.tokens.shape[1], self.rotary)[:, scope.first :]
        return rotate(vectors, turns.to(vectors.device), self.rotary.pairs)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """Own channel × cos(angle), and the pair's other channel × sin(∓angle)."""
        head, position, channel = index
        own = value_cell(reader, Value(self.address), index)
        if channel >= self.rotary.channels:
            return explained(reader, address, index, "passed on, not turned", (Terms("own channel", (own,)),))
        cosine, sine, partner = self._turn(reader, position, channel)
        other = value_cell(reader, Value(self.address), (head, position, partner))
        terms = (
            Terms("own channel", (own, *cosine)),
            Terms("other channel of the pair", (other, *sine)),
        )
        return explained(reader, address, index, "rotation", terms)

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The turn undone: own gradient × cos(angle), and that of the pair's other channel × sin(±angle)."""
        if source != self.address:
            return ()
        head, position, channel = index
        own = gradient_cell(reader, address, index)
        if channel >= self.rotary.channels:
            return (Terms("passed on, not turned", (own,)),)
        cosine, sine, partner = self._turn(reader, -position, channel)
        other = gradient_cell(reader, address, (head, position, partner))
        return (
            Terms("own channel", (own, *cosine)),
            Terms("other channel of the pair", (other, *sine)),
        )

    def _turn(
        self, reader: Reader, position: int, channel: int
    ) -> tuple[tuple[Factor, ...], tuple[Factor, ...], int]:
        """What a channel and its partner are multiplied by, and which channel that partner is."""
        rotary = self.rotary.in_text(len(reader.ids()))
        angle, other = position * rotary.frequencies[rotary.pair(channel)], rotary.other(channel)
        magnitude = () if rotary.magnitude == 1 else (constant(rotary.magnitude),)
        cosine = constant(angle, function="cos")
        sine = constant(angle if other < channel else -angle, function="sin")
        return (cosine, *magnitude), (sine, *magnitude), other


@dataclass(frozen=True, eq=False)
class DistanceBias(Operation):
    """What ALiBi adds to scores: the more negative, the further back the key (Press et al. 2022).

    With `both_ways` the same for keys that come after the query.
    """

    alibi: Alibi
    both_ways: bool = False

    growth = WHOLE
    operands = ()

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, head, query, key), alike in the whole batch."""
        batch, positions = scope.tokens.shape
        biases = distance_bias(self.alibi, positions, scope.tokens.device, both_ways=self.both_ways)
        return biases.expand(batch, -1, -1, -1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The head's slope × the distance from query to key."""
        head, query, key = index
        if self.alibi.slopes == "bfloat16":
            falls = self.alibi.rounded(max(query, key) + 1)[head]
            sign = -1.0 if self.both_ways and falls[key] > falls[query] else 1.0
            rounded = tuple(
                Terms(f"slope × position of the {name}, rounded", (constant(way * sign * falls[at]),))
                for name, at, way in (("key", key, 1), ("query", query, -1))
            )
            return explained(reader, address, index, "bias by distance", rounded)
        distance = -abs(key - query) if self.both_ways else key - query
        terms = Terms("slope × distance", (constant(self.alibi.by_head[head]), constant(distance)))
        return explained(reader, address, index, "bias by distance", (terms,))


@dataclass(frozen=True, eq=False)
class LearnedDistanceBias(Operation):
    """What relative positions add to scores: a number from `table` (distance, head) (Raffel et al. 2020).

    T5 joins far distances in buckets; here each distance up to the context has a row of its own, as
    `distance_rows` says. Without `both_ways` later keys have none, and their bias is zero.
    """

    table: Weight
    distances: int
    both_ways: bool = False

    growth = WHOLE
    operands = ()

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, head, query, key), alike in the whole batch."""
        batch, positions = scope.tokens.shape
        rows = distance_rows(positions, self.distances, scope.tokens.device, both_ways=self.both_ways)
        biases = widened(scope.weight(self.table)[rows]).permute(2, 0, 1)
        return (biases if self.both_ways else biases.tril()).expand(batch, -1, -1, -1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The head's number for the distance from query to key."""
        head, query, key = index
        if key > query and not self.both_ways:
            return explained(reader, address, index, "later key", (Terms("bias", (constant(0.0),)),))
        row = query - key + (self.distances // 2 if self.both_ways else 0)
        number = part(weight_row(reader, self.table, row), head, 1)
        return explained(reader, address, index, "row of the distance", (Terms("distance", (number,)),))

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The gradients of all pairs of query and key at the distance of the row."""
        if source != self.table.name:
            return ()
        row, head = index
        back = row - (self.distances // 2 if self.both_ways else 0)
        positions = reader.array(address).shape[-1]
        if abs(back) >= positions:
            return ()
        queries = np.arange(max(back, 0), positions + min(back, 0))
        cells = np.column_stack([np.full_like(queries, head), queries, queries - back])
        return (Terms("distance", (value_cells(reader, gradient_of(address), cells),)),)
