"""The words by what they cost in all, or by what they add to the gap of two models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.texts.recipes import map_recipe
from lmviz.app.widgets.base.figures import count, signed_figure
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Bars
from lmviz.text.tokenizer import visible

SHOWN = 24
BARS = Bars("costly_words_bars", says="nats in all, by word", share=1)
FIRST = "Measure the losses in “Loss map” first."
ONE_LABEL = "Each text has one label: “Loss divided” has the loss by label."


class CostlyWordsPanel(ShowingPanel):
    """Bars of words, a rare word with a large loss after a common one with a small loss each time."""

    title = "Words that cost most"
    follows = ("many.losses.changed",)

    def look(self) -> Look:
        losses, found = self.session.many.losses, self.session.many.losses.shown
        if found is None:
            return Look((BARS,), instead=FIRST)
        if found.is_of_labels and found.of_token is None:
            return Look((BARS,), instead=ONE_LABEL)
        words = sorted(found.words(), key=lambda word: -abs(word[1]))[:SHOWN]
        words.sort(key=lambda word: -word[1])
        totals = np.array([total for _, total, _ in words])
        bars = replace(
            BARS,
            labels=[visible(word) for word, _, _ in words],
            values=np.abs(totals),
            texts=[signed_figure(total, 0) for total in totals]
            if losses.shows_difference
            else [count(total) for total in totals],
            notes=[f"× {count(often)}" for _, _, often in words],
            faded=[place for place, total in enumerate(totals) if total < 0],
        )
        return Look(
            (bars,),
            title="Words that make the gap" if losses.shows_difference else self.title,
            aside="nats in all; pale: A is ahead" if losses.shows_difference else "nats in all",
            arrays={"total": totals},
            units={"total": "nats"},
            names=Names([word for word, _, _ in words]),
            recipe=map_recipe(
                self.session,
                f"words = sorted(found.words(), key=lambda word: -abs(word[1]))[:{SHOWN}]",
                "values = sorted((total for _, total, _ in words), reverse=True)",
            ),
        )
