"""The lookups of an n-gram model at each position, order by order: the context and the counts after it.

Every operation uses the taps before it, so that a changed context changes everything downstream. Only the
counts come from the model's tables: the source `counts.K`, whose index is an n-gram's token ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch

from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant
from lmviz.models.growth import ROWS, WHOLE
from lmviz.models.ngram.level import ABSENT
from lmviz.models.ngram.lookup_model import Tables
from lmviz.models.ngram.tables import NgramTables
from lmviz.models.operations.factors import value_cell
from lmviz.models.tap import Operation, Reader, Scope, Value

T = TypeVar("T", bound=Tables)


def address_of(order: int, name: str) -> str:
    """The address of a tap of one order, such as `orders/3/counts`."""
    return f"orders/{order}/{name}"


@dataclass(frozen=True, eq=False)
class OfOrder(Operation, Generic[T]):
    """What the operations of one order share: the tables, the order, and operands by their short name."""

    tables: T
    order: int

    def of_order(self, *names: str, order: int | None = None) -> tuple[Value, ...]:
        """The taps of this order or another by their short names."""
        return tuple(Value(address_of(order or self.order, name)) for name in names)

    def read(self, scope: Scope, name: str, order: int | None = None) -> torch.Tensor:
        """The value of a tap of this order or another."""
        return scope.read(Value(address_of(order or self.order, name)))

    def cell(
        self, reader: Reader, name: str, index: tuple[int, ...], function: str = "", order: int = 0
    ) -> Factor:
        """One cell of a tap of this order or another."""
        return value_cell(reader, Value(address_of(order or self.order, name)), index, function)


@dataclass(frozen=True, eq=False)
class MatchedContext(OfOrder[Tables]):
    """The last order - 1 tokens, where something was seen to follow them; all ABSENT otherwise."""

    growth = WHOLE
    operands = ()

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, order), the newest token last, ABSENT in front of shorter contexts."""
        tokens = scope.tokens.cpu().numpy()
        contexts = self.tables.index.contexts(tokens)[self.order - 1]
        totals = np.append(self.tables.levels[self.order - 1].totals, 0)  # (context + 1,) 0 where ABSENT
        width = max(self.tables.order - 1, 1)
        matched = np.full((*tokens.shape, width), ABSENT)
        for back in range(self.order - 1):
            matched[:, back:, width - 1 - back] = tokens[:, : tokens.shape[1] - back]
        matched[totals[contexts] == 0] = ABSENT
        return torch.from_numpy(matched).to(scope.tokens.device)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """A token id is copied from the text, or is ABSENT."""
        value = float(reader.array(address)[index])
        back = reader.array(address).shape[1] - 1 - index[1]
        context = self.tables.index.contexts(reader.ids()[np.newaxis])[self.order - 1][0, index[0]]
        totals = self.tables.levels[self.order - 1].totals
        is_matched = back < self.order - 1 and context != ABSENT and totals[context] != 0
        label = f"token at position {index[0] - back + 1}" if is_matched else "no token"
        copied = Terms(label, (constant(reader.ids()[index[0] - back] if is_matched else ABSENT),))
        return Arithmetic(
            address, index, value, "longest match" if back else "newest token", "sum", (copied,)
        )


@dataclass(frozen=True, eq=False)
class ContextCounts(OfOrder[NgramTables]):
    """How often each token was counted after the matched context."""

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return self.of_order("context")

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, token)."""
        matched = self.read(scope, "context").long().cpu().numpy()
        grams = matched[..., matched.shape[-1] - self.order + 1 :]
        level = self.tables.levels[self.order - 1].level
        rows, ids = level.followers(self.tables.index.ids(grams).ravel())
        counts = np.zeros((matched[..., 0].size, self.tables.vocabulary_size), dtype=np.float32)
        counts[rows, level.words[ids]] = level.counts[ids]
        counts = counts.reshape(*matched.shape[:-1], -1)
        return torch.from_numpy(counts).to(scope.tokens.device)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The count of one n-gram in the table of its order."""
        position, token = index
        matched = reader.array(address_of(self.order, "context"))[position]
        gram = np.append(matched[len(matched) - self.order + 1 :], token).astype(np.int64)[np.newaxis]
        value = float(reader.array(address)[index])
        (id,) = self.tables.index.ids(gram)
        count = 0.0 if id == ABSENT else float(self.tables.levels[self.order - 1].level.counts[id])
        counted = Terms(f"{self.order}-gram", (Factor(f"counts.{self.order}", gram, np.array([count])),))
        return Arithmetic(address, index, value, self._what_is_counted(int(gram[0, 0])), "sum", (counted,))

    def _what_is_counted(self, first: int) -> str:
        """Below the highest order Kneser-Ney counts what n-grams follow; but START follows nothing."""
        is_discounted = self.tables.levels[self.order - 1].discounts.any()
        if self.order < self.tables.order and is_discounted and first != self.tables.start_id:
            return "how many different tokens it follows in the training text"
        return "count in the training text"


@dataclass(frozen=True, eq=False)
class ContextTotal(OfOrder[NgramTables]):
    """The counts of all tokens after the matched context."""

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return self.of_order("counts")

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position)."""
        return self.read(scope, "counts").sum(dim=-1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The counts that are not zero."""
        source = address_of(self.order, "counts")
        row = reader.array(source)[index[0]]
        tokens = np.flatnonzero(row)
        indices = np.stack((np.full(len(tokens), index[0]), tokens), axis=1)
        counts = Terms("counts", (Factor(source, indices, row[tokens].astype(np.float64)),))
        return Arithmetic(address, index, float(reader.array(address)[index]), "sum", "sum", (counts,))
