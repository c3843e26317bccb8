"""The concordance: what follows a phrase in the text, how often, and at which places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, QTimer

from lmviz.app.panels.corpus.side_picker import SidePicker
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, row, sheet
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.hinted_edit import HintedEdit
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.text.concordance_list import ConcordanceList
from lmviz.inspection.recipes.text import concordance_recipe, settings_of
from lmviz.looks.names import Names
from lmviz.looks.occurrence import OccurrenceLine
from lmviz.text.concordance import Concordance, concordance
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

KEY = Key("concordance")

WORDS = 200
TYPING = 120  # milliseconds without a key before the text is searched
EXAMPLE = "cows eat"
SIZE_OF_PHRASE = 130  # pixels
EMPTY = (
    "Type a phrase to see what follows it, how often, and each of its places; a click shows it in the text."
)


class ConcordancePanel(Panel):
    """A phrase, the words that follow it with their fractions, and its places; a click opens one."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        session.text.offer_changed.connect(self.need_changed)
        self._phrase = named(
            HintedEdit(f"a phrase, such as {EXAMPLE}", "a phrase"), "concordance_edit", "phrase to look up"
        )
        self._phrase.setClearButtonEnabled(True)
        self._phrase.setMinimumWidth(SIZE_OF_PHRASE)
        self._words = named(BarsView(), description="what follows")
        self._places = ConcordanceList()
        self.found: Concordance | None = None  # what is shown
        self.searched = ""  # the phrase of which that was found
        columns = sheet(row((scrolling(self._words), 2), (scrolling(self._places), 5)))
        self._side = SidePicker("concordance_side")
        self._side.activated.connect(lambda _: self._search())
        self._card = self.add_card("Concordance", FittingRow((self._side, self._phrase), ()), columns)
        self._wait = QTimer(self, singleShot=True, interval=TYPING)
        self._wait.timeout.connect(self._search)
        self._phrase.textChanged.connect(lambda _: self._wait.start())
        self._words.part_hovered.connect(self._fade_others)
        self._words.part_clicked.connect(self._extend_phrase)
        self._places.part_clicked.connect(self._open_place)
        session.text.changed.connect(self._search)
        self.follow(session.text.changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The words that follow as texts (word, 2): token and count."""
        words = self.found.words if self.found is not None else ()
        return {"words": np.array([(word.token, str(word.count)) for word in words])} if words else {}

    def exported_names(self) -> Names:
        return Names(columns=("token", "count"))

    def recipe(self) -> str:
        corpus = self.session.text.corpus
        if self.found is None or corpus is None or not corpus.sources:
            return ""
        return concordance_recipe(corpus.sources, settings_of(corpus), self.searched, self._side.side)

    @property
    def is_needed(self) -> bool:
        return self.session.text.offer is None

    def refresh(self) -> None:
        found = self.found
        if found is None or not self.searched:
            self._card.set_title("Concordance")
            self._words.set_bars([], [])
            self._places.set_lines([])
            self._card.set_placeholder(EMPTY)
            return

        corpus = self.session.text.corpus
        held_out = corpus is not None and len(corpus.validation_documents) > 0
        part = " in the text to learn from" if held_out else ""
        self._card.set_title(f"{count(found.total)} {'place' if found.total == 1 else 'places'}{part}")
        if not found.total:
            sides = () if corpus is None else corpus.sides
            where = f"the {self._side.side}s of this text" if len(sides) > 1 else "this text"
            missing = f"“{self.searched}” does not occur in {where}{part[12:]}, as its tokens are spelled."
            self._card.set_placeholder(missing)
            return
        self._card.set_placeholder("")
        shown = found.words[:WORDS]
        self._words.set_bars(
            [visible(word.token) for word in shown],
            [word.share for word in shown],
            texts=[f"{count(word.count)}/{count(found.total)}" for word in shown],
        )
        self._places.set_lines(
            [
                OccurrenceLine(
                    _on_one_line(place.before), place.match, visible(place.token), _on_one_line(place.after)
                )
                for place in found.places
            ]
        )

    def _search(self) -> None:
        corpus, phrase = self.session.text.corpus, self._phrase.text()
        if corpus is not None:
            self._side.offer(corpus)
        side = self._side.side
        if corpus is not None and corpus.tokenizer_of(side).kind != "characters":
            phrase = phrase.strip(" ")  # among characters a space is one like any other
        if corpus is None or not phrase:
            self.silence(KEY)
            self._take(phrase, None)
            return

        def work(corpus: Corpus) -> Concordance:
            return concordance(corpus, phrase, side=side)

        self.ask(Question(KEY, corpus, work), lambda found: self._take(phrase, found))

    def _take(self, phrase: str, found: Concordance | None) -> None:
        self.searched, self.found = phrase, found
        self.refresh_soon()

    def _fade_others(self, index: int) -> None:
        if self.found is None or index < 0:
            self._places.set_faded([])
            return
        word = self.found.words[index].token
        self._places.set_faded([n for n, place in enumerate(self.found.places) if place.token != word])

    def _extend_phrase(self, index: int) -> None:
        """Append a word to the phrase; END cannot be appended."""
        corpus = self.session.text.corpus
        if self.found is not None and corpus is not None:
            reader, id = corpus.tokenizer_of(self._side.side), self.found.words[index].id
            self._phrase.setText(reader.continue_text(self.searched, id))
            self._phrase.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open_place(self, index: int) -> None:
        corpus = self.session.text.corpus
        if self.found is None or corpus is None:
            return
        place = self.found.places[index].position
        if self._side.side == "target":  # the place of a pair is that of its source
            number = int(np.searchsorted(corpus.training_of("target").starts, place, side="right")) - 1
            place = int(corpus.training_stream.starts[number])
        self.session.text.choose_place(place)


def _on_one_line(text: str) -> str:
    """A piece of text with visible line breaks, so that no two words run together."""
    return text.replace("\n", " ⏎ ")
