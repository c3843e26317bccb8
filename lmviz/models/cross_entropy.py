"""Cross-entropy straight from features, for vocabularies of any size."""

from __future__ import annotations

import torch
from torch.nn import functional

from lmviz.models.model import IGNORED


def linear_cross_entropy(
    features: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, targets: torch.Tensor
) -> torch.Tensor:
    """Mean negative log-likelihood in nats of targets (row) that are not IGNORED.

    Features are (row, feature), weight is (token, feature), bias (token) or None.
    """
    logits = functional.linear(features, weight, bias)
    return functional.cross_entropy(logits, targets, ignore_index=IGNORED)
