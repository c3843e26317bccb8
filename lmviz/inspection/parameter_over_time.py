"""The gradient of a recurrence's parameter as what it is: a sum over the positions that share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.backpropagation import (
    check_differentiable,
    check_number,
    differentiating,
    leaves_of,
    unchanged,
)
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.recording import TapRecorder, prepared
from lmviz.inspection.scalar import Of, in_range, read_scalar
from lmviz.models.explicit import ForwardPass
from lmviz.models.model import Model
from lmviz.models.reading import on_device
from lmviz.models.tap import Value, Weight


@dataclass(frozen=True, eq=False)
class ParameterOverTime:
    """What each position adds to the gradient of a parameter: `parts` (position, *shape) add up to it."""

    name: str
    parts: np.ndarray

    @property
    def whole(self) -> np.ndarray:
        """The gradient of the parameter, (*shape)."""
        return self.parts.sum(axis=0)

    @property
    def norms(self) -> np.ndarray:
        """The size of each part, (position,)."""
        return np.sqrt(np.square(self.parts, dtype=np.float64).reshape(len(self.parts), -1).sum(axis=1))

    @property
    def along(self) -> np.ndarray:
        """How far each part goes in the direction of the whole, (position,).

        They add up to the size of the whole; one that points against it is negative.
        """
        whole = self.whole.astype(np.float64)
        size = float(np.linalg.norm(whole))
        flat = self.parts.reshape(len(self.parts), -1).astype(np.float64)
        return flat @ whole.reshape(-1) / size if size else np.zeros(len(flat))

    def kept(self, truncation: int) -> float:
        """The share of the whole that the last so many steps give, counted from where the gradient begins."""
        total = float(self.along.sum())
        return float(self.along[self.within(truncation)].sum()) / total if total else 1.0

    def within(self, truncation: int) -> np.ndarray:
        """Whether a position is one of the last so many that the gradient goes back through, (position,)."""
        reached = np.flatnonzero(self.norms)
        last = int(reached[-1]) if len(reached) else len(self.parts) - 1
        return np.arange(len(self.parts)) > last - truncation


class SteppedPass(ForwardPass):
    """A pass in which each position of a recurrence reads a parameter of its own, with the same numbers.

    `steps` are these tensors by position.
    """

    def __init__(
        self,
        tokens: torch.Tensor,
        parameters: Mapping[str, torch.Tensor],
        name: str,
        **further: torch.Tensor,
    ) -> None:
        super().__init__(tokens, parameters, **further)
        self.steps: dict[int, torch.Tensor] = {}
        self._name = name

    def is_given(self, operand: Value) -> bool:
        """Nothing is: what is computed ahead for all positions would share the parameter."""
        return False

    def weight(self, operand: Weight) -> torch.Tensor:
        if operand.name != self._name or self.position is None:
            return super().weight(operand)
        parameter = self._parameters[self._name]
        own = self.steps.setdefault(self.position, parameter.view_as(parameter))
        return own if operand.rows is None else own[slice(*operand.rows)]


def parameter_over_time(
    model: Model,
    text_or_ids: str | Sequence[int] | np.ndarray,
    of: Of,
    name: str,
    *,
    interventions: Sequence[Intervention] = (),
    **further: str | Sequence[int] | np.ndarray,
) -> ParameterOverTime:
    """The parts of which the gradient of one parameter is the sum.

    LmvizError where no recurrence over the text reads the parameter, or as `gradient` raises it.
    """
    model, interventions = unchanged(model, interventions)
    check_differentiable(model)
    reading = prepared(model, text_or_ids, interventions, further)
    taps = model.taps()
    recorder = TapRecorder(taps, reading.interventions, reading.lengths)
    with differentiating():
        parameters = leaves_of(model)
        if name not in parameters:
            raise LmvizError(f"There is no parameter {name!r}: this model has {', '.join(parameters)}.")
        everything = {**dict(model.named_buffers()), **parameters}
        stepped = SteppedPass(on_device(model, reading.ids), everything, name, **reading.others(model))
        values = stepped.run(taps, recorder)
        if not stepped.steps:
            raise LmvizError(f"{name} is not read position by position: choose a parameter of a recurrence.")
        scalar = in_range(read_scalar(of, model, reading.ids, values), values, reading.interventions)
        number = scalar.numbers(values)[0]
        check_number(model, scalar, number)
        leaves = [stepped.steps[position] for position in sorted(stepped.steps)]
        found: Sequence[torch.Tensor | None] = [None] * len(leaves)
        if number.requires_grad:
            found = torch.autograd.grad(number, leaves, allow_unused=True)
    nothing = torch.zeros_like(leaves[0])
    parts = torch.stack([nothing if part is None else part for part in found])
    return ParameterOverTime(name, parts.detach().cpu().numpy())
