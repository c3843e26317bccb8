"""Which contexts of an n-gram model were matched in the text before a position."""

from __future__ import annotations

from lmviz.inspection.trace import Trace
from lmviz.models.address import Address


def has_contexts(trace: Trace) -> bool:
    """Whether it is a trace of a model that matches contexts."""
    return bool(_addresses(trace))


def stage_context(trace: Trace, stage: int, position: int) -> list[int]:
    """The token ids of the context that the order of a stage has matched; empty where it has none."""
    return _matched(trace, f"{trace.stages[stage].place}/context", position)


def longest_context(trace: Trace, position: int) -> list[int]:
    """The token ids of the longest context that was matched; empty where no word was seen before."""
    return max((_matched(trace, address, position) for address in _addresses(trace)), key=len, default=[])


def _addresses(trace: Trace) -> list[str]:
    return [found for found in trace.arrays if Address.parse(found).matches("orders/*/context")]


def _matched(trace: Trace, address: str, position: int) -> list[int]:
    """Ids are -1 in front of a shorter context, and where none was seen."""
    if address not in trace:
        return []
    ids = trace[address].array[position]
    return [int(id) for id in ids if id >= 0]
