"""Copies tensors into read-only numpy arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch

from lmviz.models.precision import HALF


def storages(owned: Iterable[torch.Tensor]) -> set[int]:
    """The memory addresses of a model's parameters and buffers."""
    return {tensor.untyped_storage().data_ptr() for tensor in owned}


def freeze(value: torch.Tensor, borrowed: set[int]) -> np.ndarray:
    """A batch of one as numpy, converted to float32 from coarser types, without the model's memory."""
    if value.requires_grad:
        value = value.detach()
    if borrowed and value.untyped_storage().data_ptr() in borrowed:
        value = value.clone()
    if value.dtype in HALF:
        value = value.float()
    frozen: np.ndarray = value.cpu().contiguous().numpy()[0]
    return frozen
