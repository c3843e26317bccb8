"""By which lens states are read: the same choice in every panel that shows a lens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.app.session.opened_model import Moment
from lmviz.app.session.reading import Reading
from lmviz.inspection.recipes.recipe import arguments_of, lens_recipe, recipe_of, traced
from lmviz.inspection.stream import stream_places

if TYPE_CHECKING:
    from lmviz.app.session.session import Session
    from lmviz.readouts.fitted_lens import FittedLens

CHOICES = {"logit": "logit lens", "tuned": "tuned lens", "jacobian": "Jacobian lens"}
"""What is offered, by kind."""

FORMULAS = {
    "logit": "W norm(h): the state as if it were the last, nothing fitted",
    "tuned": "W norm(A (h − mean) + b): the map of least squares to the last state",
    "jacobian": "W norm(J (h − mean) + mean of the end): carried on by the average derivative of the end",
}

NO_TEXT = "open a text, on whose passages the {} can be fitted"


def can_choose(reading: Reading) -> bool:
    """Whether a lens can be fitted: to a language model of several layers."""
    several = len(stream_places(reading.trace.arrays, reading.trace.stages)) > 1
    return several and reading.trace.predicts.continues and not reading.model.reads_source


def choose_lens(session: Session, moment: Moment | None, kind: str) -> None:
    """Read states by a lens; where it is not known yet, have it fitted on the open text."""
    lenses = session.lenses
    lenses.choose(kind)
    if moment is not None and kind != "logit" and lenses.fitted(moment, kind) is None:
        lenses.fit(moment, kind)


def said_of(session: Session, reading: Reading) -> str:
    """What the chosen lens was fitted on; or why states are still read directly."""
    lenses, moment = session.lenses, (reading.model, reading.step)
    kind, lens = lenses.kind, lenses.chosen(moment)
    if kind == "logit":
        return ""
    if lens is not None:
        growing = " so far" if lenses.is_fitting(moment, kind) else ""
        return f"{CHOICES[kind]}, fitted on {lens.passages or 0:,} passages{growing}"
    if lenses.is_fitting(moment, kind):
        return f"the {CHOICES[kind]} is being fitted; read directly until then"
    if session.text.corpus is None:
        return NO_TEXT.format(CHOICES[kind])
    return f"the {CHOICES[kind]} is not fitted to this model: choose it again"


def chosen_recipe(
    session: Session, reading: Reading, lens: FittedLens | None, count: int, positions: list[int] | None
) -> str:
    """The lines that read states by a lens, bound to `lens`; empty for a lens that is not kept."""
    if lens is None:
        return lens_recipe(reading.moment, count, positions, after_layers=True)
    path = session.lenses.file((reading.model, reading.step), lens.kind)
    if path is None:
        return ""
    opened = f"fitted = lmviz.open_lens({str(path)!r}, model)"
    read = f"lens = fitted(trace, {arguments_of(count=count, positions=positions)})"
    return recipe_of(reading.moment, opened, *traced(reading.moment), read)
