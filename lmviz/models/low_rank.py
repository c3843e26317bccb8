"""A matrix that stays, and the product of two thin ones that is added to it (LoRA, Hu et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import nn
from torch.nn import functional

from lmviz.models.precision import linear

FIRST, SECOND = "first", "second"
"""The names of the thin matrices: A (rank, feature), and B (unit, rank)."""

Rows = tuple[int, int]
"""The units of a matrix from which and up to which a product is added."""


class LowRankLinear(nn.Module):
    """W x + b + scale · B A x, where W and b stay, for each stretch of the units that has an A and a B.

    A begins as PyTorch's own matrices do, drawn from `chance`, and B with zeros: at first nothing is added.
    """

    def __init__(
        self, kept: nn.Linear, rows: Sequence[Rows], rank: int, scale: float, chance: torch.Generator
    ) -> None:
        super().__init__()
        self.weight, self.bias = kept.weight, kept.bias
        self.rows, self.scale = tuple(rows), scale
        features = kept.weight.shape[1]
        bound = features**-0.5
        self.first = nn.ParameterList(
            nn.Parameter(torch.empty(rank, features).uniform_(-bound, bound, generator=chance)) for _ in rows
        )
        self.second = nn.ParameterList(nn.Parameter(torch.zeros(end - start, rank)) for start, end in rows)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """(..., unit)."""
        given = linear(input, self.weight, self.bias)
        narrow = functional.linear(
            input, torch.cat(list(self.first)) if len(self.first) > 1 else self.first[0]
        )
        parts = narrow.chunk(len(self.rows), dim=-1)  # (..., rank) each
        added = [functional.linear(part, second) for part, second in zip(parts, self.second, strict=True)]
        if len(added) == 1 and self.rows[0] == (0, given.shape[-1]):
            return torch.add(given, added[0], alpha=self.scale)
        filled = self._in_place(added, given.shape[-1])
        return torch.add(given, filled, alpha=self.scale)

    def _in_place(self, added: Sequence[torch.Tensor], units: int) -> torch.Tensor:
        """What is added to all units, with zeros between the stretches."""
        parts, at = [], 0
        for (start, end), part in zip(self.rows, added, strict=True):
            if start > at:
                parts.append(part.new_zeros(*part.shape[:-1], start - at))
            parts.append(part)
            at = end
        if units > at:
            parts.append(added[0].new_zeros(*added[0].shape[:-1], units - at))
        return torch.cat(parts, dim=-1)


def with_products(
    weight: torch.Tensor,
    learned: Mapping[str, torch.Tensor],
    module: str,
    rows: Sequence[Rows],
    scale: float,
) -> torch.Tensor:
    """A new matrix: `weight` (unit, feature) with what was learned beside it, in float32.

    `learned` are A and B of all modules by their dotted names; where they hold none, nothing is added.
    """
    whole = weight.detach().float().clone()
    for place, (start, end) in enumerate(rows):
        first = learned.get(f"{module}.{FIRST}.{place}")
        second = learned.get(f"{module}.{SECOND}.{place}")
        if first is not None and second is not None:
            whole[start:end] += scale * (second.float() @ first.float()).to(whole.device)
    return whole
