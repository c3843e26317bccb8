"""Readable names for the operands of an explanation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lmviz.inspection.names import POSITIONAL, coordinate, number_of, word_of
from lmviz.inspection.trace import Trace
from lmviz.models.address import Address
from lmviz.models.tap import place_of


def operand_name(trace: Trace, source: str, index: Sequence[int], token: Callable[[int], str] = str) -> str:
    """An operand of an arithmetic, briefly: "hidden “at” · 18", "weights head 2 · “night” · “at”".

    Parameters are named as in the state dict, their places counted from 1: "output.weight (18, 4)"; counts
    of an n-gram model by its words, which `token` gives for each id. A gradient is named after what it is
    the gradient of.
    """
    at = Address.parse(source)
    if at.is_gradient:
        return f"gradient of {operand_name(trace, at.value, index, token)}"
    if source in trace:
        axes = trace[source].axes
        places = [_brief(axis, place, trace.names(axis)) for axis, place in zip(axes, index, strict=True)]
        return f"{word_of(at.name)} {' · '.join(places)}"
    if at.place == "counts":
        return f"count of “{' '.join(token(id) for id in index if id >= 0)}”"
    if at.place == "discounts":
        return f"discount D{index[0]} of order {at.name}"
    return f"{source} {place_of(index)}" if len(index) else source


def _brief(axis: str, index: int, tokens: Sequence[str]) -> str:
    if axis in POSITIONAL and 0 <= index < len(tokens):
        return f"“{tokens[index]}”"
    is_named = axis in ("head", "group")
    return coordinate(axis, index) if is_named else str(number_of(axis, index))
