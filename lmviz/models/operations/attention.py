"""The steps of causal self-attention (Vaswani et al. 2017), one operation each."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.models.address import gradient_of
from lmviz.models.arithmetic import FUNCTIONS, Arithmetic, Factor, Terms, constant
from lmviz.models.arithmetic.functions import check_function
from lmviz.models.arithmetic.slopes import slope_of
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
from lmviz.models.positions import distance_bias, distance_rows, rotate, rotations
from lmviz.models.precision import widened
from lmviz.models.rotary import Alibi, Rotary
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


@dataclass(frozen=True, eq=False)
class Scale(Operation):
    """Products × `scale`, plus the bias of a tap where there is one; axes (head, query, key).

    Then a `function` of the sum, such as a soft cap.
    """

    products: str
    scale: float
    bias: str = ""
    function: str = ""

    growth = SQUARE

    def __post_init__(self) -> None:
        check_function(self.function)

    @property
    def operands(self) -> tuple[Value, ...]:
        return tuple(Value(address) for address in (self.products, self.bias) if address)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, head, query, key)."""
        scaled = scope.read(Value(self.products)) * self.scale
        scaled = scaled + scope.read(Value(self.bias)) if self.bias else scaled
        return FUNCTIONS[self.function].tensor(scaled)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The product × the scale, and the bias."""
        terms = self._terms(reader, index)
        return explained(reader, address, index, "scaling", terms, function=self.function)

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The gradient × the scale; to the bias the gradient itself; × the function's derivative."""
        if source not in (self.products, self.bias):
            return ()
        factors = [gradient_cell(reader, address, index)]
        if source == self.products:
            factors.append(constant(self.scale))
        if self.function:
            argument = sum(group.products.sum() for group in self._terms(reader, index))
            factors.append(constant(argument, function=slope_of(self.function)))
        return (Terms("scaled" if source == self.products else "biased", tuple(factors)),)

    def _terms(self, reader: Reader, index: tuple[int, ...]) -> tuple[Terms, ...]:
        product = value_cell(reader, Value(self.products), index)
        bias = (Terms("bias", (value_cell(reader, Value(self.bias), index),)),) if self.bias else ()
        return (Terms("product × scale", (product, constant(self.scale))), *bias)


@dataclass(frozen=True, eq=False)
class CausalMask(Operation):
    """Scores, with -inf wherever the key comes after the query; axes (head, query, key).

    With a `window` also where the key is so many positions before the query, or more: the last `window`
    positions are seen, the query's own among them.
    """

    address: str
    window: int = 0

    growth = Growth("square", later=-math.inf)

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, head, query, key)."""
        scores = scope.read(Value(self.address))
        queries, keys = scores.shape[-2:]
        seen = is_seen(queries, keys, scope.first, self.window, scores.device)
        return scores.masked_fill(~seen, -torch.inf)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The score itself, or what the mask hides."""
        score = value_cell(reader, Value(self.address), index)
        if self._hides(index):
            return explained(reader, address, index, "mask", (Terms("hidden score", (score,)),), rule="mask")
        return explained(reader, address, index, "unmasked", (Terms("score", (score,)),))

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """The gradient itself; nothing to what the mask hides."""
        if source != self.address or self._hides(index):
            return ()
        return (Terms("unmasked", (gradient_cell(reader, address, index),)),)

    def _hides(self, index: tuple[int, ...]) -> bool:
        _, query, key = index
        return key > query or bool(self.window and query - key >= self.window)


def is_seen(queries: int, keys: int, first: int, window: int, device: torch.device) -> torch.Tensor:
    """Whether a key is seen by a query, (query, key) bool: the queries are those from position `first` on."""
    seen = torch.ones(queries, keys, dtype=torch.bool, device=device).tril(first)
    return seen.triu(first - window + 1) if window else seen


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
