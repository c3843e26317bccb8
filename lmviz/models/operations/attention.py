"""The steps of causal self-attention (Vaswani et al. 2017), one operation each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.models.arithmetic import FUNCTIONS, Arithmetic, Terms, constant
from lmviz.models.functions import check_function
from lmviz.models.growth import ROWS, SQUARE, Growth
from lmviz.models.operations.affine import Affine
from lmviz.models.operations.factors import explained, gradient_cell, gradient_line, value_cell, value_line
from lmviz.models.slopes import slope_of
from lmviz.models.tap import GradientReader, Operation, Reader, Scope, Value


def for_each_head(vectors: torch.Tensor, shared: int) -> torch.Tensor:
    """Keys or values (batch, group, position, channel) as (batch, head, position, channel)."""
    return vectors if shared == 1 else vectors.repeat_interleave(shared, dim=1)


def by_group(rows: torch.Tensor, shared: int) -> torch.Tensor:
    """Rows (batch, head, row, number) as (batch, group, row of each head that the group serves, number)."""
    if shared == 1:
        return rows
    batch, heads, count, numbers = rows.shape
    return rows.reshape(batch, heads // shared, shared * count, numbers)


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
        queries, keys = scope.read(Value(self.queries)), scope.read_keys(Value(self.keys))
        products = by_group(queries, self.shared) @ keys.transpose(-2, -1)
        return products.view(*queries.shape[:-1], keys.shape[-2])

    def sent_back(self, scope: Scope, own: Value, sent: torch.Tensor) -> Mapping[str, torch.Tensor]:
        """To queries the gradient × keys, to keys × queries, of all heads that they serve."""
        queries, keys = scope.read(Value(self.queries)), scope.read_keys(Value(self.keys))
        sent = by_group(sent, self.shared)
        to_keys = sent.transpose(-2, -1) @ by_group(queries, self.shared)
        return {self.queries: (sent @ keys).view(queries.shape), self.keys: to_keys}

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
        products = scope.read(Value(self.products))
        is_spare = scope.is_spare(Value(self.products))
        scaled = products.mul_(self.scale) if is_spare else products * self.scale
        scaled = scaled + scope.read(Value(self.bias)) if self.bias else scaled
        return FUNCTIONS[self.function].tensor(scaled)

    def sent_back(self, scope: Scope, own: Value, sent: torch.Tensor) -> Mapping[str, torch.Tensor] | None:
        """The gradient × the scale, to the bias the gradient itself; not stated where there is a function."""
        if self.function:
            return None
        return {self.products: sent * self.scale} | ({self.bias: sent} if self.bias else {})

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
        is_spare = scope.is_spare(Value(self.address))
        if not self.window and keys == scope.first + 1:  # the newest query sees all
            return scores if is_spare else scores.clone()
        hidden = ~is_seen(queries, keys, scope.first, self.window, scores.device)
        return (scores.masked_fill_ if is_spare else scores.masked_fill)(hidden, -torch.inf)

    def sent_back(self, scope: Scope, own: Value, sent: torch.Tensor) -> Mapping[str, torch.Tensor]:
        """The gradient itself, and nothing to what the mask hides."""
        sent = sent.tril(scope.first)
        return {self.address: sent.triu(scope.first - self.window + 1) if self.window else sent}

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
        weights, values = scope.read(Value(self.weights)), scope.read_keys(Value(self.values))
        mixed = by_group(weights, self.shared) @ values
        return mixed.view(*weights.shape[:-1], values.shape[-1])

    def sent_back(self, scope: Scope, own: Value, sent: torch.Tensor) -> Mapping[str, torch.Tensor]:
        """To weights the gradient × values, to values × weights, of all heads that they serve."""
        weights, values = scope.read(Value(self.weights)), scope.read_keys(Value(self.values))
        sent = by_group(sent, self.shared)
        to_values = by_group(weights, self.shared).transpose(-2, -1) @ sent
        return {self.weights: (sent @ values.transpose(-2, -1)).view(weights.shape), self.values: to_values}

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
