"""By how much each matrix has changed, and in how many directions.

The size of a change is ‖ΔW‖ / ‖W‖ in Frobenius' norm. Its singular values say how many directions hold most
of it; beside them stand those of the matrix itself, without which a number of directions says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.differences.pair import ModelPair, numbers
from lmviz.looks.shown import Shown
from lmviz.models.address import Address
from lmviz.models.interruption import look_up
from lmviz.models.model import Model
from lmviz.models.operations import Linear
from lmviz.models.read_weights import parts_of, weights_of
from lmviz.models.tap import Weight

HOLDS = 0.9
"""The share of the sum of the squared singular values that some directions hold."""


@dataclass(frozen=True, eq=False, repr=False)
class MatrixChange(Shown):
    """How a parameter, or some `rows` of it, changed.

    `address` is the tap that is made with it, "" where none is; `reads` is what it reads there, by name.
    `size` is ‖W‖ and `change` ‖ΔW‖. `singular` are the singular values of the change, largest first, and
    `singular_before` those of the first model's matrix; None for vectors, such as biases.
    """

    name: str
    rows: tuple[int, int] | None
    address: str
    reads: str
    shape: tuple[int, ...]
    size: float
    change: float
    singular: np.ndarray | None
    singular_before: np.ndarray | None

    @property
    def label(self) -> str:
        """The tap and what it reads, or the parameter's own name."""
        if not self.address:
            return self.name
        return f"{self.address} of {self.reads}" if self.reads else self.address

    @property
    def relative(self) -> float:
        """‖ΔW‖ / ‖W‖; NaN where the matrix was 0."""
        if self.size > 0:
            return self.change / self.size
        return float("nan") if self.change > 0 else 0.0

    @property
    def layer(self) -> int | None:
        """The layer, from 0, where it belongs to one."""
        return Address.parse(self.address).layer if self.address else None

    @property
    def kind(self) -> str:
        """What it is in its layer, such as "attention/query"; the whole label where it is in none."""
        if self.layer is None:
            return self.label
        _, _, kind = self.label.partition(f"layers/{self.layer}/")
        return kind

    @property
    def directions(self) -> int | None:
        """How many directions hold nine tenths of the change; None for a vector, or without a change."""
        return directions_of(self.singular)

    @property
    def directions_before(self) -> int | None:
        """The same of the matrix of the first model."""
        return directions_of(self.singular_before)

    @property
    def rank(self) -> int | None:
        """How many singular values of the change are more than rounding, so that LoRA's rank shows."""
        if self.singular is None:
            return None
        return int((self.singular > 1e-4 * self.singular[0]).sum()) if self.singular[0] > 0 else 0


def matrix_changes(pair: ModelPair) -> tuple[MatrixChange, ...]:
    """Every parameter of two models of one shape, those of fused matrices part by part.

    In the order of computation, those that no tap reads at the end. LmvizError where shapes differ.
    """
    *_, last = changing_matrices(pair)
    return last


def changing_matrices(pair: ModelPair) -> Iterator[tuple[MatrixChange, ...]]:
    """The same after each parameter; the last one has all."""
    pair.check_alike()
    before, after = pair.before.tensors(), pair.after.tensors()
    known = list(_parts(pair.before))
    named = {weight.name for weight, _, _ in known}
    known += [(Weight(name), "", "") for name in before if name not in named]
    found: list[MatrixChange] = []
    yield ()
    for number, (weight, address, reads) in enumerate(known):
        look_up(number / len(known))
        rows = slice(*weight.rows) if weight.rows else slice(None)
        one = numbers(before[weight.name][rows] if before[weight.name].ndim else before[weight.name])
        other = numbers(after[weight.name][rows] if after[weight.name].ndim else after[weight.name])
        change = other - one
        is_matrix = one.ndim == 2
        found.append(
            MatrixChange(
                weight.name,
                weight.rows,
                address,
                reads,
                tuple(one.shape),
                float(one.norm()),
                float(change.norm()),
                singular_values(change) if is_matrix else None,
                singular_values(one) if is_matrix else None,
            )
        )
        yield tuple(found)


def singular_values(matrix: torch.Tensor) -> np.ndarray:
    """The singular values of a matrix in double precision, largest first.

    Of a large matrix they are roots of the eigenvalues of WᵀW, which is as exact as it is drawn.
    """
    if matrix.numel() <= 2**16:
        found: np.ndarray = torch.linalg.svdvals(matrix).numpy()
        return found
    small = matrix.T @ matrix if matrix.shape[0] >= matrix.shape[1] else matrix @ matrix.T
    values = torch.linalg.eigvalsh(small).clamp(min=0.0).sqrt().flip(0)
    return values.numpy()


def directions_of(singular: np.ndarray | None) -> int | None:
    """How many of the largest singular values hold nine tenths of the sum of all squares."""
    if singular is None or not singular.any():
        return None
    shares = np.cumsum(singular**2) / (singular**2).sum()
    return int(np.searchsorted(shares, HOLDS - 1e-12) + 1)


def _parts(model: Model) -> Iterator[tuple[Weight, str, str]]:
    """The parameters that taps read, each once, with the tap and, where there are several, what is read."""
    seen: set[Weight] = set()
    for tap in model.taps():
        summands = list(parts_of(tap.operation, Linear))
        labels: dict[Weight, str] = {}
        for part in summands if len(summands) > 1 else ():
            labels[part.weight] = part.label
            if part.bias is not None:
                labels[part.bias] = part.label
        for weight in weights_of(tap.operation):
            if weight not in seen:
                seen.add(weight)
                yield weight, tap.address, labels.get(weight, "")
