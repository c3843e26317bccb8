"""Which of many texts are asked in one batch, each with one part of the model changed at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lmviz.circuits.cached_pass import CachedPass
from lmviz.inspection.deferred_array import heads_of
from lmviz.inspection.names import POSITIONAL
from lmviz.inspection.recording import PreparedReading
from lmviz.models.batches_of_texts import batches_of_texts
from lmviz.models.model import Model
from lmviz.models.sequences import TEXT

AT_ONCE = 1024
"""So many tokens are computed at once, in as many rows as that makes."""

KEPT_BYTES = 2**28
"""The values that are kept of the texts of a batch take so much at most, unless one text alone takes more."""


def texts_together(
    model: Model,
    asked: Sequence[tuple[PreparedReading, int]],
    kept: CachedPass,
    cells: int,
    *,
    same_length: bool = False,
) -> Iterator[list[int]]:
    """The numbers of the texts that are read together, batch after batch; each text is in one of them.

    `asked` are the readings, and how many tokens of each are read. `kept` is a pass over one of them, which
    says how much memory a token takes, and `cells` how many parts are changed in each text: as many texts go
    together as it takes to have `AT_ONCE` tokens in the batches. A model that counts, and interventions that
    are functions, get one text at a time.
    """
    interventions = kept.interventions
    if next(model.parameters(), None) is None or any(callable(one.value) for one in interventions):
        yield from ([number] for number in range(len(asked)))
        return
    a_token = sum(value.nbytes for value in kept.values.values()) / sum(kept.lengths)
    lengths = [
        reading.lengths | ({TEXT: min(span, len(reading.ids))} if model.causal else {})
        for reading, span in asked
    ]
    groups = batches_of_texts(
        model,
        lengths,
        same_length=same_length or any(POSITIONAL & set(one.where) for one in interventions),
        answers=model.outputs,
        squares=heads_of(model.taps(), model.configuration),
    )
    for group in groups:
        longest = max(lengths[number][TEXT] for number in group)
        fills = -(-AT_ONCE // max(1, cells * longest))
        fits = int(KEPT_BYTES / (a_token * longest))
        size = max(1, min(fills, fits))
        for first in range(0, len(group), size):
            yield group[first : first + size]


def read_together(model: Model, asked: Sequence[tuple[PreparedReading, int]]) -> CachedPass:
    """One pass over some texts."""
    (reading, span), *further = asked
    return CachedPass(model, reading, span, further)
