"""Which words a number depends on: what its gradient says, and what erasing each word really does.

Gradient × embedding is the change to first order if an embedding were erased (Denil et al. 2014; Li et al.
2016). It is a prediction, which may be far off. `erased` measures what it predicts.
"""

from __future__ import annotations

import numpy as np
import torch

from lmviz.inspection.agreement import check_made_by
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.gradient import Gradient
from lmviz.inspection.reach import input_address
from lmviz.inspection.recording import TapRecorder
from lmviz.inspection.trace import Trace
from lmviz.models.explicit import ForwardPass
from lmviz.models.model import Model
from lmviz.models.reading import evaluation, on_device
from lmviz.models.tap import Tap

ROWS = 16
"""How many words are erased at once, each in a row of the batch."""


def saliency(model: Model, found: Gradient) -> np.ndarray:
    """By how much the number would change without each token's embedding, to first order, (position,)."""
    address = input_address(model)
    gradients, values = found[address].array, found.trace[address].array
    return -(gradients.astype(np.float64) * values).sum(axis=1)


def erased(model: Model, found: Gradient) -> np.ndarray:
    """By how much the number changes where each token's embedding is set to zero in turn, (position,).

    Everything is computed anew, under the interventions that the gradient was taken with. LmvizError where
    the gradient is of another model, or of another snapshot.
    """
    check_made_by(found.trace, model)
    model, _ = unchanged(model, ())
    changes = []
    for first in range(0, len(found), ROWS):
        positions = range(first, min(first + ROWS, len(found)))
        changes.append(_without(model, found, positions) - found.value)
    return np.concatenate(changes)


def _without(model: Model, found: Gradient, positions: range) -> np.ndarray:
    """The number without each of some tokens, (position,)."""
    taps, trace = model.taps(), found.trace
    recorder = TapRecorder(taps, trace.interventions, _lengths(trace))
    address, rows = input_address(model), torch.arange(len(positions))

    def listener(tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
        value = recorder(tap, value, position)
        if tap.address == address:
            value = value.clone()
            value[rows, torch.tensor(positions)] = 0
        return value

    with evaluation(model):
        sequences = {
            name: on_device(model, read.ids.copy()).repeat(len(positions), 1)
            for name, read in trace.sequences.items()
        }
        tokens = sequences.pop("text")
        parameters = {**dict(model.named_buffers()), **dict(model.named_parameters())}
        values = ForwardPass(tokens, parameters, **sequences).run(taps, listener)
        return found.scalar.compute(values[found.scalar.address]).double().cpu().numpy()


def _lengths(trace: Trace) -> dict[str, int]:
    return {name: len(read.ids) for name, read in trace.sequences.items()}
