"""Takes gradients: a forward pass whose every value is kept, and one sweep back through it.

The derivatives are torch's own, by reverse-mode automatic differentiation over the explicit path, so that
they belong to exactly the numbers that a trace shows, interventions included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import torch

from lmviz.errors import LmvizError
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.freezing import freeze, storages
from lmviz.inspection.gradient import Gradient
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.origin import Origin
from lmviz.inspection.recording import TapRecorder, prepared, traced
from lmviz.inspection.scalar import Of, Scalar, read_scalar
from lmviz.inspection.traced_array import TracedArray
from lmviz.models.explicit import ForwardPass, in_order
from lmviz.models.model import Model
from lmviz.models.reading import on_device
from lmviz.models.tap import Tap


class GradientRecorder(TapRecorder):
    """A recorder that hands on, for each value, a tensor of its own whose gradient can be asked for.

    Inside a recurrence there is one for each position: what is stacked of them later is another tensor.
    """

    def __init__(
        self, taps: Sequence[Tap], interventions: Sequence[Intervention], positions: Mapping[str, int]
    ) -> None:
        super().__init__(taps, interventions, positions)
        self.leaves: dict[str, dict[int | None, torch.Tensor]] = {}

    def handed_on(self, tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
        if not value.is_floating_point():
            return value
        leaf = value.view_as(value) if value.requires_grad else value.detach().clone().requires_grad_()
        self.leaves.setdefault(tap.address, {})[position] = leaf
        return leaf


def gradient(
    model: Model,
    text_or_ids: str | Sequence[int] | np.ndarray,
    of: Of = "loss",
    *,
    interventions: Sequence[Intervention] = (),
    **further: str | Sequence[int] | np.ndarray,
) -> Gradient:
    """The derivative of one number with respect to every tap and every parameter.

    "loss" is the sum of the losses of all tokens for which the text itself is the target, in nats. Where an
    intervention puts a number in the place of a value, nothing passes back through it. `further` are the
    sequences that the model reads beside the text. LmvizError where
    the model has no parameters, as one that counts; where there is no such number; where its gradient is
    none, as of the loss of an impossible token; or as `trace` raises it.
    """
    while isinstance(model, ChangedModel):
        interventions = (*model.interventions, *interventions)
        model = model.unchanged
    check_differentiable(model)
    reading = prepared(model, text_or_ids, interventions, further)
    taps = model.taps()
    recorder = GradientRecorder(taps, reading.interventions, reading.lengths)
    with differentiating():
        parameters = leaves_of(model)
        everything = {**dict(model.named_buffers()), **parameters}
        computing = ForwardPass(on_device(model, reading.ids), everything, **reading.others(model))
        values = computing.run(taps, recorder)
        scalar = read_scalar(of, model, reading.ids, values)
        number = scalar.compute(values[scalar.address])[0]
        check_number(scalar, number)
        found = _swept_back(number, recorder.leaves, parameters)
    borrowed = storages((*model.parameters(), *model.buffers()))
    arrays = {
        tap.address: TracedArray(freeze(values[tap.address], borrowed), tap.axes, tap.scale) for tap in taps
    }
    gradients, of_parameters = found
    return Gradient(
        trace=traced(model, reading, arrays, recorder.carried_out(), Origin(model)),
        scalar=scalar,
        value=float(number.detach()),
        arrays={
            tap.address: TracedArray(freeze(gradients[tap.address], set()), tap.axes, "signed")
            for tap in taps
            if tap.address in gradients
        },
        parameters={name: freeze(value[None], set()) for name, value in of_parameters.items()},
    )


@contextmanager
def differentiating() -> Iterator[None]:
    """Derivatives are recorded here, whatever the thread does otherwise."""
    with torch.inference_mode(False), torch.enable_grad():
        yield


def leaves_of(model: Model, scales: Mapping[str, float] | None = None) -> dict[str, torch.Tensor]:
    """The model's parameters by name, on the same memory, as tensors whose gradient can be asked for.

    `scales` are factors for some of them, which are copied then.
    """
    leaves = {}
    for name, parameter in model.named_parameters():
        value = parameter.clone() if parameter.is_inference() else parameter.detach()
        scale = (scales or {}).get(name, 1.0)
        leaves[name] = (value if scale == 1 else value * scale).requires_grad_()
    return leaves


def check_differentiable(model: Model) -> None:
    """LmvizError for a model that is not made of parameters."""
    if next(model.parameters(), None) is None:
        raise LmvizError(
            f"{model.name or 'This model'} ({model.family}) counts and has no parameters, so nothing in it "
            "has a gradient: open a model that learns by gradients."
        )


def check_number(scalar: Scalar, number: torch.Tensor) -> None:
    """LmvizError where a number has no gradient because it is infinite or none."""
    if not torch.isfinite(number):
        raise LmvizError(
            f"{scalar.name} is {float(number.detach())} here, so it has no gradient: choose another number, "
            "or undo the intervention that makes it so."
        )


def _swept_back(
    number: torch.Tensor,
    leaves: Mapping[str, Mapping[int | None, torch.Tensor]],
    parameters: Mapping[str, torch.Tensor],
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """The gradients of taps (batch, *axes) by address, and of parameters by name."""
    flat = [leaf for steps in leaves.values() for leaf in steps.values()] + list(parameters.values())
    found: Sequence[torch.Tensor | None] = [None] * len(flat)
    if number.requires_grad:
        found = torch.autograd.grad(number, flat, allow_unused=True)
    filled = iter(
        torch.zeros_like(leaf) if value is None else value for leaf, value in zip(flat, found, strict=True)
    )
    taps = {address: _joined({place: next(filled) for place in steps}) for address, steps in leaves.items()}
    return taps, {name: next(filled) for name in parameters}


def _joined(steps: Mapping[int | None, torch.Tensor]) -> torch.Tensor:
    """The only value, or those of a recurrence by position, (batch, position, *axes)."""
    if None in steps:
        return steps[None]
    return in_order({place: step for place, step in steps.items() if place is not None})
