"""The loss by what a token is, by where it stands, and by how often it was learned from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.texts.recipes import map_recipe
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.looks.columns import Column
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Curves, Picker, Table, Words

if TYPE_CHECKING:
    from lmviz.training.loss_map import Division, LossMap

PICKER = Picker("loss_division_picker", says="by what the tokens are divided")
TOGETHER = 5
METHODS = {
    "kind": "by_kind()",
    "position": f"by_position({TOGETHER})",
    "frequency": "by_frequency()",
    "label": "by_label()",
}
SENTENCE = Words("loss_cuts_sentence")
CURVES = Curves(
    "loss_cuts_curves", says="loss over the position", x_name="tokens read before", y_name="nats", share=1
)
TABLE = Table("loss_cuts_table", says="loss of each kind of token", share=1)
FIRST = "Measure the losses in “Loss map” first."


class LossCutsPanel(ShowingPanel):
    """A table of kinds or frequencies, or curves over the position, for one model or two."""

    title = "What the loss is made of"
    follows = ("many.losses.changed",)

    _by = "kind"

    def look(self) -> Look:
        losses = self.session.many.losses
        found, other = losses.map, losses.other
        offered = ("kind", "position", "frequency") if found is None else found.divisions
        by = self._by if self._by in offered else offered[0]
        head = (
            replace(
                PICKER,
                choices=list(offered),
                chosen=offered.index(by),
                chose=lambda place: self._choose(offered[place]),
            ),
        )
        if found is None or (losses.shows_difference and other is None):
            return Look((SENTENCE, TABLE, CURVES), head=head, instead=FIRST)
        names = ["A", "B"] if other is not None else ["loss"]
        maps = [found] if other is None else [found, found.beside(other)]
        divisions = [_divided(each, by) for each in maps]
        part = self._curves(divisions, names) if by == "position" else self._table(divisions, names)
        said = self._sentence(divisions, "labels" if found.is_of_labels else "tokens")
        return Look(
            (replace(SENTENCE, text=said), part),
            aside=f"{count(found.judged)} {'labels' if found.is_of_labels else 'tokens'}",
            head=head,
            arrays={name: one.means for name, one in zip(names, divisions, strict=True)},
            units=dict.fromkeys(names, "nats"),
            names=Names(divisions[0].names),
            recipe=map_recipe(self.session, f"values = found.{METHODS[by]}.means"),
        )

    def _choose(self, by: str) -> None:
        self._by = by
        self.refresh_soon()

    def _curves(self, divisions: list[Division], names: list[str]) -> Curves:
        x = np.arange(len(divisions[0].names)) * TOGETHER
        curves = [
            PlotCurve(name, x, one.means, place)
            for place, (name, one) in enumerate(zip(names, divisions, strict=True))
        ]
        return replace(CURVES, curves=curves)

    def _table(self, divisions: list[Division], names: list[str]) -> Table:
        first = divisions[0]
        there = np.flatnonzero(first.tokens)
        total = first.tokens.sum()
        columns = [
            Column(first.by, [first.names[at] for at in there]),
            Column("of all", first.tokens[there] / total, percentage),
            *(
                Column(name, one.means[there], number, bar=True)
                for name, one in zip(names, divisions, strict=True)
            ),
        ]
        if len(divisions) > 1:
            columns.append(Column("of the gap", self._of_gap(divisions)[there], percentage))
        else:
            columns.append(Column("of the loss", first.shares[there], percentage))
        return replace(TABLE, columns=columns)

    def _of_gap(self, divisions: list[Division]) -> np.ndarray:
        one, two = (np.nan_to_num(each.means) * each.tokens for each in divisions)
        gap = two - one
        return np.asarray(gap / gap.sum()) if gap.sum() else np.zeros(len(gap))

    def _sentence(self, divisions: list[Division], what: str) -> str:
        first = divisions[0]
        if first.by == "position":
            there = np.isfinite([one.means for one in divisions]).all(axis=0)
            means = [one.means[there] for one in divisions]
            if len(divisions) > 1:
                gaps = means[1] - means[0]
                size = max(1, len(gaps) // 4)
                return (
                    f"Apart by {number(float(gaps[:size].mean()))} nats in the first quarter of positions, "
                    f"by {number(float(gaps[-size:].mean()))} in the last."
                )
            return (
                f"From {number(float(means[0][0]))} nats at the beginning to {number(float(means[0][-1]))}."
            )
        shares = self._of_gap(divisions) if len(divisions) > 1 else first.shares
        at = int(np.nanargmax(shares))
        of = "gap" if len(divisions) > 1 else "loss"
        tokens = percentage(float(first.tokens[at] / first.tokens.sum()))
        name = first.names[at]
        if first.by.startswith("frequency"):
            name = f"tokens learned from {name} times"
        return f"{percentage(float(shares[at]))} of the {of} is {name}, {tokens} of the {what}."


def _divided(found: LossMap, by: str) -> Division:
    ways = {"kind": found.by_kind, "frequency": found.by_frequency, "label": found.by_label}
    return found.by_position(TOGETHER) if by == "position" else ways[by]()
