"""Passages of texts that something is fitted on, and others that are held out from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.model import Model
from lmviz.models.prefix import read_prefix

LENGTH, COUNT, HELD_OUT = 64, 50, 8

SKIPPED = 16
"""Positions at the beginning of a passage that are left out: states there are unlike all others."""

CHARACTERS = 12
"""A token has fewer in nearly all texts: so many are read for each token of a passage."""

SHORTEST = 4
"""Tokens; a shorter passage has no position between the skipped ones and the last."""


@dataclass(frozen=True, eq=False)
class Passages:
    """Rows of ids, (token,) each: those to fit on, and those to judge by. No text is in both."""

    fitted: tuple[np.ndarray, ...]
    held_out: tuple[np.ndarray, ...]
    skipped: int = SKIPPED

    def judged(self, ids: np.ndarray) -> slice:
        """The positions of a passage that count: none of the first, a quarter at most, and not the last."""
        return slice(min(self.skipped, len(ids) // 4), len(ids) - 1)


def read_passages(
    model: Model,
    texts: Sequence[str],
    *,
    count: int = COUNT,
    held_out: int = HELD_OUT,
    length: int = LENGTH,
    seed: int = 0,
) -> Passages:
    """Passages of at most `length` tokens out of texts, drawn by a seed.

    Of each text its beginning is taken where there are enough; otherwise long texts are cut. LmvizError where
    there are not enough tokens for two passages.
    """
    length = length if model.context is None else min(length, model.context)
    wanted = count + held_out
    pieces = _pieces(texts, wanted, length * CHARACTERS)
    drawn = np.random.default_rng(seed).permutation(len(pieces))
    found: list[np.ndarray] = []
    for number in map(int, drawn):
        text, first, last = pieces[number]
        piece = texts[text][first:last]
        if not piece.strip():
            continue
        ids = read_prefix(model, piece).ids
        start = None if model.tokenizer is None else model.tokenizer.start_id
        if first and len(ids) and ids[0] == start:  # it goes on in the middle of its text
            ids = ids[1:]
        if len(ids) >= SHORTEST:
            found.append(np.asarray(ids[:length]))
        if len(found) == wanted:
            break
    if len(found) < 2:
        raise LmvizError(
            f"There is too little text to fit on: give two passages of at least {SHORTEST} tokens, better "
            f"{COUNT} of {LENGTH}."
        )
    judged = held_out if len(found) == wanted else max(1, min(held_out, len(found) // 4))
    return Passages(tuple(found[:-judged]), tuple(found[-judged:]))


def _pieces(texts: Sequence[str], wanted: int, size: int) -> list[tuple[int, int, int]]:
    """Stretches (text, first character, last) that do not overlap: `wanted` of them, if there are."""
    if len(texts) >= wanted:
        return [(number, 0, size) for number in range(len(texts))]
    return stretches(texts, size)


def stretches(texts: Sequence[str], size: int) -> list[tuple[int, int, int]]:
    """Stretches (text, first character, last) that cover all texts and are cut at spaces."""
    pieces = []
    for number, text in enumerate(texts):
        first = 0
        while first < len(text):
            end = first + size
            gap = text.find(" ", end) if end < len(text) else len(text)
            last = min(gap if gap >= 0 else len(text), end + size)
            pieces.append((number, first, last))
            first = last
    return pieces
