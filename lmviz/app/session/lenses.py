"""Lenses that are fitted to the shown model, in the background, and remembered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part

if TYPE_CHECKING:
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.opened_model import Moment
    from lmviz.app.session.work import Work
    from lmviz.app.workers.job import Job
    from lmviz.base.reporting import Report
    from lmviz.readouts.fitted_lens import FittedLens

    _Key = tuple[tuple[Path, str], int, str]


class Lenses(Part):
    """What was fitted to models at steps, one of each kind; one is fitted at a time.

    `changed` comes when more is known, and when fitting begins or ends.
    """

    changed = Signal()

    def __init__(self, work: Work, text: OpenText, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._text = work, text
        self._known: dict[_Key, FittedLens] = {}
        self._job: Job | None = None
        self._fitting: _Key | None = None

    def fitted(self, moment: Moment, kind: str) -> FittedLens | None:
        """What was fitted to a model at a step, on as many passages as were read so far."""
        return self._known.get(_key(moment, kind))

    def is_fitting(self, moment: Moment, kind: str) -> bool:
        """Whether this is under way."""
        return self._fitting == _key(moment, kind)

    @property
    def is_busy(self) -> bool:
        """Whether any lens is being fitted."""
        return self._job is not None

    def fit(self, moment: Moment, kind: str) -> None:
        """Fit a lens on the open text; it can be used from the first passage on."""
        corpus = self._text.corpus
        if corpus is None or self._job is not None:
            return
        opened, step = moment
        folder, spells_out, key = opened.folder, opened.spells_out, _key(moment, kind)

        def work(report: Report) -> Iterator[FittedLens]:
            from lmviz.models.interruption import heard_by
            from lmviz.readouts.fitting import fit_lens
            from lmviz.readouts.passages import read_passages
            from lmviz.runs.opening import open_model_of, open_recorded

            model = open_model_of(open_recorded(folder), step)
            model = model.spelling_out() if spells_out else model
            with heard_by(report):
                passages = read_passages(model, corpus.training_documents)
                yield from fit_lens(model, passages, kind, every=5)

        def take(lens: FittedLens) -> None:
            self._known[key] = lens
            self.changed.emit()

        self._fitting = key
        self._job = self._work.start_job(
            f"Fitting the {kind} lens", work, lambda _: None, self.failed.emit, take
        )
        self._job.ended.connect(self._end)
        self.changed.emit()

    def stop(self) -> None:
        """Fit no more; what was found so far stays."""
        if self._job is not None:
            self._job.cancel()

    def _end(self) -> None:
        self._job = self._fitting = None
        self.changed.emit()


def _key(moment: Moment, kind: str) -> _Key:
    model, step = moment
    return model.identity, step, kind
