"""The functions of one number that models use: their values, derivatives and notation.

One table serves the explicit path (torch), explanations (numpy, float64), gradients and equations, so that
they always agree. Reading the table imports no torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.errors import LmvizError

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


_erf = np.vectorize(math.erf, otypes=[float])
_BEND, _CUBE = math.sqrt(2 / math.pi), 0.044715
"""The constants of GELU's approximation by tanh (Hendrycks & Gimpel 2016)."""


def _sigmoid(x: np.ndarray) -> np.ndarray:
    decay = np.exp(-np.abs(x))  # never overflows
    return np.where(x >= 0, 1 / (1 + decay), decay / (1 + decay))


def _gelu_slope(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + _erf(x / math.sqrt(2))) + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def _gelu_tanh_slope(x: np.ndarray) -> np.ndarray:
    bent = np.tanh(_BEND * (x + _CUBE * x**3))
    return 0.5 * (1 + bent) + 0.5 * x * (1 - bent**2) * _BEND * (1 + 3 * _CUBE * x**2)


def _gelu_tensor(x: torch.Tensor) -> torch.Tensor:
    from torch.nn.functional import gelu

    return gelu(x)


def _gelu_tanh_tensor(x: torch.Tensor) -> torch.Tensor:
    from torch.nn.functional import gelu

    return gelu(x, approximate="tanh")


def _silu_tensor(x: torch.Tensor) -> torch.Tensor:
    from torch.nn.functional import silu

    return silu(x)


FUNCTIONS: dict[str, Function] = {
    "": Function(lambda x: x, np.ones_like, "{}", "{}", lambda x: x),
    "sigmoid": Function(
        _sigmoid,
        lambda x: _sigmoid(x) * _sigmoid(-x),
        "σ({})",
        r"\sigma({})",
        lambda x: x.sigmoid(),
    ),
    "tanh": Function(np.tanh, lambda x: 1 - np.tanh(x) ** 2, "tanh({})", r"\tanh({})", lambda x: x.tanh()),
    "relu": Function(
        lambda x: np.maximum(x, 0),
        lambda x: np.where(x > 0, 1.0, 0.0),  # 0 at 0, as torch has it
        "ReLU({})",
        r"\operatorname{{ReLU}}({})",
        lambda x: x.relu(),
    ),
    "gelu": Function(
        lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
        _gelu_slope,
        "GELU({})",
        r"\operatorname{{GELU}}({})",
        _gelu_tensor,
    ),
    "gelu_tanh": Function(
        lambda x: 0.5 * x * (1 + np.tanh(_BEND * (x + _CUBE * x**3))),
        _gelu_tanh_slope,
        "GELU({})",
        r"\operatorname{{GELU}}({})",
        _gelu_tanh_tensor,
    ),
    "silu": Function(
        lambda x: x * _sigmoid(x),
        lambda x: _sigmoid(x) * (1 + x * _sigmoid(-x)),
        "SiLU({})",
        r"\operatorname{{SiLU}}({})",
        _silu_tensor,
    ),
    "one minus": Function(
        lambda x: 1 - x, lambda x: -np.ones_like(x), "(1 − {})", "(1 - {})", lambda x: 1 - x
    ),
    "reciprocal": Function(
        lambda x: 1 / x, lambda x: -1 / x**2, "1/{}", r"\frac{{1}}{{{}}}", lambda x: x.reciprocal()
    ),
    "log": Function(np.log, lambda x: 1 / x, "ln({})", r"\ln({})", lambda x: x.log()),
    "exp": Function(np.exp, np.exp, "exp({})", r"\exp({})", lambda x: x.exp()),
    "square": Function(lambda x: x * x, lambda x: 2 * x, "({})²", "({})^2", lambda x: x * x),
    "one minus square": Function(
        lambda x: 1 - x * x, lambda x: -2 * x, "(1 − ({})²)", "(1 - ({})^2)", lambda x: 1 - x * x
    ),
    "sin": Function(np.sin, np.cos, "sin({})", r"\sin({})", lambda x: x.sin()),
    "cos": Function(np.cos, lambda x: -np.sin(x), "cos({})", r"\cos({})", lambda x: x.cos()),
}
"""All functions by the names that operations, factors and configurations know them by; "" is the identity."""


def check_function(name: str) -> None:
    """LmvizError where no function has that name."""
    if name not in FUNCTIONS:
        known = ", ".join(repr(each) for each in FUNCTIONS if each)
        raise LmvizError(
            f"There is no function {name!r}: use {known}, or add a row to FUNCTIONS in "
            "lmviz/models/arithmetic/functions.py."
        )
