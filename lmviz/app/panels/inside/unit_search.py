"""Searches the open text in the background for the places where a unit is most active."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from lmviz.app.panels.panel import JOBS, Panel
from lmviz.app.workers.job import Job
from lmviz.base.reporting import Report
from lmviz.inspection.names import number_of
from lmviz.runs.opening import open_model_of, open_recorded

if TYPE_CHECKING:
    from lmviz.inspection.unit_search import FiringPlace, SearchProgress
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus

SEARCHED_TOKENS = 500_000
CHARACTERS = 4  # at least, per token: so much text is read if the model's tokens are not the corpus's


class UnitSearch(QObject):
    """`UnitSearch(panel)`: `search(address, unit)` reads the text with the model as it is shown.

    `places` are the strongest so far, best first; `found` is emitted whenever there are better ones.
    """

    found = Signal()

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel)
        self._panel = panel
        self._job: Job | None = None
        self.places: tuple[FiringPlace, ...] = ()  # where the unit fires most, as far as was searched
        self.searched = 0  # how many tokens of the text are looked through

    def forget(self) -> None:
        """Another unit: stop, and drop what was found."""
        if self._job is not None:
            self._job.cancel()
        self._panel.complain("", JOBS)
        self._job, self.places = None, ()

    def search(self, address: str, unit: int) -> None:
        """Look for the places with the largest values, or the lowest where it is negative now."""
        session = self._panel.session
        reading, corpus = session.reading.current, session.text.corpus
        if reading is None or corpus is None:
            return
        self.forget()
        folder, step = reading.model.folder, reading.step
        same_tokens = corpus.fingerprint == reading.model.description.fingerprint
        position = min(session.reading.position, len(reading.trace.tokens) - 1)
        sign = 1 if reading.trace[address].array[position, unit] >= 0 else -1
        self.searched = min(SEARCHED_TOKENS, len(corpus.training))

        def work(report: Report) -> Generator[object, None, tuple[FiringPlace, ...]]:
            from lmviz.inspection.unit_search import search_corpus

            model = open_model_of(open_recorded(folder), step)
            ids = corpus.training[:SEARCHED_TOKENS] if same_tokens else _read_anew(model, corpus)
            places: tuple[FiringPlace, ...] = ()
            for progress in search_corpus(model, ids, address, unit, sign=sign):
                places = progress.places
                yield progress
                yield progress.done
            return places

        self._job = self._panel.start_job(
            f"Searching for unit {number_of('unit', unit)}", work, lambda _: None, self._show_progress
        )

    def _show_progress(self, progress: SearchProgress) -> None:
        if self._job is not None:
            self.places = progress.places
            self.found.emit()


def _read_anew(model: Model, corpus: Corpus) -> np.ndarray:
    """The text in the model's own tokens, (token,)."""
    assert model.tokenizer is not None, "a run has its tokenizer"
    return model.tokenizer.encode(corpus.training_text[: SEARCHED_TOKENS * CHARACTERS])[:SEARCHED_TOKENS]
