"""Parts of B put into A: which of them carry the change of what is expected after the text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.difference.pair_panel import PairPanel, in_short, whole
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.pair import Two
from lmviz.app.widgets.base.figures import number
from lmviz.base.errors import LmvizError
from lmviz.differences.recipes import transplant_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Bars, Curves, Picker, SideBySide, Words

if TYPE_CHECKING:
    from lmviz.differences.growing import GrowingAnswer
    from lmviz.differences.pair import ModelPair
    from lmviz.differences.transplant import Transplant

EACH = {"part": "parts", "layer": "layers", "head": "heads", "matrix": "matrices"}
SENTENCE = Words("transplant_sentence")
ALONE = Bars("transplant_alone", says="the share of the change that each part carries alone", share=1)
TOGETHER = Curves(
    "transplant_together",
    says="the share of the change as parts are put in one after another",
    x_name="parts of B",
    y_name="share of the change",
    possible=((0.0, np.inf), (-np.inf, np.inf)),
    share=1,
)
MEASURES = ("next word", "loss")
MEASURE = Picker("transplant_measure_picker", says="whose change is asked about", choices=MEASURES)
PICKER = Picker("transplant_picker", says="by what the model is taken apart", choices=list(EACH.values()))
SHOWN = 24
"""So many parts have a bar, those that carry most."""


class TransplantPanel(PairPanel["GrowingAnswer[Transplant] | str"]):
    """A bar for each part alone, and curves of parts together, from below and from above."""

    title = "Which part carries it"
    shows = "which part of a model carries what changed"
    key = Key("transplant")
    parts = (SENTENCE, ALONE, TOGETHER)

    _each = "part"
    _is_loss = False

    def question(self) -> Question[Two, GrowingAnswer[Transplant] | str] | Look:
        if self.obstacle is not None:
            return self.obstacle
        text, each, is_loss = self.text, self._each, self._is_loss
        if not text:
            return Look(self.parts, head=self._pickers(), instead=self.no_text)

        def work(pair: ModelPair) -> GrowingAnswer[Transplant] | str:
            from lmviz.circuits.contrast import Contrast
            from lmviz.differences.growing import growing
            from lmviz.differences.transplant import transplanting

            try:
                asked = Contrast(text, measure="loss" if is_loss else "")
                return growing(transplanting(pair, asked, each))
            except LmvizError as sentence:
                return str(sentence)

        return self.asked_of(work, (text, each, is_loss))

    def goes_on(
        self, subject: Two, found: GrowingAnswer[Transplant] | str
    ) -> Question[GrowingAnswer[Transplant], GrowingAnswer[Transplant] | str] | None:
        return None if isinstance(found, str) or found.is_done else Question(self.key, found, _go_on)

    def look(self, two: Two, found: GrowingAnswer[Transplant] | str) -> Look:
        if isinstance(found, str):
            return Look(self.parts, head=self._pickers(), instead=found)
        moved, names = found.found, in_short(two)
        order = np.argsort(-np.abs(np.nan_to_num(moved.array)), kind="stable")[:SHOWN]
        rows = sorted(order.tolist()) if len(moved.parts) > SHOWN else list(range(len(moved.parts)))
        best = moved.most
        bars = replace(
            ALONE,
            labels=[self.of_units(moved.parts[row]) for row in rows],
            values=[max(0.0, float(np.nan_to_num(moved.array[row]))) for row in rows],
            texts=[_percent(float(moved.array[row])) for row in rows],
            highlighted=[rows.index(best)] if best in rows else (),
            limit=1.0,
        )
        sentence = replace(
            SENTENCE,
            text=(
                Inked(f"From {names[0]} to {names[1]}: {moved.said} "),
                Inked(f"{number(moved.before)} to {number(moved.after)}", True),
                Inked(". Alone, most comes with "),
                Inked(moved.parts[best], True, "accent"),
                Inked(f": {_percent(float(moved.array[best]))}."),
            ),
        )
        body = (
            bars
            if moved.from_below is None
            else SideBySide(first=bars, second=_curves(moved), shares=(1, 1), share=1)
        )
        arrays = {"alone": moved.array}
        if moved.from_below is not None and moved.from_above is not None:
            arrays |= {"from below": moved.from_below, "from above": moved.from_above}
        return Look(
            (sentence, body),
            aside_tip="A part of B is put into A. 0 % leaves A's number, 100 % gives B's; with all parts it "
            "is exactly that. From below: the first parts of the computation are B's; from above: the last.",
            head=self._pickers(),
            arrays=arrays,
            names=Names(moved.parts),
            recipe=transplant_recipe(
                two[0].reads(self.text), two[1].reads(self.text), moved.each, is_loss=moved.measure == "loss"
            ),
        )

    def _pickers(self) -> tuple[Picker, ...]:
        known = list(EACH)
        return (
            replace(MEASURE, chosen=int(self._is_loss), chose=self._choose_measure),
            replace(PICKER, chosen=known.index(self._each), chose=lambda at: self._choose(known[at])),
        )

    def _choose_measure(self, place: int) -> None:
        self._is_loss = bool(place)
        self.refresh()

    def _choose(self, each: str) -> None:
        self._each = each
        self.refresh()


def _go_on(growing: GrowingAnswer[Transplant]) -> GrowingAnswer[Transplant] | str:
    return growing.more()


def _curves(moved: Transplant) -> Curves:
    assert moved.from_below is not None
    assert moved.from_above is not None
    below = np.concatenate([[0.0], moved.from_below])
    above = np.concatenate([moved.from_above, [0.0]])[::-1]
    places = np.arange(len(below))
    return replace(
        TOGETHER,
        curves=[
            PlotCurve("from below", places, below, "accent"),
            PlotCurve("from above", places, above, "validation", dashed=True),
        ],
        references=(("all of it", 1.0),),
    )


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else whole(share)
