"""The parts that every function of one number must define."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Function:
    """A function of one number.

    `compute` and `derivative` take and give float64 arrays of any shape, cell by cell; `tensor` computes
    the same on tensors. `plain` and `latex` are templates with "{}" in the place of the argument.
    """

    compute: Callable[[np.ndarray], np.ndarray]
    derivative: Callable[[np.ndarray], np.ndarray]
    plain: str
    latex: str
    tensor: Callable[[torch.Tensor], torch.Tensor]
