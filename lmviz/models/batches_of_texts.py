"""Which of many texts a model may read at once, and the padded batch that they make.

What stands behind a text changes nothing in it where each position reads only what stands up to it; then
texts of any length go together. Any other model gets texts of one length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from lmviz.models.model import Model
from lmviz.models.sequences import TEXT

POSITIONS = 2**12
"""A batch has so many positions at most, padding included, unless one text has more."""

ANSWERS = 2**24
"""And so many logits, and so many numbers of one square of attention: 64 MB each in float32."""

FILLING = 0.25
"""At most this share of a batch's positions is padding, unless its texts are few."""

FEW = 8


def batches_of_texts(
    model: Model,
    lengths: Sequence[Mapping[str, int]],
    *,
    same_length: bool = False,
    answers: int = 0,
    squares: int = 0,
) -> Iterator[list[int]]:
    """The numbers of texts that are read together, batch after batch; each text is in one of them.

    `lengths` are those of each text's sequences by name. With `same_length` no text is padded. `answers` is
    the number of logits at a position, `squares` that of squares of attention, where these are computed.
    """
    padded = model.causal and model.predicts.per != "text" and not same_length

    def key(number: int) -> tuple[int, ...]:
        beside = tuple(lengths[number][name] for name in model.inputs if name != TEXT)
        return (*beside, lengths[number][TEXT])

    def rows(longest: int) -> int:
        fits = POSITIONS // longest
        if answers:
            fits = min(fits, ANSWERS // (longest * answers))
        if squares:
            fits = min(fits, ANSWERS // (squares * longest**2))
        return max(1, fits)

    group: list[int] = []
    for number in sorted(range(len(lengths)), key=key):
        if group:
            first, longest = lengths[group[0]][TEXT], lengths[number][TEXT]
            alike = key(group[0])[:-1] == key(number)[:-1]
            if longest != first:
                filled = sum(lengths[one][TEXT] for one in group) + longest
                alike = alike and padded and model.reads_alike(first, longest)
                enough = filled >= (1 - FILLING) * longest * (len(group) + 1)
                alike = alike and (enough or len(group) < FEW)
            if not alike or len(group) >= rows(longest):
                yield group
                group = []
        group.append(number)
    if group:
        yield group


def side_by_side(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of ids (position,) as one array (row, position), int64, filled up with 0 behind."""
    filled = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for row, ids in enumerate(rows):
        filled[row, : len(ids)] = ids
    return filled


def in_batches(
    count: int, batches: Iterator[list[int]], told: Callable[[float], None]
) -> Iterator[list[int]]:
    """The batches, with the share of the texts that is done told before each."""
    done = 0
    for batch in batches:
        told(done / count)
        yield batch
        done += len(batch)
