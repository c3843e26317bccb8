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

    `compute` takes and gives float64 arrays of any shape, cell by cell; `tensor` computes the same on
    tensors. `plain` and `latex` are templates with "{}" in the place of the argument. A derivative is a
    function of its own, in `SLOPES`. One that is `offered` can be chosen as the activation of
    a model; not in a recurrence if it `runs_away`, because it grows faster than its argument.
    """

    compute: Callable[[np.ndarray], np.ndarray]
    plain: str
    latex: str
    tensor: Callable[[torch.Tensor], torch.Tensor]
    offered: bool = False
    runs_away: bool = False
