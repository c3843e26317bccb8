"""Derivatives of functions as functions of their own, so that gradients can be written in terms of them.

A derivative is taken of the argument, or of the value where that determines it: a sigmoid with the value
s rises by s(1 − s), whatever its argument was. Traces hold the values of gates and not their arguments.
"""

from __future__ import annotations

import math

import numpy as np

from lmviz.models.function import Function

BEND, CUBE = math.sqrt(2 / math.pi), 0.044715
"""The constants of GELU's approximation by tanh (Hendrycks & Gimpel 2016)."""
SLOPE, FROM_VALUE = "′", " from value"

erf = np.vectorize(math.erf, otypes=[float])


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(−x)), which never overflows."""
    decay = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + decay), decay / (1 + decay))


def sigmoid_slope(x: np.ndarray) -> np.ndarray:
    """σ(x) σ(−x)."""
    return sigmoid(x) * sigmoid(-x)


def tanh_slope(x: np.ndarray) -> np.ndarray:
    """1 − tanh² x."""
    return 1 - np.tanh(x) ** 2


def relu_slope(x: np.ndarray) -> np.ndarray:
    """1 above 0, and 0 from there down, as torch has it."""
    return np.where(x > 0, 1.0, 0.0)


def relu_squared_slope(x: np.ndarray) -> np.ndarray:
    """2x above 0, and 0 from there down."""
    return 2 * np.maximum(x, 0)


def gelu_slope(x: np.ndarray) -> np.ndarray:
    """Φ(x) + x φ(x), of the normal distribution."""
    return 0.5 * (1 + erf(x / math.sqrt(2))) + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def gelu_tanh_slope(x: np.ndarray) -> np.ndarray:
    """The derivative of GELU's approximation by tanh."""
    bent, rise = np.tanh(BEND * (x + CUBE * x**3)), BEND * (1 + 3 * CUBE * x**2)
    return 0.5 * (1 + bent) + 0.5 * x * (1 - bent**2) * rise


def silu_slope(x: np.ndarray) -> np.ndarray:
    """σ(x) (1 + x σ(−x))."""
    return sigmoid(x) * (1 + x * sigmoid(-x))


def slope_of(function: str, *, from_value: bool = False) -> str:
    """The name of the derivative of a function, by its argument or by its value."""
    return f"{function}{SLOPE}{FROM_VALUE if from_value else ''}"


def _written(name: str, latex: str) -> tuple[str, str]:
    return f"{name}{SLOPE}({{}})", rf"{latex}'({{}})"


SLOPES: dict[str, Function] = {
    slope_of("sigmoid"): Function(
        sigmoid_slope,
        *_written("σ", r"\sigma"),
        lambda x: x.sigmoid() * (-x).sigmoid(),
    ),
    slope_of("tanh"): Function(
        tanh_slope,
        *_written("tanh", r"\tanh"),
        lambda x: 1 - x.tanh() ** 2,
    ),
    slope_of("relu"): Function(
        relu_slope,
        *_written("ReLU", r"\operatorname{{ReLU}}"),
        lambda x: (x > 0) + 0 * x,
    ),
    slope_of("relu_squared"): Function(
        relu_squared_slope,
        tensor=lambda x: 2 * x.relu(),
        plain="(ReLU({})²)′",
        latex=r"(\operatorname{{ReLU}}({})^2)'",
    ),
    slope_of("gelu"): Function(
        gelu_slope,
        *_written("GELU", r"\operatorname{{GELU}}"),
        lambda x: 0.5 * (1 + (x / math.sqrt(2)).erf()) + x * (-(x**2) / 2).exp() / math.sqrt(2 * math.pi),
    ),
    slope_of("gelu_tanh"): Function(
        gelu_tanh_slope,
        *_written("GELU", r"\operatorname{{GELU}}"),
        lambda x: (
            0.5 * (1 + (BEND * (x + CUBE * x**3)).tanh())
            + 0.5 * x * (1 - (BEND * (x + CUBE * x**3)).tanh() ** 2) * BEND * (1 + 3 * CUBE * x**2)
        ),
    ),
    slope_of("silu"): Function(
        silu_slope,
        *_written("SiLU", r"\operatorname{{SiLU}}"),
        lambda x: x.sigmoid() * (1 + x * (-x).sigmoid()),
    ),
    slope_of("sigmoid", from_value=True): Function(
        lambda s: s * (1 - s), "{0}(1 − {0})", "{0}(1 - {0})", lambda s: s * (1 - s)
    ),
    slope_of("tanh", from_value=True): Function(
        lambda h: 1 - h**2, "(1 − ({})²)", "(1 - ({})^2)", lambda h: 1 - h**2
    ),
    slope_of("relu", from_value=True): Function(
        relu_slope, "[{} > 0]", "[{} > 0]", lambda h: (h > 0) + 0 * h
    ),
}
"""Rows of the table of functions, named by `slope_of`."""
