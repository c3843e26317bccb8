"""How far a prediction is from its target, as one number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.autodiff.modules.module import Formula, Module, gradient_of
from lmviz.autodiff.modules.shapes import Shape, ShapeFault, in_words
from lmviz.autodiff.modules.use import Use, places
from lmviz.models.arithmetic import Factor, Terms, constant


class Loss(Module):
    """The base of losses: a target and a prediction of one shape."""

    arguments = ("target", "prediction")

    def shape(self, *shapes: Shape) -> Shape:
        target, prediction = shapes
        if target != prediction:
            raise ShapeFault(
                f"{self.word} compares {in_words(target)} with {in_words(prediction)}: give the target the "
                "shape of the prediction."
            )
        return ()


class CrossEntropy(Loss):
    """−Σ target · log prediction, in nats"""

    word = "cross_entropy"

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        target, prediction = inputs
        counted = target != 0  # 0 · log 0 is 0
        return np.asarray(-(target[counted] * np.log(prediction[counted])).sum())

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        target, prediction = inputs
        ratio = np.divide(target, prediction, out=np.zeros_like(target), where=target != 0)
        return [-gradient * np.log(prediction), -gradient * ratio]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        target, prediction = use.inputs
        cells = places(target.array.shape)
        counted = (target.array != 0).reshape(-1)
        if not counted.any():
            return Formula((Terms("no target", (constant(0.0),)),))
        minus = constant(-1.0, int(counted.sum()))
        kept = cells[counted]
        return Formula((Terms("", (minus, target.factor(kept), prediction.factor(kept, "log"))),))

    def explain_gradient(self, use: Use, place: int, index: tuple[int, ...]) -> tuple[Factor, ...]:
        target, prediction = use.inputs
        minus, gradient = constant(-1.0), use.output_gradient.cell(())
        if place == 0:
            return minus, gradient, prediction.cell(index, "log")
        if target.array[index] == 0:
            return gradient, target.cell(index)
        return minus, gradient, target.cell(index), prediction.cell(index, "reciprocal")

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        target, prediction = inputs
        g = gradient_of(output)
        return [rf"-{g} \log {prediction}", rf"-{g} \frac{{{target}}}{{{prediction}}}"]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return f"-torch.xlogy({inputs[0]}, {inputs[1]}).sum()"


class SquaredError(Loss):
    """Σ (prediction − target)²"""

    word = "squared_error"

    def forward(self, *inputs: np.ndarray) -> np.ndarray:
        target, prediction = inputs
        return np.asarray(((prediction - target) ** 2).sum())

    def backward(self, gradient: np.ndarray, output: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        target, prediction = inputs
        difference = 2 * gradient * (prediction - target)
        return [-difference, difference]

    def explain(self, use: Use, index: tuple[int, ...]) -> Formula:
        target, prediction = use.inputs
        cells = places(target.array.shape)
        t, p = target.factor(cells), prediction.factor(cells)
        return Formula(
            (
                Terms("prediction²", (p, p)),
                Terms("−2 · prediction · target", (constant(-2.0, len(cells)), p, t)),
                Terms("target²", (t, t)),
            )
        )

    def explain_gradient(self, use: Use, place: int, index: tuple[int, ...]) -> tuple[Factor, ...]:
        target, prediction = (operand.array[index] for operand in use.inputs)
        difference = float(prediction - target)
        return use.output_gradient.cell(()), constant(2 * difference if place else -2 * difference)

    def equations(self, output: str, inputs: Sequence[str]) -> list[str]:
        target, prediction = inputs
        g = gradient_of(output)
        return [rf"-2 {g} ({prediction} - {target})", rf"2 {g} ({prediction} - {target})"]

    def torch(self, inputs: Sequence[str], shapes: Sequence[Shape]) -> str:
        return f"(({inputs[1]} - {inputs[0]}) ** 2).sum()"
