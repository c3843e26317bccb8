"""The open text: a corpus, and the chosen place in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part

if TYPE_CHECKING:
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.work import Work
    from lmviz.app.workers.job import Job, Report
    from lmviz.text.corpus import Corpus, CorpusOptions


class OpenText(Part):
    """Opens corpora, one at a time."""

    changed = Signal()
    place_changed = Signal()
    reading_given_up = Signal()
    """The text that was being read does not come: it failed, or was cancelled."""

    def __init__(self, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._corpus: Corpus | None = None
        self._job: Job | None = None
        self._place = 0

    @property
    def corpus(self) -> Corpus | None:
        """The corpus that is open."""
        return self._corpus

    @property
    def place(self) -> int:
        """The chosen place: an index into the corpus's training ids."""
        return self._place

    @property
    def is_opening(self) -> bool:
        """Whether a text is being read."""
        return self._job is not None

    def open(
        self, source: str | Path | Sequence[Any], options: CorpusOptions | None = None, **settings: Any
    ) -> Job:
        """Read a text, several, a folder, or one of the catalogue, in place of any other under way."""

        def work(report: Report) -> Corpus:
            from lmviz.text.corpus import load_corpus

            corpus = load_corpus(source, options=options, progress=report, **settings)
            corpus.statistics()  # counted here, so that no panel has to wait for it
            return corpus

        if self._job is not None:
            self._job.cancel()
        name = Path(source).name if isinstance(source, str | Path) else "several texts"
        self._job = self._work.start_job(f"Reading {name}", work, self._take_read, self.failed.emit)
        self._job.ended.connect(self._forget_job)
        return self._job

    def open_text_of(self, model: OpenedModel) -> Job | None:
        """Read the text that a model learned from, as it was read then; None where that is not known."""
        from lmviz.errors import LmvizError
        from lmviz.text.corpus import CorpusOptions

        recorded = model.description.corpus
        sources = recorded.get("sources") or []
        try:
            options = CorpusOptions.from_values(recorded.get("options", {}))
        except LmvizError:
            return None  # an older way of reading it; a person can still open the text
        return self.open(sources[0] if len(sources) == 1 else sources, options) if sources else None

    def take(self, corpus: Corpus) -> None:
        """Use a corpus that was made elsewhere, such as one from pasted text."""
        self._corpus = corpus
        self._place = 0
        self.changed.emit()

    def choose_place(self, place: int) -> None:
        """Look at a place in the corpus; beyond either end it stays at that end."""
        last = 0 if self._corpus is None else len(self._corpus.training) - 1
        place = max(0, min(place, last))
        if place != self._place:
            self._place = place
            self.place_changed.emit()

    def _take_read(self, corpus: Corpus) -> None:
        self._job = None
        self.take(corpus)

    def _forget_job(self, job: Job) -> None:
        if self._job is job:
            self._job = None
            self.reading_given_up.emit()
