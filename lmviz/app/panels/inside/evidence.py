"""The lines of the text that an n-gram's counts came from."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QPushButton

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, sheet
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.base.plain import caption
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.text.concordance_list import ConcordanceList, OccurrenceLine
from lmviz.inspection.contexts import has_contexts, longest_context, stage_context
from lmviz.inspection.recipes.text import places_recipe, settings_of
from lmviz.looks.names import Names
from lmviz.text.concordance import Concordance, concordance_of_ids
from lmviz.text.corpus import Corpus
from lmviz.text.tokenizer import visible

KEY = Key("evidence")

NOTHING = "Open an n-gram and type a text: the lines in which it was counted appear here."


class EvidencePanel(Panel):
    """Where the context that the shown stage has matched occurs, or else the longest of all.

    It is looked for in the text that the model was counted from, which a button opens where another is
    open, or none.
    """

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._drawn: tuple[tuple[int, ...], Concordance] | None = None  # the context, and where it occurs
        self._lines = named(ConcordanceList(), description="where the context occurs in the text")
        self._open = named(QPushButton(), "open_evidence_button")
        self._open.clicked.connect(self._open_text)
        self._card = self.add_card("In the corpus", "", scrolling(sheet(column(self._open, self._lines))))
        self.follow(
            session.reading.changed,
            session.focus.stage_changed,
            session.focus.position_changed,
            session.text.changed,
        )

    def out_of_place(self, model: OpenedModel) -> str:
        if model.family == "ngram":
            return ""
        return f"{model.name} keeps no counts of its text. Open an n-gram to see the lines that it counted."

    def refresh(self) -> None:
        reading, corpus = self.session.reading.current, self.session.text.corpus
        is_counted = reading is not None and has_contexts(reading.trace)
        self._card.set_placeholder("" if is_counted else NOTHING)
        if reading is None or not is_counted:
            self._show_nothing("")
            return
        position, description = self.session.reading.position, reading.model.description
        wanted = stage_context(reading.trace, self.session.focus.stage, position)
        wanted = wanted or longest_context(reading.trace, position)
        fits = corpus is not None and corpus.fingerprint == description.fingerprint
        self._open.setVisible(not fits)
        if corpus is None or not fits:
            name = description.corpus.get("name", "its text")
            self._open.setText(caption(f"Open “{name}” to see where"))
            self._show_nothing(f"counted from {name}")
        elif not wanted:
            self._show_nothing("nothing of it was seen before: only the empty context matches")
        else:
            words = " ".join(visible(reading.model.tokenizer.token(id)) for id in wanted)

            def work(corpus: Corpus) -> Concordance:
                return concordance_of_ids(corpus, np.array(wanted))

            self.ask_once(
                Question(KEY, corpus, work, about=(reading.model, tuple(wanted))),
                lambda found: self._show_places(tuple(wanted), words, found),
            )

    def handle_failure(self, key: str) -> None:
        self._show_nothing_found()
        self._card.set_aside("")

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The lines that are shown as texts (place, 5): position, before, match, next token, after."""
        rows = [
            (str(place.position), place.before, place.match, place.token, place.after)
            for place in (self._drawn[1].places if self._drawn is not None else ())
        ]
        return {"places": np.array(rows, dtype=np.str_)} if rows else {}

    def exported_names(self) -> Names:
        """The columns of the places."""
        return Names(columns=("position", "before", "match", "next token", "after"))

    def recipe(self) -> str:
        """The lines of Python that find the same places; empty for none, and for a text that was pasted."""
        corpus = self.session.text.corpus
        if self._drawn is None or corpus is None or not corpus.sources:
            return ""
        return places_recipe(corpus.sources, settings_of(corpus), self._drawn[0])

    def _open_text(self) -> None:
        reading = self.session.reading.current
        if reading is not None:
            self.session.text.open_text_of(reading.model)

    def _show_nothing_found(self) -> None:
        self._drawn = None
        self._lines.set_lines([])

    def _show_nothing(self, why: str) -> None:
        self.silence(KEY)
        self._show_nothing_found()
        self._card.set_aside(why)

    def _show_places(self, context: tuple[int, ...], words: str, found: Concordance) -> None:
        self._drawn = context, found
        self._lines.set_lines(
            [
                OccurrenceLine(place.before, place.match, visible(place.token), place.after)
                for place in found.places
            ]
        )
        self._card.set_aside(f"“{words}” · {count(found.total)} places")
