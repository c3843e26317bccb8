"""A trace that begins like an earlier one: only what is new is computed.

No position sees a later one, so whatever was traced for a common beginning stands. Where operations
work row by row, which is where the weights are multiplied, the new rows alone are computed; what lies
between positions, attention above all, is little work beside it and is computed whole from old and new
rows. It is what a key/value cache does, with every tap in the open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from lmviz.inspection.freezing import freeze, storages
from lmviz.inspection.names import POSITIONAL
from lmviz.inspection.trace import Trace
from lmviz.models.explicit import Scope
from lmviz.models.model import Model
from lmviz.models.operations import Activation, Affine, LayerNorm, Softmax, SplitHeads, SumOfProducts, Window
from lmviz.models.reading import evaluation, on_device
from lmviz.models.tap import Operation, Tap, Value


def continued(
    model: Model, taps: Sequence[Tap], earlier: Trace, ids: np.ndarray
) -> dict[str, np.ndarray] | None:
    """The value (*axes) of every tap for ids (position,), as far as possible from an earlier trace.

    None where it is of no use: another model's, of another beginning, changed or incomplete, or of a
    recurrence that would have to go on.
    """
    known = _common_beginning(model, taps, earlier, ids)
    if not known:
        return None
    if known == len(ids):
        return {tap.address: _beginning(earlier, tap, known) for tap in taps}
    if any(tap.scan for tap in taps):
        return None
    scope = ContinuedScope(on_device(model, ids), model, taps)
    borrowed = storages(model)
    arrays = {}
    with evaluation(model):
        for tap in taps:
            alone = "position" in tap.axes and _works_row_by_row(tap.operation)
            scope.first = known if alone else 0
            array = freeze(tap.operation.compute(scope), borrowed)
            if alone:
                axis = tap.axes.index("position")
                array = np.concatenate([_beginning(earlier, tap, known), array], axis=axis)
            arrays[tap.address] = array
            scope.keep(tap.address, array)
    return arrays


class ContinuedScope(Scope):
    """A scope in which operations find the positions from `first` on."""

    def __init__(self, tokens: torch.Tensor, model: Model, taps: Sequence[Tap]) -> None:
        parameters = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        super().__init__(tokens, parameters)
        self.first = 0
        self._axes: Mapping[str, tuple[str, ...]] = {tap.address: tap.axes for tap in taps}
        self._kind = next((value for value in parameters.values() if value.is_floating_point()), None)

    def read(self, operand: Value) -> torch.Tensor:
        """The operand's value, (batch, *axes), from `first` on where it has positions."""
        value = super().read(operand)
        axes = self._axes[operand.address]
        if not self.first or "position" not in axes:
            return value
        return value.narrow(1 + axes.index("position"), self.first, self.tokens.shape[1] - self.first)

    def keep(self, address: str, array: np.ndarray) -> None:
        """The whole value (*axes) of a tap, for the operations that follow."""
        value = torch.from_numpy(array)[None]
        if self._kind is not None and value.is_floating_point():
            value = value.to(self._kind)
        self._values[address] = value


def _common_beginning(model: Model, taps: Sequence[Tap], earlier: Trace, ids: np.ndarray) -> int:
    """How many positions of ids the earlier trace has already; 0 where it cannot serve."""
    same = (earlier.family, earlier.name, earlier.step) == (model.family, model.name, model.step)
    complete = all(tap.address in earlier for tap in taps)
    if not (same and complete) or earlier.interventions or earlier.dropped:
        return 0
    length = min(len(ids), len(earlier))
    differing = np.flatnonzero(ids[:length] != earlier.ids[:length])
    return int(differing[0]) if len(differing) else length


def _beginning(earlier: Trace, tap: Tap, positions: int) -> np.ndarray:
    """The first positions of an earlier value, along every axis that is as long as the text."""
    places = tuple(slice(positions if axis in POSITIONAL else None) for axis in tap.axes)
    return earlier[tap.address].array[places]


def _works_row_by_row(operation: Operation) -> bool:
    """Whether a position's row is made of the rows of the same position."""
    if isinstance(operation, SplitHeads):
        operation = operation.affine
    if isinstance(operation, Affine):
        return not any(isinstance(summand.input, Window) for summand in operation.summands)
    return isinstance(operation, (Activation, LayerNorm, Softmax, SumOfProducts))
