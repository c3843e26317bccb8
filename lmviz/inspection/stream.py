"""The stream: the taps that hold the state which the logits are finally made of, from first to last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lmviz.inspection.trace import Trace
from lmviz.models.address import POOLED, Address
from lmviz.models.tap import Stage

ANSWERS = ("token", "label")
"""The axes along which distributions lie."""


def stream_places(addresses: Iterable[str], stages: Iterable[Stage]) -> tuple[str, ...]:
    """The taps, among these, that hold the state which the logits are finally made of, first to last.

    A family whose addresses follow none of the usual names has one place: what the stage of the logits
    reads.
    """
    addresses = tuple(addresses)
    if POOLED in addresses:  # one answer for the text: what it is pooled from has none of its own
        return ()
    decoder = "decoder/" if any(Address.parse(address).side == "decoder" for address in addresses) else ""
    layer = f"{decoder}layers/*"
    sums = _matching(addresses, f"{layer}/residual[12]", f"{layer}/stream[12]", f"{layer}/cross/residual")
    if sums and f"{decoder}norm" not in addresses:  # post-norm: the stream is what has been normalised
        sums = _matching(addresses, f"{layer}/norm[12]", f"{layer}/cross/norm") or sums
    if sums:
        begins = _matching(addresses, f"{decoder}embedding/sum", f"{decoder}embedding/norm")
        return (*begins[-1:], *sums)
    states = _matching(
        addresses, "hidden", "joined", f"{layer}/hidden", f"{layer}/joined", "orders/*/probabilities"
    )
    if states:
        return states
    read = next((stage.operands for stage in stages if "logits" in stage.results), ())
    return tuple(address for address in read[:1] if address in addresses)


def residual_norms(trace: Trace) -> tuple[tuple[str, ...], np.ndarray]:
    """The places along the stream, and the Euclidean norm of the state there, (place, position).

    An n-gram model has distributions there, and no state.
    """
    states = {address for address, traced in trace.arrays.items() if traced.axes[-1] not in ANSWERS}
    places = tuple(place for place in stream_places(trace.arrays, trace.stages) if place in states)
    norms = [np.linalg.norm(trace[place].array, axis=-1) for place in places]
    return places, np.stack(norms) if norms else np.zeros((0, len(trace)))


def _matching(addresses: Sequence[str], *patterns: str) -> tuple[str, ...]:
    return tuple(address for address in addresses if any(map(Address.parse(address).matches, patterns)))
