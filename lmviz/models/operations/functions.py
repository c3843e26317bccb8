"""The scalar functions of `arithmetic.FUNCTIONS` that operations use, on tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch.nn import functional

TENSOR_FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "": lambda x: x,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "gelu": functional.gelu,
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
    "one minus": lambda x: 1 - x,
}
"""Functions by the names that factors, configurations and arithmetic know them by."""
