"""The functions of one number that models use: their values, derivatives and notation.

One table serves the explicit path (torch), explanations (numpy, float64), gradients and equations, so that
they always agree. Reading the table imports no torch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.arithmetic.function import Function
from lmviz.models.arithmetic.slopes import (
    BEND,
    CUBE,
    SLOPES,
    erf,
    gelu_slope,
    gelu_tanh_slope,
    relu_slope,
    sigmoid,
    sigmoid_slope,
    silu_slope,
    tanh_slope,
)

if TYPE_CHECKING:
    import torch


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
        sigmoid,
        sigmoid_slope,
        "σ({})",
        r"\sigma({})",
        lambda x: x.sigmoid(),
    ),
    "tanh": Function(np.tanh, tanh_slope, "tanh({})", r"\tanh({})", lambda x: x.tanh()),
    "relu": Function(
        lambda x: np.maximum(x, 0),
        relu_slope,
        "ReLU({})",
        r"\operatorname{{ReLU}}({})",
        lambda x: x.relu(),
    ),
    "gelu": Function(
        lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
        gelu_slope,
        "GELU({})",
        r"\operatorname{{GELU}}({})",
        _gelu_tensor,
    ),
    "gelu_tanh": Function(
        lambda x: 0.5 * x * (1 + np.tanh(BEND * (x + CUBE * x**3))),
        gelu_tanh_slope,
        "GELU({})",
        r"\operatorname{{GELU}}({})",
        _gelu_tanh_tensor,
    ),
    "silu": Function(
        lambda x: x * sigmoid(x),
        silu_slope,
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
    **SLOPES,
}
"""All functions by the names that operations, factors and configurations know them by; "" is the identity."""


def check_function(name: str) -> None:
    """LmvizError where no function has that name."""
    if name not in FUNCTIONS:
        known = ", ".join(repr(each) for each in FUNCTIONS if each and each not in SLOPES)
        raise LmvizError(
            f"There is no function {name!r}: use {known}, or add a row to FUNCTIONS in "
            "lmviz/models/arithmetic/functions.py."
        )
