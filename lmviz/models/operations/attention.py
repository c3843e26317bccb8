"""The steps of causal self-attention (Vaswani et al. 2017), one operation each."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.models.address import gradient_of
from lmviz.models.arithmetic import Arithmetic, Terms, constant
from lmviz.models.growth import ROWS, SQUARE, WHOLE, Growth
from lmviz.models.operations.affine import Affine
from lmviz.models.operations.factors import (
    explained,
    gradient_cell,
    gradient_line,
    part,
    value_cell,
    value_cells,
    value_line,
    weight_row,
)
from lmviz.models.positions import distance_bias, distance_rows, rotate, rotations, slopes
from lmviz.models.precision import widened
from lmviz.models.rotary import Rotary
from lmviz.models.tap import GradientReader, Operation, Reader, Scope, Value, Weight


def for_each_head(vectors: torch.Tensor, shared: int) -> torch.Tensor:
    """Keys or values (batch, group, position, channel) as (batch, head, position, channel)."""
    return vectors if shared == 1 else vectors.repeat_interleave(shared, dim=1)


@dataclass(frozen=True, eq=False)
class SplitHeads(Operation):
    """An affine map whose units are dealt out to heads; axes (head, position, channel)."""

    affine: Affine
    heads: int

    @property
    def growth(self) -> Growth:
        return self.affine.growth

    @property
    def operands(self) -> tuple[Value, ...]:
        return self.affine.operands

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, head, position, channel)."""
        return self.affine.compute(scope).unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The affine map's arithmetic of the unit that became this channel of this head."""
        head, position, channel = index
        unit = head * reader.array(address).shape[-1] + channel
        terms = self.affine.terms(reader, position, unit)
        return explained(
            reader, address, index, self.affine.description, terms, function=self.affine.function
        )

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """What the affine map passes back, its units counted head by head."""
        _, count, width = reader.array(address).shape

        def cells(positions: np.ndarray, units: np.ndarray) -> np.ndarray:
            return np.column_stack([units // width, positions, units % width])

        return self.affine.passed_back_by(reader, address, source, index, cells, count)


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
        return rotate(vectors, turns.to(vectors.device))

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """Own channel × cos(angle), and the pair's other channel × sin(∓angle)."""
        head, position, channel = index
        width = self.rotary.channels
        if channel >= width:
            own = Terms("own channel", (value_cell(reader, Value(self.address), index),))
            return explained(reader, address, index, "passed on, not turned", (own,))
        half = width // 2
        angle = position * self.rotary.frequencies[channel % half]
        cosine = constant(angle, function="cos")
        sine = constant(angle if channel >= half else -angle, function="sin")
        other = (head, position, (channel + half) % width)
        terms = (
            Terms("own channel", (value_cell(reader, Value(self.address), index), cosine)),
            Terms("other channel of the pair", (value_cell(reader, Value(self.address), other), sine)),
        )
        return explained(reader, address, index, "rotation", terms)

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The turn undone: own gradient × cos(angle), and that of the pair's other channel × sin(±angle)."""
        if source != self.address:
            return ()
        head, position, channel = index
        width = self.rotary.channels
        own = gradient_cell(reader, address, index)
        if channel >= width:
            return (Terms("passed on, not turned", (own,)),)
        half = width // 2
        angle = position * self.rotary.frequencies[channel % half]
        other = gradient_cell(reader, address, (head, position, (channel + half) % width))
        sine = constant(angle if channel < half else -angle, function="sin")
        return (
            Terms("own channel", (own, constant(angle, function="cos"))),
            Terms("other channel of the pair", (other, sine)),
        )


@dataclass(frozen=True, eq=False)
class DotProducts(Operation):
    """Every query times every key; axes (head, query, key).

    Each head of keys serves `shared` heads of queries in a row (Ainslie et al. 2023).
    """

    queries: str
    keys: str
    shared: int = 1

    growth = SQUARE

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.queries), Value(self.keys))

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, head, query, key)."""
        keys = for_each_head(scope.read_keys(Value(self.keys)), self.shared)
        return scope.read(Value(self.queries)) @ keys.transpose(-2, -1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """Channel by channel, query × key."""
        head, query, key = index
        queries = value_line(reader, self.queries, (head, query, 0), axis=2)
        keys = value_line(reader, self.keys, (head // self.shared, key, 0), axis=2)
        return explained(reader, address, index, "dot product", (Terms("query × key", (queries, keys)),))

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """To a query key by key, to a key query by query: the product's gradient × the other of the two."""
        groups = []
        if source not in (self.queries, self.keys):
            return ()
        head, place, channel = index
        if source == self.queries:
            keys = value_line(reader, self.keys, (head // self.shared, 0, channel), axis=1)
            groups.append(Terms("as query", (gradient_line(reader, address, (head, place, 0), axis=2), keys)))
        if source == self.keys:
            for served in range(head * self.shared, (head + 1) * self.shared):
                queries = value_line(reader, self.queries, (served, 0, channel), axis=1)
                gradients = gradient_line(reader, address, (served, 0, place), axis=1)
                groups.append(Terms("as key", (gradients, queries)))
        return tuple(groups)


@dataclass(frozen=True, eq=False)
class DistanceBias(Operation):
    """What ALiBi adds to scores: the more negative, the further back the key (Press et al. 2022).

    With `both_ways` the same for keys that come after the query.
    """

    heads: int
    both_ways: bool = False

    growth = WHOLE
    operands = ()

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, head, query, key), alike in the whole batch."""
        batch, positions = scope.tokens.shape
        biases = distance_bias(self.heads, positions, scope.tokens.device, both_ways=self.both_ways)
        return biases.expand(batch, -1, -1, -1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The head's slope × the distance from query to key."""
        head, query, key = index
        distance = -abs(key - query) if self.both_ways else key - query
        terms = Terms("slope × distance", (constant(slopes(self.heads)[head]), constant(distance)))
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


@dataclass(frozen=True, eq=False)
class Scale(Operation):
    """Products × `scale`, plus the bias of a tap where there is one; axes (head, query, key)."""

    products: str
    scale: float
    bias: str = ""

    growth = SQUARE

    @property
    def operands(self) -> tuple[Value, ...]:
        return tuple(Value(address) for address in (self.products, self.bias) if address)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, head, query, key)."""
        scaled = scope.read(Value(self.products)) * self.scale
        return scaled + scope.read(Value(self.bias)) if self.bias else scaled

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The product × the scale, and the bias."""
        product = value_cell(reader, Value(self.products), index)
        terms = [Terms("product × scale", (product, constant(self.scale)))]
        if self.bias:
            terms.append(Terms("bias", (value_cell(reader, Value(self.bias), index),)))
        return explained(reader, address, index, "scaling", tuple(terms))

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The gradient × the scale; to the bias the gradient itself."""
        if source == self.products:
            return (Terms("scaled", (gradient_cell(reader, address, index), constant(self.scale))),)
        return (Terms("biased", (gradient_cell(reader, address, index),)),) if source == self.bias else ()


@dataclass(frozen=True, eq=False)
class CausalMask(Operation):
    """Scores, with -inf wherever the key comes after the query; axes (head, query, key)."""

    address: str

    growth = Growth("square", later=-math.inf)

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, head, query, key)."""
        scores = scope.read(Value(self.address))
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1 + scope.first)
        return scores.masked_fill(later, -torch.inf)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The score itself, or what the mask hides."""
        _, query, key = index
        score = value_cell(reader, Value(self.address), index)
        if key > query:
            return explained(reader, address, index, "mask", (Terms("hidden score", (score,)),), rule="mask")
        return explained(reader, address, index, "unmasked", (Terms("score", (score,)),))

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The gradient itself; nothing to what the mask hides."""
        if source != self.address or index[2] > index[1]:
            return ()
        return (Terms("unmasked", (gradient_cell(reader, address, index),)),)


@dataclass(frozen=True, eq=False)
class Mix(Operation):
    """The values of all keys, weighted by attention; axes (head, position, channel).

    Each head of values serves `shared` heads of attention in a row.
    """

    weights: str
    values: str
    shared: int = 1

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.weights), Value(self.values))

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, head, position, channel)."""
        values = for_each_head(scope.read_keys(Value(self.values)), self.shared)
        return scope.read(Value(self.weights)) @ values

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """Key by key, attention weight × value."""
        head, position, channel = index
        weights = value_line(reader, self.weights, (head, position, 0), axis=2)
        values = value_line(reader, self.values, (head // self.shared, 0, channel), axis=1)
        return explained(
            reader, address, index, "weighted mean", (Terms("weight × value", (weights, values)),)
        )

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """To a weight channel by channel, to a value query by query: the gradient × the other of the two."""
        groups = []
        if source == self.weights:
            head, query, key = index
            values = value_line(reader, self.values, (head // self.shared, key, 0), axis=2)
            groups.append(
                Terms("as weight", (gradient_line(reader, address, (head, query, 0), axis=2), values))
            )
        if source == self.values:
            head, key, channel = index
            for served in range(head * self.shared, (head + 1) * self.shared):
                weights = value_line(reader, self.weights, (served, 0, key), axis=1)
                gradients = gradient_line(reader, address, (served, 0, channel), axis=1)
                groups.append(Terms("as value", (gradients, weights)))
        return tuple(groups)
