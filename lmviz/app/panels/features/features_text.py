"""Under each token of the typed text the features that are on there, the strongest first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.features.asked_features import FOLLOWS, name_in_words, what_is_missing
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.features import why_no_features
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import number, signed_figure
from lmviz.inspection.recipes.recipe import recipe_of, traced
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Matrix, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.features.dictionary import Dictionary

NO_PREFIX = "Type a text to see which features are on at each of its tokens."
MOST = 24
"""Tokens that are shown at once, the last ones."""

ROWS = 10
SENTENCE = Words("features_text_sentence")
GRID = Matrix("features_grid", says="the features that are on at each token", scale="count", share=1)


@dataclass(frozen=True, eq=False)
class ActiveFeatures:
    """The activations (position, feature), and of the strongest (rank, position) numbers and activations.

    Where fewer are on, the number is −1. `scores` (position, feature) are what activations are chosen from.
    """

    activations: np.ndarray
    scores: np.ndarray
    features: np.ndarray
    strengths: np.ndarray


class FeaturesTextPanel(AskingPanel[Reading, ActiveFeatures]):
    """Numbers of features in cells (rank, token); a click looks at a feature and goes to the token."""

    title = "On at each word"
    draws = ("reading",)
    key = Key("features over the text")
    follows = (*FOLLOWS, "reading.changed", "focus.position_changed")
    parts = (SENTENCE, GRID)

    def out_of_place(self, model: OpenedModel) -> str:
        return why_no_features(model)

    def question(self) -> Question[Reading, ActiveFeatures] | Look:
        features, reading = self.session.features, self.session.reading.current
        missing = what_is_missing(self.session)
        dictionary = features.dictionary
        if dictionary is None or (missing and not features.needs_text):
            return Look(self.parts, instead=missing)
        if reading is None or dictionary.tap not in reading.trace:
            return Look(self.parts, instead=NO_PREFIX)
        states, known = reading.trace[dictionary.tap].array, dictionary

        def work(_: object) -> ActiveFeatures:
            return _strongest(known, states)

        return Question(self.key, reading, work, about=dictionary)

    def look(self, reading: Reading, found: ActiveFeatures) -> Look:
        opened, over = self.session.features.opened, self.session.features.reading
        if opened is None:
            return Look(self.parts)
        dictionary = opened.dictionary
        length, position = len(reading.trace), self.session.reading.position
        first = max(0, min(length - MOST, position - MOST // 2))
        shown = slice(first, min(first + MOST, length))
        numbers, strengths = found.features[:, shown], found.strengths[:, shown]
        chosen = self.session.features.chosen
        words = [[str(at) if at >= 0 else "" for at in row] for row in numbers]

        def read_out(row: int, column: int) -> tuple[str, list[str]]:
            feature = int(numbers[row, column])
            if feature < 0:
                return "", []
            named = [] if over is None else [name_in_words(opened, over, feature)]
            token = reading.trace.tokens[first + column]
            value = f"{number(float(strengths[row, column]), 2)} at “{token}”"
            return f"Feature {feature}", [
                *named,
                value,
                *_operands(dictionary, found, first + column, feature),
            ]

        def go(row: int, column: int) -> None:
            self.session.focus.choose_position(first + column)
            if numbers[row, column] >= 0:
                self.session.features.choose(int(numbers[row, column]))

        marked = np.argwhere(numbers == chosen) if chosen >= 0 else np.zeros((0, 2), dtype=np.int64)
        at_position = next((tuple(map(int, at)) for at in marked if at[1] + first == position), None)
        pinned = at_position or next((tuple(map(int, at)) for at in marked), None)
        grid = replace(
            GRID,
            values=strengths,
            rows=[f"{rank + 1}." for rank in range(len(numbers))],
            columns=[visible(token) for token in reading.trace.tokens[shown]],
            words=words,
            column=position - first if first <= position < first + MOST else -1,
            pinned=(pinned[0], pinned[1]) if pinned is not None else None,
            readout=read_out,
            clicked=go,
        )
        return Look(
            (self._sentence(found, min(position, length - 1), reading), grid),
            aside="the strongest on top",
            arrays={"activations": found.activations},
            names=Names(reading.trace.tokens),
            recipe=recipe_of(
                reading.moment,
                *traced(reading.moment, taps=[opened.dictionary.tap]),
                f"dictionary = lmviz.open_features({str(opened.file)!r})",
                "values = dictionary.encode(trace)",
            ),
        )

    def _sentence(self, found: ActiveFeatures, position: int, reading: Reading) -> Words:
        on = int((found.activations[position] > 0).sum())
        again = found.activations[:position] > 0
        own = found.activations[position] > 0
        before = int((again.any(axis=0) & own).sum()) if position else 0
        token = visible(reading.trace.tokens[position])
        return replace(
            SENTENCE, text=f"At “{token}” {on} features are on, {before} of them at an earlier token as well."
        )


def _operands(dictionary: Dictionary, found: ActiveFeatures, position: int, feature: int) -> list[str]:
    """What an activation is computed from."""
    bias, scores = float(dictionary.encoder_bias[feature]), found.scores[position]
    read = float(scores[feature]) - bias
    lines = [f"= its encoder · the state, {signed_figure(read)}, and its bias, {signed_figure(bias)}"]
    if dictionary.kind == "topk" and dictionary.k is not None and dictionary.k < len(scores):
        beyond = float(np.sort(scores)[-dictionary.k - 1])
        lines.append(f"on, as only {dictionary.k} are: the next score is {number(max(beyond, 0.0), 2)}")
    elif dictionary.threshold is not None:
        lines.append(f"on, as it is above its threshold of {number(float(dictionary.threshold[feature]), 2)}")
    return lines


def _strongest(dictionary: Dictionary, states: np.ndarray) -> ActiveFeatures:
    activations = dictionary.encode(states)
    rows = min(ROWS, max(1, int((activations > 0).sum(axis=1).max())))
    order = np.argsort(-activations, axis=1, kind="stable")[:, :rows]
    strengths = np.take_along_axis(activations, order, axis=1)
    return ActiveFeatures(
        activations, dictionary.scores(states), np.where(strengths > 0, order, -1).T, strengths.T
    )
