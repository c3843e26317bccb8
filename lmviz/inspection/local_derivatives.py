"""The derivatives of a tap by one number, for operations that do not state them.

What comes back to one number is linear in what is sent into the tap. Its coefficients, which a second sweep
gives, are the derivatives of all the tap's cells by that number: one column of the Jacobian for the price
of a few evaluations, whatever the Jacobian's size (the double backward trick of J. Townsend, 2017).
"""

from __future__ import annotations

import numpy as np
import torch

from lmviz.inspection.trace import Trace
from lmviz.models.address import gradient_of
from lmviz.models.arithmetic import Terms
from lmviz.models.explicit import ForwardPass
from lmviz.models.operations.factors import constants, value_cells
from lmviz.models.tap import Reader, Tap, Weight


class RecordedPass(ForwardPass):
    """Computes one tap again, in float64, from what a trace recorded and from the model's parameters.

    `moving` is the value of `source`, a tap or a parameter, by which one can differentiate.
    """

    def __init__(self, reader: Reader, trace: Trace, tap: Tap, source: str) -> None:
        sequences = {name: _ids(read.ids) for name, read in trace.sequences.items()}
        tokens = sequences.pop("text")
        array = reader.array(source) if source in trace else reader.weight(Weight(source))
        self.moving = _tensor(array).requires_grad_()
        super().__init__(tokens, {source: self.moving}, **sequences)
        self._reader, self._tap = reader, tap
        read = {operand.address for operand in tap.operation.operands}
        self._axes = {address: trace[address].axes for address in read}
        self._values = {
            address: (self.moving if address == source else _tensor(reader.array(address)))[None]
            for address in read
        }

    def weight(self, operand: Weight) -> torch.Tensor:
        if operand.name not in self._parameters:
            return _tensor(self._reader.weight(operand))
        return super().weight(operand)

    def compute(self) -> torch.Tensor:
        """The tap's value, (1, *axes); in a recurrence each position's from what was recorded before it."""
        operation = self._tap.operation
        if not self._tap.scan:
            return operation.compute(self)
        self._scanned, steps = self._tap.axes[0], []
        for position in range(self._length(self._scanned)):
            self.position = position
            steps.append(operation.compute(self))
        self.position = None
        return torch.stack(steps, dim=1)


def computed_terms(
    reader: Reader, trace: Trace, tap: Tap, source: str, index: tuple[int, ...]
) -> tuple[Terms, ...]:
    """The gradients of a tap's cells × their derivatives by one cell of a tap or a parameter."""
    with torch.inference_mode(False), torch.enable_grad():
        computing = RecordedPass(reader, trace, tap, source)
        value = computing.compute()
        if not value.requires_grad:
            return ()
        sent = torch.zeros_like(value).requires_grad_()
        (back,) = torch.autograd.grad(value, computing.moving, sent, create_graph=True)
        (slopes,) = torch.autograd.grad(back[index], sent)
    found = slopes[0].numpy()
    cells = np.argwhere(found)
    if not len(cells):
        return ()
    factors = (value_cells(reader, gradient_of(tap.address), cells), constants(found[tuple(cells.T)]))
    return (Terms("local derivative", factors),)


def _tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array.astype(np.float64))


def _ids(ids: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(ids.copy())[None]
