"""From which number layers and heads are counted for a reader: 1, as in a textbook, or 0, as in papers.

What belongs to Python counts from 0 in any case.
"""

from __future__ import annotations

_first = 1


def count_from(first: int) -> None:
    """Have layers and heads counted from 0 or from 1 from now on, wherever they are named."""
    global _first
    _first = first


def counted_from() -> int:
    """The number of the first layer and the first head."""
    return _first


def numbered(index: int) -> int:
    """The number of a layer or a head by its index; one from the end, below 0, stays as it is."""
    return index + _first if index >= 0 else index


def head_name(layer: int, head: int) -> str:
    """A head by its indices, in short: the second head of the first layer is "1·2"."""
    return f"{numbered(layer)}·{numbered(head)}"
