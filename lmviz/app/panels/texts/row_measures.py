"""How the measure lies over the rows: a dot is a text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.texts.many_text import grouped_by, groups_of, why_empty
from lmviz.app.panels.texts.recipes import rows_recipe
from lmviz.app.widgets.base.figures import count, number
from lmviz.circuits.by_row import band
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.parts import DotRow, Dots, Words

DOTS = Dots("row_dots", says="the measure of each text", share=1)
SENTENCE = Words("row_measures_sentence")


class RowMeasuresPanel(ShowingPanel):
    """Dots in as many rows as there are groups, with the mean of each and its band."""

    title = "The measure of each text"
    follows = ("many.changed", "many.chosen_changed", "library.model_changed")

    def look(self) -> Look:
        many = self.session.many
        empty = why_empty(self.session)
        if empty or many.values is None or many.given is None:
            return Look((SENTENCE, DOTS), instead=empty)
        given, values = many.given, many.values.values
        by = grouped_by(many)
        groups = groups_of(many, by)
        rows = []
        for place, (name, numbers) in enumerate(groups):
            of_group = values[numbers]
            low, high = band(of_group[:, None])
            ends = None if low is None or high is None else (float(low[0]), float(high[0]))
            rows.append(DotRow(f"{name}\n{count(len(numbers))} texts", of_group, numbers, place, ends))

        def readout(at: int) -> tuple[str, list[str]]:
            return number(float(values[at]), 2), [given[at].said]

        dots = replace(DOTS, rows=rows, ringed=many.chosen, readout=readout, clicked=many.choose)
        return Look(
            (replace(SENTENCE, text=self._sentence(by, groups, values)), dots),
            aside="mean and 95 % of texts drawn anew" if any(row.band for row in rows) else "mean",
            arrays={"measure": values},
            recipe=self._recipe(),
        )

    def _recipe(self) -> str:
        return rows_recipe(self.session.many)

    def _sentence(
        self, by: str, groups: list[tuple[str, list[int]]], values: np.ndarray
    ) -> tuple[Inked, ...] | str:
        if not groups:
            return ""
        known = values[np.isfinite(values)]
        if not by or len(groups) < 2:
            positive = int((known > 0).sum())
            return f"{count(positive)} of {count(len(known))} texts lie above zero."
        means = sorted(((float(values[numbers].mean()), name) for name, numbers in groups), reverse=True)
        (high, most), (low, least) = means[0], means[-1]
        return (
            Inked(f"Where {by} is “"),
            Inked(most, True),
            Inked("”, it is by "),
            Inked(number(high - low), True),
            Inked(f" more than where it is “{least}”."),
        )
