"""Tap addresses and indices in words, the same wherever they are shown.

Layers, heads, positions, units and channels are numbered from 1 for a reader, as in the pictures; in Python
everything counts from 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from lmviz.base.counting import numbered
from lmviz.models.address import Address
from lmviz.models.sequences import ALONG
from lmviz.text.pictures import SIDE

POSITIONAL = frozenset(ALONG)
"""The axes that are as long as a sequence, the text or another one."""

FROM_ONE = frozenset({"layer", "head", "group", "unit", "channel", "order"}) | POSITIONAL
"""The axes that a reader sees numbered from 1."""

_PARTS = {
    "orders": "order",
    "layers": "layer",
    "feedforward": "feed-forward",
    "norm1": "norm 1",
    "norm2": "norm 2",
}
_PARTS |= {"residual1": "residual 1", "residual2": "residual 2", "preactivation": "pre-activation"}
_PARTS |= {"stream1": "stream 1", "stream2": "stream 2"}
_PARTS |= {"mixed": "weighted sum of v"}


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def title_of(address: str) -> str:
    """A tap's address in words: "layers/0/attention/weights" is "layer 1, attention weights".

    "decoder/layers/0/hidden" is "decoder layer 1, hidden". With "gradient/" before it, it is the gradient of
    that.
    """
    at = Address.parse(address)
    if at.is_gradient:
        return f"gradient of {title_of(at.value)}"
    parts = (address,) if at.is_parameter else at.parts
    if at.side and parts[1:2] == ("layers",):
        return f"{at.side} {title_of('/'.join(parts[1:]))}"
    if parts[0] not in ("layers", "orders") or len(parts) < 2:
        return " ".join(word_of(part) for part in parts)
    number = parts[1] if at.layer is None else str(numbered(at.layer))
    place = f"every {_PARTS[parts[0]]}" if number == "*" else f"{_PARTS[parts[0]]} {number}"
    return ", ".join([place, *([" ".join(word_of(part) for part in parts[2:])] if parts[2:] else [])])


def stop_name(address: str) -> str:
    """A place along the stream as what was added last there: "2 feed-forward", "layer 1", "order 3".

    Of a model that translates it is the stream of the decoder.
    """
    at = Address.parse(address)
    if at.layer is not None and at.block == "cross":
        return f"{numbered(at.layer)} attention to the source"
    if at.layer is not None and at.name[-1:] in ("1", "2"):  # a sum within a layer, or its norm
        return f"{numbered(at.layer)} {'attention' if at.name[-1] == '1' else 'feed-forward'}"
    parts = at.parts[1:] if at.side == "decoder" else at.parts
    return title_of("/".join(parts[:2]) if len(parts) > 2 else parts[0])


def number_of(axis: str, index: int) -> int:
    """An index as a reader counts; negative ones, which count from the end, stay as they are."""
    if axis in ("layer", "head"):
        return numbered(index)
    return index + 1 if axis in FROM_ONE and index >= 0 else index


def coordinate(axis: str, index: int, token: str = "") -> str:
    """One index in words, of the second position "position 2 “bat”", of the third head "head 3".

    A pixel of a picture is "row 1, column 2". `token` is what stands there, in the sequence that the axis
    runs along.
    """
    if axis == "pixel" and index >= 0:
        row, column = divmod(index, SIDE)
        return f"row {row + 1}, column {column + 1}"
    words = f"{word_of(axis)} {number_of(axis, index)}"
    return f"{words} “{token}”" if token and axis in POSITIONAL else words


def told_apart(words: Iterable[str]) -> tuple[str, ...]:
    """The words of a sequence, in which each that occurs more than once carries its position: "John⁴".

    For rows and columns that are words: there the two cannot be told apart by what stands around them.
    """
    listed = tuple(words)
    often = {word for word, count in Counter(listed).items() if count > 1}
    return tuple(
        word + str(number_of("position", at)).translate(_RAISED) if word in often else word
        for at, word in enumerate(listed)
    )


def word_of(part: str) -> str:
    """One part of an address in words: "residual1" is "residual 1"."""
    return _PARTS.get(part, part.replace("_", " "))
