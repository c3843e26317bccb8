"""How a model looks, and the arithmetic of one of its cells."""

from __future__ import annotations

import numpy as np

from lmviz.base.figures import counted, number, plain, short
from lmviz.looks.look import Look
from lmviz.looks.parts import Table
from lmviz.models.arithmetic.arithmetic import Arithmetic
from lmviz.models.model import Model
from lmviz.showing.pieces import MOST, figures, numbers, texts


def look_of_model(model: Model) -> Look:
    """What it is, how large, and what can be seen in it."""
    settings = [
        (name.replace("_", " "), str(value)) for name, value in model.configuration.to_values().items()
    ]
    said = [
        ("parameters", short(model.parameter_count())),
        ("predicts", model.predicts.describe()),
        ("vocabulary", counted(model.vocabulary_size, "token")),
        ("context", "no limit" if model.context is None else counted(model.context, "token")),
        ("taps", counted(sum(1 for _ in model.taps()), "tap") + ": model.taps() lists them"),
        *settings[:8],
    ]
    aside = model.family + (f", step {model.step:,}" if model.step else "")
    return Look((figures(said),), title=f"Model {model.name or 'without a name'}", aside=aside)


def look_of_arithmetic(found: Arithmetic) -> Look:
    """The terms that the cell is made of, the largest first."""
    rows = []
    for terms in found.terms:
        sources = " · ".join(factor.source for factor in terms.factors)
        for at, product in enumerate(terms.products):
            places = [tuple(map(int, factor.indices[at])) for factor in terms.factors]
            rows.append((terms.label, sources, " · ".join(map(_place, places)), float(product)))
    rows.sort(key=lambda row: -abs(row[3]) if np.isfinite(row[3]) else 0.0)
    kept = rows[:MOST]
    return Look(
        (
            Table(
                "terms",
                columns=[
                    texts("group", (row[0] for row in kept)),
                    texts("from", (row[1] for row in kept), tokens=True),
                    texts("at", (row[2] for row in kept)),
                    numbers("product", (row[3] for row in kept), lambda value: number(value, 4), bar=True),
                ],
            ),
        ),
        title=f"{found.address}{list(map(int, found.index))} = {plain(found.value, 5)}",
        aside=f"{found.operation}, {counted(len(rows), 'term')}",
    )


def _place(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


LOOKS = {
    Model: look_of_model,
    Arithmetic: look_of_arithmetic,
}
"""How each kind of result looks, by its class."""
