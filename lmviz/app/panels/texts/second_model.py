"""A second model beside the shown one: each text by the measure of both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.texts.many_text import why_empty
from lmviz.app.panels.texts.recipes import second_recipe
from lmviz.app.widgets.base.figures import count, number
from lmviz.looks.look import Look
from lmviz.looks.parts import Points, Words

SENTENCE = Words("second_model_sentence")
CLOUD = Points("second_model_points", says="each text by the measure of both models", share=2)
FURTHEST = Words("second_model_rows", says="the texts on which they disagree most", given=True)
NO_SECOND = (
    "Choose a second model in Compare, or in the list beside the shown one, to see both on these texts."
)
SHOWN = 2


class SecondModelPanel(ShowingPanel):
    """A scatter of two models, and the rows where they disagree most."""

    title = "A second model"
    follows = ("many.changed", "many.chosen_changed", "comparison.changed")

    def look(self) -> Look:
        many = self.session.many
        empty = why_empty(self.session)
        parts = (SENTENCE, FURTHEST, CLOUD)
        if empty or many.values is None or many.given is None or many.moment is None:
            return Look(parts, instead=empty)
        if many.second is None:
            return Look(parts, instead=NO_SECOND)
        other = many.second_values
        if other is None:
            return Look(parts, instead=f"{many.second[0].name} is being asked.")
        given, one, two = many.given, many.values.values, other.values
        both = np.flatnonzero(np.isfinite(one) & np.isfinite(two))
        moments = (many.moment, many.second)
        names = [model.name for model, _ in moments]
        if many.moment[0] == many.second[0]:
            names = [f"{model.name} at step {step:,}" for model, step in moments]
        if not len(both):
            return Look(parts, instead=f"No text can be asked of both {names[0]} and {names[1]}.")
        order = both[np.argsort(-np.abs(_standard(one[both]) - _standard(two[both])), kind="stable")][:SHOWN]
        rows = [int(at) for at in order]
        furthest = "\n".join(
            f"{given[at].said}: A {number(float(one[at]), 2)}, B {number(float(two[at]), 2)}" for at in rows
        )
        table = replace(FURTHEST, text=f"Furthest apart: {furthest}")

        def readout(at: int) -> tuple[str, list[str]]:
            return given[at].said, [f"A {number(float(one[at]), 2)}, B {number(float(two[at]), 2)}"]

        cloud = replace(
            CLOUD,
            x=one,
            y=two,
            x_name=f"A: {names[0]}",
            y_name=f"B: {names[1]}",
            ringed=many.chosen,
            readout=readout,
            clicked=many.choose,
        )
        right = int((two[both] > 0).sum())
        said = f"B is above zero in {count(right)} of {count(len(both))}"
        if len(both) > 2 and one[both].std() > 0 and two[both].std() > 0:
            said += f"; r = {np.corrcoef(one[both], two[both])[0, 1]:.2f}"
        return Look(
            (replace(SENTENCE, text=f"{said}."), table, cloud),
            arrays={"A": one, "B": two},
            recipe=self._recipe(),
        )

    def _recipe(self) -> str:
        return second_recipe(self.session.many)


def _standard(values: np.ndarray) -> np.ndarray:
    return values - values.mean()
