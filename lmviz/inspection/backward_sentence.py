"""What a gradient does at a stage, in a sentence: from which stages it comes back, and how large it is."""

from __future__ import annotations

import numpy as np

from lmviz.inspection.gradient import Gradient
from lmviz.inspection.stage_sentence import Piece
from lmviz.inspection.views import OVER_SOURCE, OVER_TEXT
from lmviz.models.tap import Stage
from lmviz.text.tokenizer import visible

NAMED = 3
"""So many stages are named, and the others are counted."""

LATER = " It is read only later: go to an earlier place, or choose another number."


def backward_sentence(found: Gradient, stage: int, position: int, of: str) -> tuple[Piece, ...]:
    """Where the gradient at a stage's result comes from, and its size; `of` says what it is the gradient of.

    Nothing for a stage whose result is no number that can change, as of tokens that are looked up.
    """
    here = found.trace.stages[stage]
    address = next((result for result in here.results if result in found), None)
    if address is None:
        return ()
    size = float(np.sqrt(np.nansum(np.square(part_at(found, address, position), dtype=np.float64))))
    word = Piece(f"“{visible(found.trace.tokens[position])}”", True)
    if size == 0:
        sentence = Piece("At ", False), word, Piece(" this does not matter to ", False), Piece(f"{of}.", True)
        return (*sentence, Piece(LATER, False)) if _is_later(found, position) else sentence
    begins = address == found.scalar.address
    has_place = any(axis in OVER_TEXT for axis in found[address].axes)
    way = "begins here" if begins else f"comes back from {_listed(readers(found, here))}"
    return (
        Piece("The gradient of ", False),
        Piece(of, True),
        *(
            (Piece(f" {way}: its size at ", False), word)
            if has_place
            else (Piece(f" {way}: its size", False),)
        ),
        Piece(" is ", False),
        Piece(f"{size:.3g}", True),
        Piece(".", False),
    )


def _is_later(found: Gradient, position: int) -> bool:
    """Whether a position is read only after the number has been computed."""
    axes = found[found.scalar.address].axes
    if "position" not in axes or not found.scalar.cells:
        return False
    return position > max(cell[axes.index("position")] for cell in found.scalar.cells)


def part_at(found: Gradient, address: str, position: int) -> np.ndarray:
    """The gradient of a tap at a position; all of it where the tap has no positions."""
    traced = found[address]
    along = OVER_TEXT if any(axis in OVER_TEXT for axis in traced.axes) else OVER_SOURCE
    places = {
        axis: min(position, size - 1)
        for axis, size in zip(traced.axes, traced.shape, strict=True)
        if axis in along
    }
    return traced.at(**places) if places else traced.array


def readers(found: Gradient, stage: Stage) -> tuple[str, ...]:
    """The titles of the stages that read what a stage makes, the nearest first."""
    return tuple(
        dict.fromkeys(
            other.title
            for other in found.trace.stages
            if any(result in other.operands for result in stage.results)
        )
    )


def _listed(titles: tuple[str, ...]) -> str:
    """Titles in a row: "new cell and output gate"."""
    names = [title[0].lower() + title[1:] for title in titles[:NAMED]]
    if len(titles) > NAMED:
        names.append(f"{len(titles) - NAMED} more")
    if not names:
        return "the number itself"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
