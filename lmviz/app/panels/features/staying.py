"""Whether features stay on over the words: a staircase where none does, a long line where one remembers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.features.asked_features import FOLLOWS, READING, name_in_words, what_is_missing
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.features import why_no_features
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.features.recipes import over_texts_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Curves, Matrix, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.features.staying import StayingFeatures
    from lmviz.models.model import Model

NO_PREFIX = "Type a text to see how long features stay on in it."
TOKENS = 10_000
SENTENCE = Words("staying_sentence")
STAIRS = Matrix("staying_stairs", says="features by their first token", scale="count", share=5)
STILL = Curves(
    "staying_plot",
    says="how many features are still on some tokens later",
    x_name="tokens later",
    y_name="still on",
    possible=((0.0, np.inf), (0.0, 1.0)),
    writes=(None, percentage),
    share=2,
)


@dataclass(frozen=True, eq=False)
class StayingFound:
    """How long features stay on in the open text, and those of the typed text by their first token.

    `features` (row,) are numbers, `activations` (row, position).
    """

    staying: StayingFeatures
    features: np.ndarray
    activations: np.ndarray


class StayingPanel(AskingPanel[Reading, StayingFound]):
    """One row for each feature that is on in the typed text; below, how many are still on later."""

    title = "Which features stay on"
    draws = ("reading",)
    key = Key("staying features")
    follows = (*FOLLOWS, "reading.changed", "focus.position_changed", "text.changed")
    parts = (SENTENCE, STAIRS, STILL)

    def out_of_place(self, model: OpenedModel) -> str:
        return why_no_features(model)

    def question(self) -> Question[Reading, StayingFound] | Look:
        features, reading = self.session.features, self.session.reading.current
        features.renew()
        missing = what_is_missing(self.session)
        dictionary, over = features.dictionary, features.reading
        if missing or dictionary is None:
            return Look(self.parts, instead=missing)
        if reading is None or dictionary.tap not in reading.trace:
            return Look(self.parts, instead=NO_PREFIX)
        if over is None:
            return Look(self.parts, instead=READING)
        states, known = reading.trace[dictionary.tap].array, None
        about = (dictionary, features.moment, len(over.rows))
        if self.asked is not None and self.asked.about == about and self.found is not None:
            known = self.found.staying

        def work(model: Model) -> StayingFound:
            from lmviz.features.staying import staying_features

            rows, tokens = [], 0
            for ids in over.rows:
                if tokens < TOKENS:
                    rows.append(ids)
                    tokens += len(ids)
            staying = known
            if staying is None:
                *_, staying = staying_features(model, dictionary, rows)
            activations = dictionary.encode(states)
            on = activations > 0
            fired = np.flatnonzero(on[1:].any(axis=0)) if len(on) > 1 else np.flatnonzero(on.any(axis=0))
            order = fired[np.argsort(on[:, fired].argmax(axis=0), kind="stable")]
            return StayingFound(staying, order, activations[:, order].T)

        return Question(self.key, reading, work, about=about)

    def look(self, reading: Reading, found: StayingFound) -> Look:
        opened, over = self.session.features.opened, self.session.features.reading
        corpus, moment = self.session.text.corpus, self.session.features.moment
        if opened is None or over is None or corpus is None or moment is None:
            return Look(self.parts)
        tokens, chosen = reading.trace.tokens, self.session.features.chosen

        def read_out(row: int, column: int) -> tuple[str, list[str]]:
            feature = int(found.features[row])
            value = number(float(found.activations[row, column]), 2)
            return f"Feature {feature}", [
                name_in_words(opened, over, feature),
                f"{value} at “{tokens[column]}”",
            ]

        stairs = replace(
            STAIRS,
            values=found.activations,
            columns=[visible(token) for token in tokens],
            row=int(np.flatnonzero(found.features == chosen)[0]) if chosen in found.features else -1,
            column=self.session.reading.position,
            readout=read_out,
            clicked=lambda row, _: self.session.features.choose(int(found.features[row])),
        )
        distances = np.arange(1, len(found.staying.still) + 1)
        still = replace(
            STILL,
            curves=[PlotCurve("still on", distances, found.staying.still, "validation", dots=True)],
            references=[("by chance", found.staying.chance)],
        )
        return Look(
            (replace(SENTENCE, text=_sentence(found)), stairs, still),
            aside=f"{count(len(found.features))} features",
            arrays={"still": found.staying.still, "longest": found.staying.longest},
            names=Names([f"{distance} later" for distance in distances]),
            recipe=over_texts_recipe(
                moment[0].reading("", moment[1]),
                str(opened.file),
                corpus,
                "values = lmviz.staying_features(model, dictionary, corpus).still",
            ),
        )


def _sentence(found: StayingFound) -> str:
    staying = found.staying
    longest = float(np.nan_to_num(staying.longest)[staying.best])
    one, two = (percentage(float(share)) for share in staying.still[:2])
    return (
        f"The feature that stays longest, {staying.best}, stays {number(longest, 1)} tokens. One token on, "
        f"{one} of those that are on still are, two on {two}; two tokens of different texts share "
        f"{percentage(staying.chance)}. What remembers would be a long line."
    )
