"""A model between A and B, or beyond them: what it expects, what it writes, and its loss by the strength."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.difference.pair_panel import PairPanel, why_not
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.pair import Two
from lmviz.app.widgets.base.figures import number, percentage
from lmviz.differences.recipes import strength_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Bars, Curves, SideBySide, SliderLine, Stacked, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.differences.between import StrengthCurve
    from lmviz.differences.between_text import BetweenText
    from lmviz.differences.growing import GrowingAnswer
    from lmviz.differences.pair import ModelPair

LEAST, MOST, STEP = -0.5, 1.5, 0.05
PLACES = round((MOST - LEAST) / STEP) + 1
WORDS, TOKENS, JUDGED = 10, 24, 1024
"""So many next words are shown, so many tokens written, and about so many judged for the curve."""

SLIDER = SliderLine(
    "strength_slider", says="strength of the change, from A at 0 to B at 1", title="W + t · ΔW", count=PLACES
)
SAMPLE = Words("strength_sample", says="what the model between them writes", given=True)
BARS = Bars("strength_words", says="what it expects next", share=1)
PLOT = Curves(
    "strength_plot",
    says="loss by the strength of the change",
    x_name="strength t",
    y_name="nats per token",
    possible=((LEAST, MOST), (0.0, np.inf)),
    share=1,
)


class StrengthPanel(PairPanel["BetweenText | str"]):
    """A slider, the next words and a sample at its place, and the loss on a text as a curve."""

    title = "Strength of the change"
    shows = "what half of the change would do"
    key = Key("strength")
    curve_key = Key("strength curve")
    follows = (*PairPanel.follows, "text.changed")
    parts = (SLIDER, SAMPLE, BARS, replace(PLOT, shown=False))

    _place = round((1.0 - LEAST) / STEP)
    _curve: GrowingAnswer[StrengthCurve] | None = None
    _curve_asked: Question[Two, Any] | None = None  # what that answers

    @property
    def strength(self) -> float:
        """Where the slider stands."""
        return round(LEAST + STEP * self._place, 2)

    def question(self) -> Question[Two, BetweenText | str] | Look:
        if self.obstacle is not None:
            self._curve_asked = self._curve = None  # it would go on with the models that it has
            return self.obstacle
        text, strength = self.text, self.strength
        if not text:
            return Look(self.parts, instead=self.no_text)

        def work(pair: ModelPair) -> BetweenText | str:
            from lmviz.differences.between_text import between_text

            return pair.why_not_alike or between_text(pair, strength, text, TOKENS)

        return self.asked_of(work, (text, strength))

    def look(self, two: Two, found: BetweenText | str) -> Look:
        if isinstance(found, str):
            return Look(self.parts, instead=why_not(two, found))
        self._ask_curve()
        rows = found.distribution.top(WORDS)
        said = "A" if found.strength == 0 else "B" if found.strength == 1 else ""
        slider = replace(
            SLIDER,
            place=self._place,
            written=f"t = {number(self.strength, 2)}" + (f", which is {said}" if said else ""),
            moved=self._move,
        )
        bars = replace(
            BARS,
            labels=[visible(row.token) for row in rows],
            values=[row.probability for row in rows],
            texts=[percentage(row.probability) for row in rows],
            limit=1.0,
        )
        left = Stacked(parts=(replace(SAMPLE, text=f"…{found.sample}"), bars), share=1)
        curve = self._drawn_curve()
        arrays = {"probabilities": found.distribution.probabilities}
        if self._curve is not None:
            arrays["loss"] = self._curve.found.array
        return Look(
            (slider, SideBySide(first=left, second=curve, shares=(1, 1), share=1)),
            aside="0 is A, 1 is B",
            arrays=arrays,
            names=Names(found.distribution.tokens),
            recipe=strength_recipe(two[0].reads(self.text), two[1].reads(self.text), found.strength),
        )

    def _move(self, place: int) -> None:
        if place != self._place:
            self._place = place
            self.refresh_soon()

    def _go_to(self, strength: float) -> None:
        self._move(min(PLACES - 1, max(0, round((strength - LEAST) / STEP))))

    def _ask_curve(self) -> None:
        """The loss by the strength on the held-out text, where one is open; otherwise on what is typed."""
        corpus = self.session.text.corpus
        held_out = corpus.validation_documents if corpus is not None and corpus.task == "next-token" else ()
        text = self.text

        def work(pair: ModelPair) -> GrowingAnswer[StrengthCurve]:
            from lmviz.differences.between import strength_curve
            from lmviz.differences.documents import first_stretches, judged_text
            from lmviz.differences.growing import growing

            start = judged_text(pair.before, text).start
            stretches = first_stretches(pair, held_out or [text], JUDGED)
            return growing(strength_curve(pair, stretches, start))

        about = (self.session.text.fingerprint, None if held_out else text)
        asked = self.asked_of(work, about, self.curve_key)
        if not isinstance(asked, Question):
            return
        if asked != self._curve_asked:
            self._curve_asked, self._curve = asked.without_work, None
            self.ask(replace(asked, grows=True), lambda found: self._take_curve(asked, found))
            return
        is_busy = self.session.work.is_busy(self.curve_key)
        if self._curve is not None and not self._curve.is_done and not is_busy:
            further = Question(self.curve_key, self._curve, _go_on, grows=True)
            self.ask(further, lambda found: self._take_curve(asked, found))

    def _take_curve(self, asked: Question[Two, Any], growing: GrowingAnswer[StrengthCurve]) -> None:
        if asked == self._curve_asked:
            self._curve = growing
            self.refresh_soon()

    def handle_failure(self, key: str) -> None:
        if key == self.curve_key:
            self._curve_asked = self._curve = None
        super().handle_failure(key)

    def _drawn_curve(self) -> Curves:
        if self._curve is None:
            return PLOT
        curve = self._curve.found
        named = PlotCurve(
            f"loss on {curve.tokens:,} tokens", curve.strengths, curve.array, "accent", dots=True
        )
        marks = [(0.0, "A"), (1.0, "B")]
        return replace(PLOT, curves=[named], marks=marks, cursor=self.strength, moved=self._go_to)


def _go_on(growing: GrowingAnswer[StrengthCurve]) -> GrowingAnswer[StrengthCurve]:
    return growing.more()
