"""How much of each earlier word a gated state still holds, exact by the product of the gates.

An LSTM's cell is c_t = f_t c_{t−1} + i_t c̃_t, so that c_t = Σ_k (Π_{k<j≤t} f_j) i_k c̃_k: a sum with one part
for each word read so far. A GRU's state is one in the same way, with z_j for the forget gate and
1 − z_k for the input gate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.indices import from_start
from lmviz.inspection.trace import Trace
from lmviz.models.address import Address
from lmviz.models.sequences import SOURCE


@dataclass(frozen=True, eq=False)
class HeldWords:
    """The state at `position` of the tap at `address` as a sum over words.

    `kept` (position, unit) is the product of the gates that what was written at each position went
    through, `parts` (position, unit) what is left of it, and `rest` (unit) what a state to begin with, or
    interventions on the state, put in besides; the parts and the rest add up to the state.
    """

    address: str
    position: int
    kept: np.ndarray
    parts: np.ndarray
    rest: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """How much of all that is held comes from each position, (position,), by absolute values."""
        sizes = np.abs(self.parts).sum(axis=1)
        total = sizes.sum()
        return sizes / total if total else sizes


def gated_layer(trace: Trace) -> str:
    """The lowest layer whose state is gated and holds nothing but words of the text, as "layers/0".

    "" where there is none, or beside a source: an encoder holds words of that, a decoder begins with them.
    """
    if SOURCE in trace.further:
        return ""
    for address in trace.arrays:
        at = Address.parse(address)
        if at.name == "cell" or (at.name == "update" and at.beside("hidden") in trace):
            return at.place
    return ""


def held_words(trace: Trace, layer: str = "layers/0", position: int = -1) -> HeldWords:
    """What the gated state of a layer still holds of each word at a position.

    A layer that reads from right to left holds nothing of the words to the left, whose parts are 0.
    LmvizError for a layer without such gates, as that of a simple recurrent network.
    """
    address, gate, written = _gates(trace, layer)
    axis, count = trace[address].axes[0], trace[address].shape[0]
    position = from_start(axis, position, count)
    is_reverse = _reads_backwards(trace, address)
    if is_reverse:
        gate, written = gate[position:][::-1], written[position:][::-1]
    else:
        gate, written = gate[: position + 1], written[: position + 1]
    later = np.concatenate([gate[1:], np.ones_like(gate[:1])])  # (position, unit)
    kept = np.cumprod(later[::-1], axis=0)[::-1]
    parts = kept * written
    if is_reverse:
        before = np.zeros((position, gate.shape[1]))
        kept, parts = np.concatenate([before, kept[::-1]]), np.concatenate([before, parts[::-1]])
    state = trace[address].array[position].astype(np.float64)
    return HeldWords(address, position, kept, parts, state - parts.sum(axis=0))


def _reads_backwards(trace: Trace, address: str) -> bool:
    """Whether a state is made from that of the position to its right."""
    made = next(stage for stage in trace.stages if address in stage.results)
    return any(shift > 0 for shift in made.shifts)


def _gates(trace: Trace, layer: str) -> tuple[str, np.ndarray, np.ndarray]:
    """The state's address, what it keeps of itself and what is written, (position, unit) each."""

    def of(name: str) -> np.ndarray:
        return trace[f"{layer}/{name}"].array.astype(np.float64)

    if f"{layer}/cell" in trace:
        return f"{layer}/cell", of("forget"), of("input") * of("candidate")
    if f"{layer}/update" in trace:
        return f"{layer}/hidden", of("update"), (1 - of("update")) * of("candidate")
    raise LmvizError(f"{layer} has no gates that would say what it holds: choose an LSTM or a GRU.")
