"""The measure of every row of a set, and what the model would say there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

import numpy as np

from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.set_questions import asking_rows
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.scalar import AnyOf
from lmviz.models.model import Model
from lmviz.text.text_set import TextSet

LIKELIEST = 5


@dataclass(frozen=True, eq=False)
class RowValues:
    """The measure of each row, (row,) float64, NaN where it is not known yet or cannot be.

    `done` rows were tried. `contrasts` are those of the rows that can be asked, by number, and `troubles`
    says of the others why not. `likeliest` has the likeliest words after each row with their probabilities.
    `seconds` is how long one row takes, `measure` what is measured, in one line where all rows have the same.
    """

    values: np.ndarray
    done: int = 0
    contrasts: dict[int, Contrast] = field(default_factory=dict)
    troubles: dict[int, str] = field(default_factory=dict)
    likeliest: dict[int, tuple[tuple[str, float], ...]] = field(default_factory=dict)
    seconds: float = 0.0
    measure: str = ""

    @property
    def asked(self) -> tuple[int, ...]:
        """The numbers of the rows with a measure."""
        return tuple(self.contrasts)


def measuring_rows(
    model: Model, given: TextSet, measure: AnyOf | None = None, interventions: Sequence[Intervention] = ()
) -> Iterator[RowValues]:
    """The values after each row; the last has all. LmvizError where no row can be asked."""
    values = np.full(len(given), np.nan)
    contrasts: dict[int, Contrast] = {}
    troubles: dict[int, str] = {}
    likeliest: dict[int, tuple[tuple[str, float], ...]] = {}
    names: set[str] = set()
    begun = monotonic()
    for row in asking_rows(model, given, measure, interventions):
        number = row.number
        values[number] = row.value
        if row.question is None or row.read is None:
            troubles[number] = row.trouble
        else:
            contrasts[number] = row.contrast
            likeliest[number] = _likeliest(row.question.model, row.read)
            names.add(row.question.scalar.name.partition("@")[0].partition(":")[0])
        kind = names.copy().pop() if len(names) == 1 else "measure"
        seconds = (monotonic() - begun) / (number + 1)
        yield RowValues(
            values.copy(), number + 1, contrasts.copy(), troubles.copy(), likeliest.copy(), seconds, kind
        )


def _likeliest(model: Model, read: CachedPass) -> tuple[tuple[str, float], ...]:
    """The likeliest words or labels at the end."""
    shares = read.values["probabilities"][0].reshape(-1, model.outputs)[-1].cpu().double().numpy()
    names = model.predicts.names
    if model.predicts.continues:
        names = () if model.tokenizer is None else tuple(model.tokenizer.tokens())
    order = np.argsort(-shares, kind="stable")[:LIKELIEST]
    return tuple((names[at] if names else str(at), float(shares[at])) for at in order)
