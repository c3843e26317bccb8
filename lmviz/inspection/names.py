"""Tap addresses and indices in words, the same wherever they are shown.

Layers, heads, positions, units and channels are numbered from 1 for a reader, as in the pictures; in Python
everything counts from 0.
"""

from __future__ import annotations

from lmviz.models.sequences import ALONG
from lmviz.models.tap import GRADIENT
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


def title_of(address: str) -> str:
    """A tap's address in words: "layers/0/attention/weights" is "layer 1, attention weights".

    "decoder/layers/0/hidden" is "decoder layer 1, hidden". With "gradient/" before it, it is the gradient of
    that.
    """
    if address.startswith(GRADIENT):
        return f"gradient of {title_of(address.removeprefix(GRADIENT))}"
    parts = address.split("/")
    if parts[0] in ("encoder", "decoder") and parts[1:2] == ["layers"]:
        return f"{parts[0]} {title_of('/'.join(parts[1:]))}"
    if parts[0] not in ("layers", "orders") or len(parts) < 2:
        return " ".join(word_of(part) for part in parts)
    number = parts[1]
    if _is_number(number) and parts[0] == "layers":
        number = str(int(number) + 1)
    place = f"every {_PARTS[parts[0]]}" if number == "*" else f"{_PARTS[parts[0]]} {number}"
    return ", ".join([place, *([" ".join(word_of(part) for part in parts[2:])] if parts[2:] else [])])


def _is_number(part: str) -> bool:
    """Whether it is a number that a layer may have; not every digit of Unicode is one to `int`."""
    return part.isdecimal() and len(part) < 10


def stop_name(address: str) -> str:
    """A place along the stream as what was added last there: "2 feed-forward", "layer 1", "order 3".

    Of a model that translates it is the stream of the decoder.
    """
    parts = address.removeprefix("decoder/").split("/")
    if parts[0] == "layers" and "cross" in parts:
        return f"{int(parts[1]) + 1} attention to the source"
    if parts[0] == "layers" and parts[-1].endswith(("1", "2")):  # a sum within a layer, or its norm
        return f"{int(parts[1]) + 1} {'attention' if parts[-1].endswith('1') else 'feed-forward'}"
    return title_of("/".join(parts[:2]) if len(parts) > 2 else parts[0])


def number_of(axis: str, index: int) -> int:
    """An index as a reader counts; negative ones, which count from the end, stay as they are."""
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


def word_of(part: str) -> str:
    """One part of an address in words: "residual1" is "residual 1"."""
    return _PARTS.get(part, part.replace("_", " "))


def layer_in(address: str) -> int | None:
    """The layer of an address, counted from 0, also of "decoder/layers/1/cross/weights"; None without one."""
    parts = address.split("/")
    number = parts[parts.index("layers") + 1] if "layers" in parts[:-1] else ""
    return int(number) if _is_number(number) else None
