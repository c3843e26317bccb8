"""One feature: where it is strongest, places from the middle of its range, in the typed text, how often."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.features.asked_features import FOLLOWS, AskedFeature, asked_feature, named
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.features import why_no_features
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.inspection.recipes.recipe import recipe_of, traced
from lmviz.looks.curve import PlotCurve
from lmviz.looks.firing import FiringLine
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Curves, Firings, Matrix, Picker, SideBySide, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.features.feature_reading import FeaturePlace
    from lmviz.models.model import Model

NO_PREFIX = "Type a text to see where this feature is on in it."
WHICH = ("strongest", "middle of its range")
LINES = 9
SENTENCE = Words("feature_sentence")
PICKER = Picker("feature_places_picker", says="which places are shown", choices=WHICH)
LINES_PART = Firings("feature_passages", says="places at which the feature fires", share=5)
STRIP = Matrix(
    "feature_in_text", says="the feature over the typed text", scale="count", rows=("on",), share=1
)
HISTOGRAM = Curves(
    "feature_histogram",
    says="how often the feature fires how strongly",
    x_name="activation",
    y_name="times",
    possible=((0.0, np.inf), (0.0, np.inf)),
    share=2,
)


@dataclass(frozen=True, eq=False)
class FeaturePlaces:
    """Places of a feature with its activations over each text, and over the typed text (position,)."""

    places: tuple[FeaturePlace, ...]
    strengths: tuple[np.ndarray, ...]
    in_text: np.ndarray


class FeaturePanel(AskingPanel[Reading, FeaturePlaces]):
    """Lines of text below one another at the token where the feature fires; a click types the line."""

    title = "Feature"
    draws = ("reading",)
    key = Key("feature")
    follows = (*FOLLOWS, "reading.changed", "focus.position_changed", "text.changed")
    parts = (SENTENCE, LINES_PART, SideBySide(first=STRIP, second=HISTOGRAM, shares=(3, 2), share=2))

    _which = 0

    def out_of_place(self, model: OpenedModel) -> str:
        return why_no_features(model)

    def question(self) -> Question[Reading, FeaturePlaces] | Look:
        asked, reading = asked_feature(self.session), self.session.reading.current
        if isinstance(asked, str):
            return Look(self.parts, instead=asked)
        if reading is None or asked.opened.dictionary.tap not in reading.trace:
            return Look(self.parts, instead=NO_PREFIX)
        middle, dictionary, found = self._which == 1, asked.opened.dictionary, asked.reading[asked.number]
        feature, states = asked.number, reading.trace[asked.opened.dictionary.tap].array
        rows = asked.reading.rows

        def work(model: Model) -> FeaturePlaces:
            from lmviz.features.feature_pass import activations_of

            places = found.middle(LINES) if middle else found.strongest(LINES)
            strengths = activations_of(model, dictionary, [rows[place.text] for place in places], feature)
            return FeaturePlaces(places, tuple(strengths), dictionary.encode(states)[..., feature])

        return Question(self.key, reading, work, about=(*asked.key, middle))

    def look(self, reading: Reading, found: FeaturePlaces) -> Look:
        asked = asked_feature(self.session)
        if isinstance(asked, str):
            return Look(self.parts, instead=asked)
        feature = asked.reading[asked.number]
        counts, end = feature.histogram
        edges = np.linspace(0, end, len(counts) + 1)
        position = min(self.session.reading.position, len(found.in_text) - 1)
        here = float(found.in_text[position])
        strip = replace(
            STRIP,
            values=found.in_text[None],
            limit=max(feature.largest, 1e-9),
            columns=[visible(token) for token in reading.trace.tokens],
            column=position,
            readout=lambda _, at: (
                f"{reading.trace.tokens[at]}  {number(float(found.in_text[at]), 2)}",
                ["0 where it is not on"],
            ),
            clicked=lambda _, at: self.session.focus.choose_position(at),
        )
        histogram = replace(
            HISTOGRAM,
            curves=[PlotCurve("times", (edges[:-1] + edges[1:]) / 2, counts, "validation", dots=True)],
            marks=[(here, "here")] if here > 0 else [],
        )
        return Look(
            (
                self._sentence(asked),
                replace(
                    LINES_PART,
                    lines=self._lines(asked, found),
                    clicked=lambda at: self._type(asked, found, at),
                ),
                SideBySide(first=strip, second=histogram, shares=(3, 2), share=2),
            ),
            title=f"Feature {asked.number}: {asked.name}",
            aside=f"{count(feature.on)} times",
            head=(replace(PICKER, chosen=self._which, chose=self._choose_places),),
            arrays={"in_text": found.in_text, "times": counts},
            names=Names(reading.trace.tokens),
            recipe=recipe_of(
                reading.moment,
                *traced(reading.moment, taps=[asked.opened.dictionary.tap]),
                *asked.recipe,
                f"values = dictionary.encode(trace)[:, {asked.number}]",
            ),
        )

    def _sentence(self, asked: AskedFeature) -> Words:
        feature = asked.reading[asked.number]
        if not feature.on:
            return replace(SENTENCE, text="It never fires in the text that was read.")
        at, following = feature.at, feature.next
        share = f" ({percentage(at.share)} of its activation)" if at.standing_out else ""
        said = f"Fires at {named(at)}{share}, in {percentage(feature.rate)} of tokens. "
        said += f"Next comes {named(following)}."
        if feature.needed is not None:
            error = f" ± {number(feature.needed_error * 1000, 1)}" if feature.needed_error else ""
            risen = f"{number(feature.needed * 1000, 1)}{error}"
            said += f" Without it the loss rises by {risen} thousandths of a nat."
        return replace(SENTENCE, text=said)

    def _lines(self, asked: AskedFeature, found: FeaturePlaces) -> list[FiringLine]:
        feature, largest = asked.reading[asked.number], max(asked.reading[asked.number].largest, 1e-9)
        lines = []
        for place, strengths in zip(found.places, found.strengths, strict=True):
            tokens, at = feature.passage(place, before=12, after=8)
            first = place.position - at
            own = strengths[first : first + len(tokens)] / largest
            lines.append(
                FiringLine(
                    tuple(map(visible, tokens)),
                    at,
                    own,
                    number(place.value, 2),
                    (f"text {place.text + 1:,} of those read, token {place.position + 1}",),
                )
            )
        return lines

    def _type(self, asked: AskedFeature, found: FeaturePlaces, line: int) -> None:
        """Type the text of a line up to where the feature fires."""
        place = found.places[line]
        ids = asked.reading.rows[place.text][: place.position + 1]
        self.session.reading.set_prefix(asked.moment[0].tokenizer.decode([int(id) for id in ids]))

    def _choose_places(self, which: int) -> None:
        if which != self._which:
            self._which = which
            self.refresh_soon()
