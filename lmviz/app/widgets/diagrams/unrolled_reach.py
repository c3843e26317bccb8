"""Which cells of an unrolled network a word can reach, and from which its answer can be reached."""

from __future__ import annotations

from collections.abc import Sequence

from lmviz.app.widgets.diagrams.unrolled_values import BACKWARD, FORWARD, UnrolledLayer


def is_reached(
    layers: Sequence[UnrolledLayer], cell: tuple[int, int], current: int, hovered: int | None
) -> bool:
    """Whether a cell (position, layer) has to do with the lit word, or else with the hovered one.

    Where no direction is given the text is read from left to right, and what comes after the lit word has
    nothing to do with it. With directions, cells count from which the answer at the lit word can be
    reached; while a word is hovered, those that this word can reach.
    """
    (position, layer), direction = cell, layers[cell[1]].direction
    if not direction:
        return not 0 <= current < position
    if hovered is None and current < 0:
        return True
    base, summit = pair_of(layers, layer)
    word = current if hovered is None else hovered
    after = position < word if hovered is None else position > word
    is_passed_on = summit < len(layers) - 1 if hovered is None else base > 0
    is_single = all(other.direction == direction for other in layers)
    touches = position == word or (is_passed_on and not is_single)
    return touches or after == (direction == FORWARD)


def pair_of(layers: Sequence[UnrolledLayer], layer: int) -> tuple[int, int]:
    """The rows that read the text in both directions side by side, the lower and the upper."""
    lower = layer - 1 if layers[layer].direction == BACKWARD else layer
    if lower < 0 or lower + 1 >= len(layers):
        return layer, layer
    ways = (layers[lower].direction, layers[lower + 1].direction)
    return (lower, lower + 1) if ways == (FORWARD, BACKWARD) else (layer, layer)
