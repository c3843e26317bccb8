"""The lines of the text that an n-gram's counts came from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.widgets.base.figures import count
from lmviz.inspection.contexts import has_contexts, longest_context, stage_context
from lmviz.inspection.recipes.text import places_recipe, settings_of
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.occurrence import OccurrenceLine
from lmviz.looks.parts import Button, Occurrences, Space
from lmviz.text.concordance import Concordance, concordance_of_ids
from lmviz.text.corpus import Corpus
from lmviz.text.tokenizer import visible

NOTHING = "Open an n-gram and type a text: the lines in which it was counted appear here."
OPEN = Button("open_evidence_button", shown=False)
PLACES = Occurrences(says="where the context occurs in the text", share=1)


@dataclass(frozen=True)
class Evidence:
    """A context, by its ids and in words, and where it occurs."""

    context: tuple[int, ...]
    words: str
    places: Concordance


class EvidencePanel(AskingPanel[Corpus, Evidence]):
    """Where the context that the shown stage has matched occurs, or else the longest of all.

    It is looked for in the text that the model was counted from, which a button opens where another is
    open, or none.
    """

    title = "In the corpus"
    key = Key("evidence")
    draws = ("reading",)
    follows = ("reading.changed", "focus.stage_changed", "focus.position_changed", "text.changed")
    parts = (OPEN, PLACES)

    def out_of_place(self, model: OpenedModel) -> str:
        if model.family == "ngram":
            return ""
        return f"{model.name} keeps no counts of its text. Open an n-gram to see the lines that it counted."

    def question(self) -> Question[Corpus, Evidence] | Look:
        reading, corpus = self.session.reading.current, self.session.text.corpus
        if reading is None or not has_contexts(reading.trace):
            return Look(instead=NOTHING)
        model, position = reading.model, self.session.reading.position
        if corpus is None or corpus.fingerprint != model.description.fingerprint:
            name = model.description.corpus.get("name", "its text")
            offer = replace(
                OPEN,
                text=f"Open “{name}” to see where",
                shown=True,
                clicked=lambda: self.session.text.open_text_of(model),
            )
            return Look((offer, Space()), aside=f"counted from {name}")
        of_stage = stage_context(reading.trace, self.session.focus.stage, position)
        wanted = tuple(of_stage or longest_context(reading.trace, position))
        if not wanted:
            return Look(aside="nothing of it was seen before: only the empty context matches")
        words = " ".join(visible(model.tokenizer.token(id)) for id in wanted)

        def work(corpus: Corpus) -> Evidence:
            return Evidence(wanted, words, concordance_of_ids(corpus, np.array(wanted)))

        return Question(self.key, corpus, work, about=(model, wanted))

    def look(self, corpus: Corpus, found: Evidence) -> Look:
        """The places, exported as texts (place, 5). What was pasted has no recipe: it is in no file."""
        places = found.places.places
        lines = [
            OccurrenceLine(place.before, place.match, visible(place.token), place.after) for place in places
        ]
        rows = [
            (str(place.position), place.before, place.match, place.token, place.after) for place in places
        ]
        recipe = ""
        if corpus.sources:
            recipe = places_recipe(corpus.sources, settings_of(corpus), found.context)
        return Look(
            (replace(PLACES, lines=lines),),
            aside=f"“{found.words}” · {count(found.places.total)} places",
            arrays={"places": np.array(rows, dtype=np.str_)} if rows else {},
            names=Names(columns=("position", "before", "match", "next token", "after")),
            recipe=recipe,
        )
