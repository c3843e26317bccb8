"""Cross-entropy computed slice by slice, so that not all logits of a large vocabulary are in memory."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional

from lmviz.models.model import IGNORED

LARGE_VOCABULARY = 2048
"""From this many tokens on, logits are made and used slice by slice (measured)."""

SMALLEST_SLICE = 64
LARGEST_SLICE = 512
"""Rows of a slice: with fewer the products of matrices are slow, with more they are no faster (measured)."""


def linear_cross_entropy(
    features: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    targets: torch.Tensor,
    smoothing: float = 0.0,
) -> torch.Tensor:
    """Mean negative log-likelihood in nats of targets (row) that are not IGNORED; nan when none counts.

    Features are (row, feature), weight is (token, feature), bias (token) or None. `smoothing` is the share of
    each target that is spread evenly over all tokens. For a large vocabulary it can be differentiated only
    once.
    """
    if len(weight) < LARGE_VOCABULARY:
        logits = functional.linear(features, weight, bias)
        return functional.cross_entropy(logits, targets, ignore_index=IGNORED, label_smoothing=smoothing)
    sliced = _SlicedCrossEntropy.apply
    return sliced(features, weight, bias, targets, smoothing)  # type: ignore[no-untyped-call]  # torch states none


class _SlicedCrossEntropy(torch.autograd.Function):
    """Computes the gradient along with the loss, so that no slice's logits are needed twice."""

    @staticmethod
    def forward(
        context: Any,
        features: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        targets: torch.Tensor,
        smoothing: float,
    ) -> torch.Tensor:
        """The mean over rows; the logits of a slice take up to twice the memory of the weights."""
        for_features, for_weight, for_bias = (
            torch.zeros_like(operand) if needed and operand is not None else None
            for operand, needed in zip((features, weight, bias), context.needs_input_grad, strict=False)
        )
        count = (targets != IGNORED).sum()
        total = torch.zeros((), device=features.device)
        size = min(LARGEST_SLICE, max(SMALLEST_SLICE, 2 * features.shape[1]))
        for start in range(0, len(features), size):
            rows = slice(start, start + size)
            computed = functional.linear(features[rows], weight, bias)  # (row, token)
            logarithms = computed.float().log_softmax(1)
            counts = (targets[rows] != IGNORED).unsqueeze(1)
            chosen = targets[rows].unsqueeze(1).where(counts, 0)
            total -= (1 - smoothing) * (logarithms.gather(1, chosen) * counts).sum()
            if smoothing:
                total -= smoothing * (logarithms.mean(1, keepdim=True) * counts).sum()
            if not any(context.needs_input_grad):
                continue
            # The slope of a row's loss by each logit is the model's probability less what is aimed at, which
            # is one for the target and nothing else unless it is smoothed.
            slopes = logarithms.exp_()
            slopes.scatter_add_(1, chosen, slopes.new_full(chosen.shape, smoothing - 1.0))
            if smoothing:
                slopes -= smoothing / slopes.shape[1]
            # Each row has its share in the mean: a factor of its features is cheaper than one of its slopes.
            shares = counts / count  # (row, 1)
            if for_features is not None:
                for_features[rows] = (slopes @ weight) * shares
            if for_weight is not None and computed.dtype == weight.dtype:
                for_weight.addmm_(slopes.t(), features[rows] * shares)
            elif for_weight is not None:  # a lower precision is in force, which addmm_ would not heed
                for_weight += slopes.t() @ (features[rows] * shares)
            if for_bias is not None:
                for_bias += (slopes.t() @ shares).squeeze(1)
        context.gradients = for_features, for_weight, for_bias
        return total / count

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """The gradients that came with the loss, times the gradient from above."""
        gradients = [item if item is None else item.mul_(upstream) for item in context.gradients]
        del context.gradients
        return *gradients, None, None
