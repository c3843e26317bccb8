"""The lines of the text that an n-gram's counts came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from lmviz.app.widgets.base.export import Names
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.base.plain import caption
from lmviz.app.widgets.text.concordance_list import ConcordanceList, OccurrenceLine
from lmviz.inspection.contexts import longest_context, stage_context
from lmviz.inspection.recipes.text import places_recipe, settings_of
from lmviz.text.concordance import concordance_of_ids
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.app.panels.panel import Panel
    from lmviz.app.session.reading import Reading
    from lmviz.text.concordance import Concordance


class Evidence(QWidget):
    """`Evidence(panel)`: `show_contexts(reading, stage, position)` finds where a matched context occurs.

    It is looked for in the text that the model was counted from, which a button opens where another is
    open, or none. `said` emits a sentence about it.
    """

    said = Signal(str)

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        self._panel = panel
        self._session = panel.session
        self._reading: Reading | None = None
        self._context: list[int] | None = None
        self._found: Concordance | None = None
        self._lines = ConcordanceList()
        self._lines.setAccessibleName("where the context occurs in the text")
        self._open = QPushButton()
        self._open.setObjectName("open_evidence_button")
        self._open.clicked.connect(self._open_text)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._open)
        column.addWidget(self._lines)

    def show_contexts(self, reading: Reading, stage: int, position: int) -> None:
        """Look for the context that a stage has matched at a position, or else for the longest of all."""
        self._reading, corpus = reading, self._session.text.corpus
        description = reading.model.description
        wanted = stage_context(reading.trace, stage, position) or longest_context(reading.trace, position)
        fits = corpus is not None and corpus.fingerprint == description.fingerprint
        self._open.setVisible(not fits)
        if corpus is None or not fits:
            name = description.corpus.get("name", "its text")
            self._open.setText(caption(f"Open “{name}” to see where"))
            self._show_nothing(f"counted from {name}")
        elif not wanted:
            self._show_nothing("no word of it was seen before: only the empty context matches")
        elif self._context != wanted:
            self._context, self._found = wanted, None

            def work() -> Concordance:
                return concordance_of_ids(corpus, np.array(wanted))

            self._panel.ask_reader("evidence", work, self._take)

    def _open_text(self) -> None:
        if self._reading is not None:
            self._session.text.open_text_of(self._reading.model)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The lines that are shown as texts (place, 5): position, before, match, next token, after."""
        rows = [
            (str(place.position), place.before, place.match, place.token, place.after)
            for place in (self._found.places if self._found is not None else ())
        ]
        return {"places": np.array(rows, dtype=np.str_)} if rows else {}

    def exported_names(self) -> Names:
        """The columns of the places."""
        return Names(columns=("position", "before", "match", "next token", "after"))

    def recipe(self) -> str:
        """The lines of Python that find the same places; empty for none, and for a text that was pasted."""
        corpus = self._session.text.corpus
        if self._found is None or corpus is None or not corpus.sources:
            return ""
        return places_recipe(corpus.sources, settings_of(corpus), self._context or ())

    def forget(self) -> None:
        """Take away what was found: the same context will be looked for again."""
        self._context, self._found = None, None
        self._lines.set_lines([])

    def _show_nothing(self, why: str) -> None:
        self._panel.silence("evidence")
        self.forget()
        self.said.emit(why)

    def _take(self, found: Concordance) -> None:
        self._found = found
        self._lines.set_lines(
            [
                OccurrenceLine(place.before, place.match, visible(place.token), place.after)
                for place in found.places
            ]
        )
        assert self._reading is not None, "it was found for a reading"
        tokenizer = self._reading.model.tokenizer
        words = " ".join(visible(tokenizer.token(id)) for id in self._context or ())
        self.said.emit(f"“{words}” · {count(found.total)} places")
