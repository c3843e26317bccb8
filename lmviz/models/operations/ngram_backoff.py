"""The operations of an n-gram model that lists its probabilities, order by order.

The sources are `probabilities.K`, whose index is an n-gram's token ids, and `backoffs.K`, whose index is
the token ids of its context.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant
from lmviz.models.growth import ROWS
from lmviz.models.ngram.backoff_tables import BackoffTables
from lmviz.models.ngram.level import ABSENT
from lmviz.models.operations.ngram_lookup import OfOrder, address_of
from lmviz.models.tap import Reader, Scope, Value


class _Listed(OfOrder[BackoffTables]):
    """What is listed under the matched context."""

    def contexts(self, matched: np.ndarray) -> np.ndarray:
        """The ids of matched contexts (..., order); (...)."""
        return self.tables.index.ids(self.tokens_of(matched))

    def tokens_of(self, matched: np.ndarray) -> np.ndarray:
        """The tokens of this order's context, without what is in front of them; (..., order - 1)."""
        return matched[..., matched.shape[-1] - self.order + 1 :].astype(np.int64)

    def matched(self, reader: Reader, position: int) -> np.ndarray:
        """The tokens of the context that was matched at a position, (order - 1,)."""
        return self.tokens_of(reader.array(address_of(self.order, "context"))[position])


@dataclass(frozen=True, eq=False)
class ListedBackoff(_Listed):
    """The backoff weight of the matched context, 1 where there is none."""

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return self.of_order("context")

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position)."""
        matched = self.read(scope, "context")
        backoffs = self.tables.levels[self.order - 1].backoffs[self.contexts(matched.cpu().numpy())]
        return torch.from_numpy(backoffs).float().to(matched.device)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """One weight of the list."""
        value = float(reader.array(address)[index])
        matched = self.matched(reader, index[0])
        if self.order > 1 and (matched == ABSENT).all():
            new = Terms("the context is new", (constant(1.0),))
            return Arithmetic(address, index, value, "everything is left", "sum", (new,))
        weight = self.tables.levels[self.order - 1].backoffs[self.contexts(matched)]
        listed = Factor(f"backoffs.{self.order}", matched[np.newaxis], np.array([weight]))
        return Arithmetic(address, index, value, "as listed", "sum", (Terms("backoff weight", (listed,)),))


@dataclass(frozen=True, eq=False)
class ListedProbability(_Listed):
    """The probability as listed, or else backoff × the probability by the lower order."""

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        lower = self.of_order("probabilities", order=self.order - 1) if self.order > 1 else ()
        return (*self.of_order("context", "backoff"), *lower)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, token)."""
        matched = self.read(scope, "context")
        contexts = self.contexts(matched.cpu().numpy())
        listed = self.tables.levels[self.order - 1]
        rows, ids = listed.level.followers(contexts.ravel())
        backoff = self.read(scope, "backoff").reshape(-1, 1)
        if self.order > 1:
            lower = self.read(scope, "probabilities", self.order - 1).flatten(0, 1)
        else:
            lower = backoff.new_zeros(contexts.size, listed.level.vocabulary_size)
        dense = backoff * lower  # (row, token)
        known = torch.from_numpy(listed.probabilities[ids]).to(dense)
        dense[torch.from_numpy(rows), torch.from_numpy(listed.level.words[ids])] = known
        return dense.view(*contexts.shape, -1)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """One number of the list, or a product."""
        value = float(reader.array(address)[index])
        gram = np.append(self.matched(reader, index[0]), index[1])[np.newaxis]
        (id,) = self.tables.index.ids(gram)
        if id != ABSENT:
            probability = float(self.tables.levels[self.order - 1].probabilities[id])
            listed = Factor(f"probabilities.{self.order}", gram, np.array([probability]))
            group = Terms("listed", (listed,))
            return Arithmetic(address, index, value, "as listed", "sum", (group,))
        # Order 1 lists every token, so that there is an order below.
        backoff = self.cell(reader, "backoff", index[:1])
        lower = self.cell(reader, "probabilities", index, order=self.order - 1)
        group = Terms("lower order", (backoff, lower))
        return Arithmetic(address, index, value, "not listed: backed off", "sum", (group,))
