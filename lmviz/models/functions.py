"""The functions of one number that models use: their values and notation.

One table serves the explicit path (torch), explanations (numpy, float64), gradients and equations, so that
they always agree. Reading the table imports no torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.function import Function
from lmviz.models.slopes import (
    BEND,
    CUBE,
    SLOPE,
    SLOPES,
    erf,
    sigmoid,
    slope_of,
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


def _soft_cap(limit: float) -> tuple[Function, Function, Function]:
    """A number far below the limit stays nearly what it is, and none passes it (Gemma 2)."""
    shown = f"{limit:g}"
    fraction = rf"\frac{{{{{{}}}}}}{{{{{shown}}}}}"
    return (
        Function(
            lambda x: limit * np.tanh(x / limit),
            f"{shown} · tanh(({{}}) / {shown})",
            rf"{shown} \tanh\left({fraction}\right)",
            lambda x: (x / limit).tanh() * limit,
        ),
        Function(
            lambda x: tanh_slope(x / limit),
            f"(1 − tanh²(({{}}) / {shown}))",
            rf"\left(1 - \tanh^2\left({fraction}\right)\right)",
            lambda x: 1 - (x / limit).tanh() ** 2,
        ),
        Function(
            lambda y: 1 - (y / limit) ** 2,
            f"(1 − (({{}}) / {shown})²)",
            rf"\left(1 - \left({fraction}\right)^2\right)",
            lambda y: 1 - (y / limit) ** 2,
        ),
    )


def _times(factor: float) -> tuple[Function, Function, Function]:
    shown = f"{factor:g}"
    slope = Function(lambda x: np.full_like(x, factor), shown, shown, lambda x: 0 * x + factor)
    value = Function(
        lambda x: factor * x,
        f"{shown} · ({{}})",
        rf"{shown} \cdot ({{}})",
        lambda x: x * factor,
    )
    return value, slope, slope


def _clip(limit: float) -> tuple[Function, Function, Function]:
    shown, edge = f"{limit:g}", float(np.float32(limit))  # what a value in float32 is clipped to

    def inside(x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x) < edge, 1.0, 0.0)

    value = Function(
        lambda x: np.clip(x, -limit, limit),
        f"clip({{}}, ±{shown})",
        rf"\operatorname{{{{clip}}}}_{{{{\pm {shown}}}}}({{}})",
        lambda x: x.clamp(-limit, limit),
    )
    slope = Function(
        inside,
        f"[|{{}}| < {shown}]",
        rf"[|{{}}| < {shown}]",
        lambda x: (x.abs() < limit) + 0 * x,
    )
    return value, slope, slope


OF_A_NUMBER: dict[str, Callable[[float], tuple[Function, Function, Function]]] = {
    "soft cap": _soft_cap,
    "times": _times,
    "clip": _clip,
}
"""Functions that a number belongs to, as "soft cap 30" is 30 · tanh(x / 30): each with its derivative by the
argument, and by the value."""


class _Functions(dict[str, Function]):
    """A table that also has the functions of `OF_A_NUMBER`, each made when it is first asked for."""

    def __missing__(self, name: str) -> Function:
        kind, _, number = name.partition("′")[0].rpartition(" ")
        if kind not in OF_A_NUMBER:
            raise KeyError(name)
        own = f"{kind} {number}"
        names = (own, slope_of(own), slope_of(own, from_value=True))
        self.update(zip(names, OF_A_NUMBER[kind](float(number)), strict=True))
        return dict(self)[name]

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except (KeyError, ValueError):
            return False


FUNCTIONS: dict[str, Function] = _Functions(
    {
        "": Function(lambda x: x, "{}", "{}", lambda x: x, offered=True),
        "sigmoid": Function(
            sigmoid,
            "σ({})",
            r"\sigma({})",
            lambda x: x.sigmoid(),
            offered=True,
        ),
        "tanh": Function(np.tanh, "tanh({})", r"\tanh({})", lambda x: x.tanh(), offered=True),
        "relu": Function(
            lambda x: np.maximum(x, 0),
            "ReLU({})",
            r"\operatorname{{ReLU}}({})",
            lambda x: x.relu(),
            offered=True,
        ),
        "gelu": Function(
            lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
            "GELU({})",
            r"\operatorname{{GELU}}({})",
            _gelu_tensor,
            offered=True,
        ),
        "gelu_tanh": Function(
            lambda x: 0.5 * x * (1 + np.tanh(BEND * (x + CUBE * x**3))),
            "GELU({})",
            r"\operatorname{{GELU}}({})",
            _gelu_tanh_tensor,
            offered=True,
        ),
        "silu": Function(
            lambda x: x * sigmoid(x),
            "SiLU({})",
            r"\operatorname{{SiLU}}({})",
            _silu_tensor,
            offered=True,
        ),
        "one minus": Function(lambda x: 1 - x, "(1 − {})", "(1 - {})", lambda x: 1 - x),
        "one plus": Function(lambda x: 1 + x, "(1 + {})", "(1 + {})", lambda x: 1 + x),
        "relu_squared": Function(
            lambda x: np.maximum(x, 0) ** 2,
            "ReLU({})²",
            r"\operatorname{{ReLU}}({})^2",
            lambda x: x.relu() ** 2,
            offered=True,
            runs_away=True,
        ),
        "reciprocal": Function(lambda x: 1 / x, "1/{}", r"\frac{{1}}{{{}}}", lambda x: x.reciprocal()),
        "log": Function(np.log, "ln({})", r"\ln({})", lambda x: x.log()),
        "exp": Function(np.exp, "exp({})", r"\exp({})", lambda x: x.exp()),
        "square": Function(lambda x: x * x, "({})²", "({})^2", lambda x: x * x),
        "one minus square": Function(lambda x: 1 - x * x, "(1 − ({})²)", "(1 - ({})^2)", lambda x: 1 - x * x),
        "sin": Function(np.sin, "sin({})", r"\sin({})", lambda x: x.sin()),
        "cos": Function(np.cos, "cos({})", r"\cos({})", lambda x: x.cos()),
        **SLOPES,
    }
)
"""All functions by the names that operations, factors and configurations know them by; "" is the identity."""

IDENTITY = "identity"
"""What settings call the function without a name."""


def activations(*, recurrent: bool = False) -> tuple[str, ...]:
    """The names of the functions that a model can be told to apply, as its settings write them."""
    offered = [
        name for name, each in FUNCTIONS.items() if each.offered and not (recurrent and each.runs_away)
    ]
    return (*filter(None, offered), IDENTITY)


def activation_of(name: str) -> str:
    """The name in FUNCTIONS of what a setting calls so."""
    return "" if name == IDENTITY else name


def check_function(name: str) -> None:
    """LmvizError where no function has that name."""
    if name not in FUNCTIONS and name.removesuffix(SLOPE) in FUNCTIONS:
        raise LmvizError(
            f"The function {name.removesuffix(SLOPE)!r} has no slope to write gradients with: add a row to "
            "SLOPES in lmviz/models/slopes.py."
        )
    if name not in FUNCTIONS:
        known = ", ".join(repr(each) for each in FUNCTIONS if each and each not in SLOPES)
        raise LmvizError(
            f"There is no function {name!r}: use {known}, or add a row to FUNCTIONS in "
            "lmviz/models/functions.py."
        )
