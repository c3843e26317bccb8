"""The Jacobian of each step of a recurrence, and how much it can stretch a gradient."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.agreement import check_made_by
from lmviz.inspection.backpropagation import differentiating, leaves_of, unchanged
from lmviz.inspection.reach import states
from lmviz.inspection.recording import TapRecorder
from lmviz.inspection.trace import Trace
from lmviz.models.explicit import ForwardPass
from lmviz.models.model import Model
from lmviz.models.reading import on_device
from lmviz.models.sequences import TEXT
from lmviz.models.tap import Tap, Value

MOST = 64_000_000


class ParallelSteps(ForwardPass):
    """All steps of a recurrence at once, each from the state that a trace recorded at the step before.

    `before` has that of each position for every tap that is handed on, (1, position, unit).
    """

    def __init__(self, model: Model, trace: Trace, handed_on: tuple[str, ...], shift: int) -> None:
        super().__init__(on_device(model, trace.ids.copy()), leaves_of(model))
        self._values = {
            address: torch.from_numpy(traced.array.copy())[None].to(self.tokens.device)
            for address, traced in trace.arrays.items()
        }
        self.before = {address: _moved(self._values[address], shift) for address in handed_on}

    def read(self, operand: Value) -> torch.Tensor:
        return self.before[operand.address] if operand.shift else self._values[operand.address]

    def keep(self, address: str, value: torch.Tensor) -> torch.Tensor:
        """Have later taps read a value that was computed now."""
        self._values[address] = value
        return value


def step_jacobians(model: Model, trace: Trace) -> np.ndarray:
    """∂(state at a position)/∂(state that was handed on to it), (position, unit, unit).

    The steps are those of the model's lowest recurrence. The state is all that it hands on, the hidden state
    and the cell of an LSTM, in the order of the taps. The first Jacobian is that by the initial state.
    LmvizError where the model has no recurrence, or did not make the trace.
    """
    check_made_by(trace, model)
    model, _ = unchanged(model, ())
    taps = model.taps()
    scan = _lowest(taps)
    own = [tap for tap in taps if scan and tap.scan == scan]
    handed_on = states(taps, scan)
    if not handed_on:
        raise LmvizError(f"{model.name or model.family} hands no state on, so it has no steps through time.")
    shift = next(operand.shift for tap in own for operand in tap.operation.operands if operand.shift)
    recorder = TapRecorder(own, trace.interventions, {TEXT: len(trace)})
    with differentiating():
        steps = ParallelSteps(model, trace, handed_on, shift)
        computed = {
            tap.address: steps.keep(tap.address, recorder(tap, tap.operation.compute(steps), None))
            for tap in own
        }
        after = torch.cat([computed[address] for address in handed_on], dim=-1)  # (1, position, unit)
        size = after.shape[-1]
        directions = torch.eye(size).to(after)[:, None, None].expand(size, 1, len(trace), size)
        before = list(steps.before.values())
        found = torch.autograd.grad(after, before, directions, is_grads_batched=True, allow_unused=True)
        rows = [
            torch.zeros(size, *state.shape) if part is None else part
            for part, state in zip(found, before, strict=True)
        ]
    return torch.cat(rows, dim=-1)[:, 0].transpose(0, 1).detach().cpu().numpy()


def can_be_listed(model: Model, trace: Trace) -> bool:
    """Whether there are Jacobians, and no more than 64 million numbers in all of them."""
    taps = () if trace.further else model.taps()  # beside a source, steps read more than the step before
    handed_on = states(taps, _lowest(taps))
    size = sum(trace[address].shape[-1] for address in handed_on)
    return 0 < size * size * len(trace) <= MOST


def spectral_norms(jacobians: np.ndarray) -> np.ndarray:
    """The largest factor by which each Jacobian (position, unit, unit) can stretch a vector, (position,).

    NaN where a Jacobian has NaN or infinity in it.
    """
    found = np.full(len(jacobians), np.nan, dtype=jacobians.dtype)
    finite = np.isfinite(jacobians).all(axis=(1, 2))
    found[finite] = np.linalg.norm(jacobians[finite], ord=2, axis=(1, 2))
    return found


def _lowest(taps: Sequence[Tap]) -> str:
    """The scan of a model's lowest recurrence, as in "layers/0"; empty where it has none."""
    return next((tap.scan for tap in taps if tap.scan), "")


def _moved(value: torch.Tensor, shift: int) -> torch.Tensor:
    """What each position is handed on, with zeros at the text's border; differentiated by."""
    moved = torch.zeros_like(value)
    if shift < 0:
        moved[:, -shift:] = value[:, :shift]
    else:
        moved[:, :-shift] = value[:, shift:]
    return moved.requires_grad_()
