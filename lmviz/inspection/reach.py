"""How far back a gradient reaches: its size at every position, and by what factor it changes a step.

In a recurrence ∂h_T/∂h_k is a product of T − k Jacobians, whose size shrinks or grows like a power: gradients
vanish or explode (Bengio et al. 1994; Pascanu et al. 2013).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.gradient import Gradient
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.scalar import Of
from lmviz.models.address import Address
from lmviz.models.model import Model
from lmviz.models.operations import Affine, Pixels, StateBefore
from lmviz.models.operations.lookup import TokenLookup
from lmviz.models.sequences import ALONG, TEXT
from lmviz.models.tap import Tap


@dataclass(frozen=True, eq=False)
class Reach:
    """The size of the gradient of a tap along the text or the source: Euclidean norms, (position,)."""

    address: str
    norms: np.ndarray

    @property
    def last(self) -> int:
        """The last position that the gradient reaches, where it begins; -1 where there is none."""
        reached = np.flatnonzero(self.norms)
        return int(reached[-1]) if len(reached) else -1

    @property
    def relative(self) -> np.ndarray:
        """Each norm beside that of the last position reached, (position,); all 0 without one."""
        return self.norms / self.norms[self.last] if self.last >= 0 else self.norms

    @property
    def factor(self) -> float:
        """What a step further back multiplies the norm by, on average; NaN where there is no step back."""
        reached = np.flatnonzero(self.norms)
        if len(reached) < 2:
            return float("nan")
        first, last = int(reached[0]), int(reached[-1])
        logarithm = np.log(float(self.norms[first])) - np.log(float(self.norms[last]))
        return float(np.exp(logarithm / (last - first)))


def reach(found: Gradient, address: str) -> Reach:
    """How large a gradient is at each position of a tap, in the text or else in the source.

    LmvizError for a tap that has no positions.
    """
    traced = found[address]
    along = next((axis for axis in ("position", "source") if axis in traced.axes), None)
    if along is None:
        raise LmvizError(f"{address} has no positions, so no gradient reaches back along it.")
    own = traced.axes.index(along)
    others = tuple(axis for axis in range(len(traced.axes)) if axis != own)
    squares = np.square(traced.array, dtype=np.float64)
    return Reach(address, np.sqrt(squares.sum(axis=others)))


def reach_with(
    model: Model,
    text_or_ids: str | Sequence[int] | np.ndarray,
    of: Of,
    address: str,
    *,
    scales: Mapping[str, float],
    interventions: Sequence[Intervention] = (),
    **further: str | Sequence[int] | np.ndarray,
) -> Reach:
    """The same with some parameters multiplied by factors, given by their names.

    LmvizError as `gradient` raises it, as where the factors make the number infinite.
    """
    found = gradient(model, text_or_ids, of, interventions=interventions, scales=scales, **further)
    return reach(found, address)


def state_address(model: Model) -> str:
    """The tap whose gradient says how far back a loss reaches.

    In a recurrence it is what the lowest layer hands on: the cell where there is one, else the hidden
    state. In other models it is what becomes of each token first.
    """
    handed_on = states(model.taps(), _first_scan(model))
    if handed_on:
        return next((address for address in handed_on if Address.parse(address).name == "cell"), handed_on[0])
    return input_address(model)


def input_address(model: Model, sequence: str = TEXT) -> str:
    """The tap that holds the embeddings of a sequence's tokens, or its pixels; LmvizError without one."""
    for tap in model.taps():
        if isinstance(tap.operation, TokenLookup | Pixels) and ALONG.get(tap.axes[0]) == sequence:
            return tap.address
    raise LmvizError(f"{model.name or model.family} looks up no embeddings of its tokens.")


def states(taps: Sequence[Tap], scan: str) -> tuple[str, ...]:
    """What the taps of a recurrence hand on from one position to the next, in the order of computation."""
    own = [tap for tap in taps if scan and tap.scan == scan]
    read = {operand.address for tap in own for operand in tap.operation.operands if operand.shift}
    return tuple(tap.address for tap in own if tap.address in read)


def recurrent_weights(model: Model) -> tuple[str, ...]:
    """The names of the matrices by which a recurrence over the text reads what was handed on."""
    own = [tap for tap in model.taps() if tap.scan and tap.axes[0] == "position"]
    before = {tap.address for tap in own if isinstance(tap.operation, StateBefore)}
    names: dict[str, None] = {}
    for tap in own:
        if isinstance(tap.operation, Affine):
            for summand in tap.operation.summands:
                if any(operand.shift or operand.address in before for operand in summand.input.operands):
                    names[summand.weight.name] = None
    return tuple(names)


def _first_scan(model: Model) -> str:
    return next((tap.scan for tap in model.taps() if tap.scan and "position" in tap.axes), "")
