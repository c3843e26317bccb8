"""A feature turned up and down, and what becomes of the next word: a slider that leads into surgery."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.features.asked_features import FOLLOWS, AskedFeature, asked_feature
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.keep_direction import KEEP, keep_scaled
from lmviz.app.session.features import why_no_features
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import count, number, percentage, whole_percentage
from lmviz.inspection.recipes.recipe import recipe_of
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Bars, Button, Curves, SliderLine, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.features.written_words import TurnedFeature, WrittenWords
    from lmviz.models.model import Model

NO_PREFIX = "Type a text to see what its next word becomes as this feature is turned."
MOST, STEP = 3.0, 0.25
FACTORS = tuple(np.arange(0.0, MOST + STEP / 2, STEP).tolist())
WORDS = 5
LITTLE = 0.01
"""A smaller change of what words have together is little."""
SENTENCE = Words("feature_turn_sentence")
PLOT = Curves(
    "feature_turn_plot",
    says="what the words it raises have together, by the strength of the feature",
    x_name="strength",
    y_name="probability",
    possible=((0.0, MOST), (0.0, 1.0)),
    writes=(None, whole_percentage),
    share=3,
)
SLIDER = SliderLine("feature_slider", says="strength of the feature", title="strength", count=len(FACTORS))
BARS = Bars("feature_turn_words", says="what is expected next", share=2)
OFF = Button("feature_off_button", text="switch off", role="link", tip="Put into surgery: its error stays.")
APPLY = Button(
    "feature_apply_button", text="add", role="link", tip="Put it into surgery, as strong as the slider says."
)
HOLD = Button(
    "feature_hold_button", text="hold", role="link", tip="Set it to its largest activation at every token."
)


@dataclass(frozen=True, eq=False)
class TurnedWords:
    """What a feature writes, and the next word as it is turned."""

    written: WrittenWords
    turned: TurnedFeature


class FeatureTurnPanel(AskingPanel[Reading, TurnedWords]):
    """Curves of the words it raises and of those that take their place; buttons put it into surgery."""

    title = "Turn it"
    draws = ("reading",)
    key = Key("a feature turned")
    follows = (*FOLLOWS, "reading.changed", "text.changed", "surgery.changed")
    parts = (SENTENCE, PLOT, SLIDER, BARS)

    _place = 0

    def out_of_place(self, model: OpenedModel) -> str:
        return why_no_features(model)

    def question(self) -> Question[Reading, TurnedWords] | Look:
        asked, reading = asked_feature(self.session), self.session.reading.current
        if isinstance(asked, str):
            return Look(self.parts, instead=asked)
        if reading is None:
            return Look(self.parts, instead=NO_PREFIX)
        feature, over, dictionary = asked.number, asked.reading, asked.opened.dictionary
        ids = reading.trace.ids if reading.baseline is None else reading.baseline.ids
        known = self.found.written if self._is_of(asked) and self.found is not None else None

        def work(model: Model) -> TurnedWords:
            from lmviz.features.written_words import turned_feature, written_words

            written = known or written_words(model, over, feature)
            return TurnedWords(written, turned_feature(model, dictionary, feature, ids, FACTORS))

        return Question(self.key, reading, work, about=asked.key)

    def look(self, reading: Reading, found: TurnedWords) -> Look:
        asked = asked_feature(self.session)
        if isinstance(asked, str):
            return Look(self.parts, instead=asked)
        turned, written = found.turned, found.written
        group = written.group_ids
        others = turned.replaced_by(group, max(written.group, 4))
        own, place = FACTORS.index(1.0), self._place
        curves = [
            PlotCurve(_raised(written), turned.factors, turned.share(group), "accent", dots=True),
            PlotCurve("what takes its place", turned.factors, turned.share(others), "validation", dots=True),
        ]
        shown = np.argsort(-np.maximum(turned.probabilities[place], turned.probabilities[own]))[:WORDS]
        bars = replace(
            BARS,
            labels=[visible(written.names[at]) for at in shown],
            values=turned.probabilities[place][shown],
            texts=[percentage(float(share)) for share in turned.probabilities[place][shown]],
            notes=[f"{percentage(float(share))} as it is" for share in turned.probabilities[own][shown]],
            limit=1.0,
        )
        plot = replace(
            PLOT,
            curves=curves,
            marks=[(1.0, "as it is")],
            cursor=float(turned.factors[place]),
            moved=lambda factor: self._move(int(np.argmin(np.abs(turned.factors - factor)))),
        )
        slider = replace(SLIDER, place=place, written=f"× {number(FACTORS[place], 2)}", moved=self._move)
        session = self.session
        head = (
            replace(OFF, clicked=lambda: session.features.change(asked.number, to=0.0)),
            replace(APPLY, clicked=lambda: session.features.change(asked.number, times=FACTORS[self._place])),
            replace(
                HOLD,
                clicked=lambda: session.features.change(
                    asked.number, to=round(asked.reading[asked.number].largest, 3)
                ),
            ),
            replace(KEEP, name="keep_feature_direction", text="keep", clicked=lambda: self._keep(asked)),
        )
        return Look(
            (self._sentence(found, group, others), plot, slider, bars),
            title=f"Turn {asked.number}",
            head=head,
            arrays={
                "probabilities": turned.probabilities,
                "raised": turned.share(group),
                "in_their_place": turned.share(others),
            },
            names=Names([f"× {factor:g}" for factor in turned.factors], written.names),
            recipe=recipe_of(
                reading.moment,
                *asked.recipe,
                f"turned = lmviz.turn_feature(model, dictionary, {asked.number}, {reading.trace.text!r}, "
                f"{list(FACTORS)!r})",
                "values = turned.probabilities",
            ),
        )

    def _sentence(self, found: TurnedWords, group: np.ndarray, others: np.ndarray) -> Words:
        turned, own = found.turned, FACTORS.index(1.0)
        if not turned.is_on:
            return replace(
                SENTENCE, text="It is not on in the typed text, so nothing changes as it is turned."
            )
        shares = turned.share(group)
        names = ", ".join(visible(found.written.names[at]) for at in others[:3])
        what, before, after = _raised(found.written), float(shares[own]), float(shares[0])
        if abs(before - after) < LITTLE:
            said = (
                f"Removed, {what} keep {percentage(after)} of {percentage(before)}: little hangs on it here."
            )
        else:
            said = (
                f"Removed, {what} go from {percentage(before)} to {percentage(after)}, and {names} take "
                "their place."
            )
        return replace(SENTENCE, text=said)

    def _keep(self, asked: AskedFeature) -> None:
        direction = asked.opened.dictionary.direction(asked.number)
        name = asked.opened.name_of(asked.number)
        keep_scaled(self.session, replace(direction, name=name))

    def _is_of(self, asked: AskedFeature) -> bool:
        return self.asked is not None and self.asked.about == asked.key

    def _move(self, place: int) -> None:
        if place != self._place:
            self._place = place
            self.refresh_soon()


def _raised(written: WrittenWords) -> str:
    """The words that rise together, as a few words."""
    return (
        f"the {count(written.group)} it raises" if written.group > 1 else f"“{visible(written.top(1)[0][0])}”"
    )
