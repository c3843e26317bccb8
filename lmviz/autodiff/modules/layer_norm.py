"""Layer normalisation (Ba, Kiros & Hinton 2016)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.autodiff.modules.module import Formula, Module, gradient_of
from lmviz.autodiff.modules.shapes import Shape, ShapeFault, fitted, in_words, need_axis
from lmviz.autodiff.modules.use import Use
from lmviz.models.arithmetic import Factor, Terms, constant

EPSILON = 1e-5
"""Added to the variance, as PyTorch has it."""


class LayerNorm(Module):
    """each row less its mean, over its deviation, times gain, plus bias"""

    word, arguments, optional, weights = "layer_norm", ("a", "gain", "bias"), 2, frozenset({1, 2})

    def shape(self, *shapes: Shape) -> Shape:
        a, *rest = shapes
        need_axis(self.word, a)
        for shape in rest:
            if shape not in ((), a[-1:]):
                raise ShapeFault(
                    f"layer_norm scales rows of {a[-1]} by {in_words(shape)}: gain and bias are numbers or "
                    f"vectors of {a[-1]}."
                )
        return a

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        a, *scaling = inputs
        normed = _normed(a)[0]
        gain, bias = _scaling(scaling)
        return normed * gain + bias

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        a, *scaling = inputs
        normed, deviation = _normed(a)
        g = gradient * _scaling(scaling)[0]
        # mean and deviation depend on every cell of the row
        along = (g * normed).mean(axis=-1, keepdims=True)
        handed = [(g - g.mean(axis=-1, keepdims=True) - normed * along) / deviation]
        for place, value in enumerate(scaling):
            handed.append(fitted(gradient * normed if place == 0 else gradient, value.shape))
        return handed

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        a, *scaling = use.inputs
        row = a.factor([(*index[:-1], column) for column in range(a.array.shape[-1])])
        parts: list[Factor] = [constant(1.0), constant(0.0)]
        for place, each in enumerate(scaling):
            parts[place] = each.cell(index[-1:] if each.array.ndim else ())
        groups = [("value", a.cell(index)), ("row", row), ("gain", parts[0]), ("bias", parts[1])]
        terms = [Terms(label, (factor,)) for label, factor in groups]
        return Formula((*terms, Terms("epsilon", (constant(EPSILON),))), rule="layer norm")

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        a, g = inputs[0], gradient_of(output)
        normed = rf"\hat{{{a}}}"
        gain = inputs[1] if len(inputs) > 1 else "1"
        centred = rf"h - \bar{{h}} - {normed} \, \overline{{h {normed}}}"
        own = rf"\frac{{1}}{{\sigma}} ({centred}), \; h = {gain} \odot {g}"
        return [own, rf"{g} \odot {normed}", g][: len(inputs)]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        a, *scaling = inputs
        normed = f"torch.nn.functional.layer_norm({a}, {a}.shape[-1:])"
        return normed + "".join(f" {sign} {each}" for sign, each in zip("*+", scaling, strict=False))


def _normed(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows with mean 0 and deviation 1, and the deviations they had."""
    deviation = np.sqrt(a.var(axis=-1, keepdims=True) + a.dtype.type(EPSILON))
    return (a - a.mean(axis=-1, keepdims=True)) / deviation, deviation


def _scaling(scaling: Sequence[np.ndarray]) -> tuple[np.ndarray | float, np.ndarray | float]:
    """Gain and bias, which are 1 and 0 where they are left out."""
    return (scaling[0] if scaling else 1.0, scaling[1] if len(scaling) > 1 else 0.0)
