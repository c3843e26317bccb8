"""The operations that turn n-gram counts into probabilities, order by order (see `ngram.smoothing`).

Every operation uses the taps before it, so that a changed count or back-off changes everything downstream.
Only the discounts come from the model's tables: the source `discounts.K`, whose index says how often
the n-gram was seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant
from lmviz.models.growth import ROWS
from lmviz.models.ngram.tables import NgramTables
from lmviz.models.operations.factors import value_cell
from lmviz.models.operations.ngram_lookup import OfOrder, address_of
from lmviz.models.tap import Operation, Reader, Scope, Value

TIMES_SEEN = ("never", "once", "twice", "three times or more")


@dataclass(frozen=True, eq=False)
class Backoff(OfOrder[NgramTables]):
    """The share that a context leaves to the lower order (see `ngram_smoothing`)."""

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return self.of_order("total", "counts")

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position)."""
        smoothed = self.tables.levels[self.order - 1]
        counts = self.read(scope, "counts")
        discounts = torch.from_numpy(smoothed.discounts).to(counts)
        taken = discounts[counts.clamp(0, 3).long()].sum(dim=-1)
        mass = self.read(scope, "total") + smoothed.added
        return torch.where(mass > 0, (taken + smoothed.added) / mass, 1.0)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The discounts over the total; what add-k adds over all; or everything, after a new context."""
        smoothed = self.tables.levels[self.order - 1]
        value = float(reader.array(address)[index])
        total = self.cell(reader, "total", index)
        if smoothed.added and total.values[0] + smoothed.added > 0:
            added = Terms("k for every token", (constant(smoothed.added),))
            fraction = (added, Terms("total", (total,)), added)
            return Arithmetic(address, index, value, "what k adds, over all", "fraction", fraction)
        if total.values[0] <= 0:
            unseen = (Terms("the context is new", (constant(1.0),)),)
            return Arithmetic(address, index, value, "everything is left", "sum", unseen)
        times = np.clip(reader.array(address_of(self.order, "counts"))[index[0]], 0, 3).astype(np.int64)
        per_total = self.cell(reader, "total", index, "reciprocal")
        groups = tuple(
            Terms(
                f"D{seen} × {np.count_nonzero(times == seen)} tokens seen {TIMES_SEEN[seen]}",
                (_discount(self, seen), constant(float(np.count_nonzero(times == seen))), per_total),
            )
            for seen in (1, 2, 3)
        )
        return Arithmetic(address, index, value, "discounts, over the total", "sum", groups)


@dataclass(frozen=True, eq=False)
class OrderWeight(OfOrder[NgramTables]):
    """The share of the final probability that comes from this order: what it keeps of what reaches it.

    Shown, and used by nothing that follows.
    """

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        longer = range(self.order + 1, self.tables.order + 1) if self.tables.chained else ()
        passed_on = (operand for order in longer for operand in self.of_order("backoff", order=order))
        return (*self.of_order("backoff"), *passed_on)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position)."""
        weight = 1 - self.read(scope, "backoff")
        if self.tables.chained:
            for longer in range(self.order + 1, self.tables.order + 1):
                weight = weight * self.read(scope, "backoff", longer)
            return weight
        return weight if self.order == self.tables.order else torch.zeros_like(weight)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """(1 - own backoff) × the backoffs of all longer contexts."""
        value = float(reader.array(address)[index])
        if not self.tables.chained and self.order < self.tables.order:
            unused = (Terms("add-k looks at one order only", (constant(0.0),)),)
            return Arithmetic(address, index, value, "not used", "sum", unused)
        kept = self.cell(reader, "backoff", index, "one minus")
        longer = range(self.order + 1, self.tables.order + 1)
        passed_on = tuple(self.cell(reader, "backoff", index, order=order) for order in longer)
        product = Terms("kept, of what longer contexts leave", (kept, *passed_on))
        return Arithmetic(address, index, value, "product", "sum", (product,))


@dataclass(frozen=True, eq=False)
class Interpolation(OfOrder[NgramTables]):
    """(count - discount) / total + backoff × the probability by the lower order.

    Where the context is new, the lower order alone. Below order 1 lies the uniform distribution.
    """

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        lower = self.of_order("probabilities", order=self.order - 1) if self.order > 1 else ()
        return (*self.of_order("total", "counts", "backoff"), *lower)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, token)."""
        counts = self.read(scope, "counts")
        total = self.read(scope, "total")[..., None]
        discounts = torch.from_numpy(self.tables.levels[self.order - 1].discounts).to(counts)
        own = (counts - discounts[counts.clamp(0, 3).long()]) / torch.where(total > 0, total, 1.0)
        own = torch.where(total > 0, own, 0.0)
        if self.order > 1:
            lower = self.read(scope, "probabilities", self.order - 1)
        else:
            lower = torch.from_numpy(self.tables.uniform).to(counts)
        return own + self.read(scope, "backoff")[..., None] * lower

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The count and the discount over the total, and what the lower order adds."""
        backoff = self.cell(reader, "backoff", index[:1])
        if self.order > 1:
            lower = self.cell(reader, "probabilities", index, order=self.order - 1)
        else:
            lower = constant(float(self.tables.uniform[index[1]]))
        groups = [Terms("lower order" if self.order > 1 else "uniform distribution", (backoff, lower))]
        total = self.cell(reader, "total", index[:1], "reciprocal")
        if total.values[0] > 0:
            count = self.cell(reader, "counts", index)
            times = int(np.clip(count.values[0], 0, 3))
            groups.insert(0, Terms("count", (count, total)))
            if self.tables.levels[self.order - 1].discounts[times]:
                groups.insert(1, Terms(f"discount D{times}", (constant(-1.0), _discount(self, times), total)))
        value = float(reader.array(address)[index])
        return Arithmetic(address, index, value, "interpolation", "sum", tuple(groups))


@dataclass(frozen=True, eq=False)
class AddK(OfOrder[NgramTables]):
    """(count + k) / (total + k × tokens), without any lower order."""

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return self.of_order("total", "counts")

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, token)."""
        counts = self.read(scope, "counts")
        added = self.tables.levels[self.order - 1].added
        k = torch.from_numpy(self.tables.uniform * added).to(counts)
        return (counts + k) / (self.read(scope, "total")[..., None] + added)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The four numbers of the fraction."""
        added = self.tables.levels[self.order - 1].added
        groups = (
            Terms("count", (self.cell(reader, "counts", index),)),
            Terms("k", (constant(float(self.tables.uniform[index[1]] * added)),)),
            Terms("total", (self.cell(reader, "total", index[:1]),)),
            Terms("k for every token", (constant(added),)),
        )
        return Arithmetic(address, index, float(reader.array(address)[index]), "add k", "fraction", groups)


@dataclass(frozen=True, eq=False)
class Logarithm(Operation):
    """The natural logarithm of a probability; -inf for what cannot come."""

    address: str

    growth = ROWS

    @property
    def operands(self) -> tuple[Value, ...]:
        return (Value(self.address),)

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, position, token)."""
        return scope.read(Value(self.address)).log()

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """The logarithm of one cell."""
        probability = Terms("probability", (value_cell(reader, Value(self.address), index),))
        value = float(reader.array(address)[index])
        if value == -np.inf:
            return Arithmetic(address, index, value, "logarithm of zero", "mask", (probability,))
        return Arithmetic(address, index, value, "logarithm", "sum", (probability,), "log")


def _discount(operation: OfOrder[NgramTables], times: int) -> Factor:
    """D1, D2 or D3 of an operation's order, by how often something was seen."""
    amount = operation.tables.levels[operation.order - 1].discounts[times]
    return Factor(f"discounts.{operation.order}", np.array([[times]]), np.array([amount]))
