"""Lenses that are fitted to the shown model, in the background, and kept; and by which of them one reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.app.session.probes import OpenProbes

if TYPE_CHECKING:
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.opened_model import Moment
    from lmviz.app.session.work import Work
    from lmviz.app.workers.job import Job
    from lmviz.base.reporting import Report
    from lmviz.models.model import Model
    from lmviz.readouts.fitted_lens import FittedLens

    _Key = tuple[tuple[Path, str], int, str]

LOGIT = "logit"
KINDS = ("tuned", "jacobian")
"""Those that are fitted here."""


class Lenses(Part):
    """What was fitted to models at steps, one of each kind; one is fitted at a time.

    `changed` comes when more is known, when fitting begins or ends, and when states are read by another lens.
    What is fitted to the end is kept beside the run, or, of a sample model, beside downloaded texts. The
    `probes` are the fourth kind.
    """

    changed = Signal()

    def __init__(self, work: Work, text: OpenText, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._text = work, text
        self._known: dict[_Key, FittedLens] = {}
        self._looked_for: set[_Key] = set()
        self._files: dict[_Key, Path] = {}
        self._kind = LOGIT
        self.probes = OpenProbes(self)
        self.probes.changed.connect(self.changed)
        self._job: Job | None = None
        self._fitting: _Key | None = None

    @property
    def kind(self) -> str:
        """By what states are read: "logit", "tuned", "jacobian" or "probe"."""
        return self._kind

    def choose(self, kind: str) -> None:
        """Read states by another lens, in every panel; one that is not fitted is fitted on the open text."""
        if kind != self._kind:
            self._kind = kind
            self.changed.emit()

    def chosen(self, moment: Moment) -> FittedLens | None:
        """The lens by which a model's states are read at a step; None where they are read without one."""
        return self.fitted(moment, self._kind) if self._kind in KINDS else None

    def file(self, moment: Moment, kind: str) -> Path | None:
        """The file in which a lens is kept; None where it is not."""
        return self._files.get(_key(moment, kind))

    def look_for(self, moment: Moment) -> None:
        """Look for lenses that were fitted to a model at a step before, and kept."""
        keys = {kind: _key(moment, kind) for kind in KINDS}
        new = {kind: key for kind, key in keys.items() if key not in self._known.keys() | self._looked_for}
        if not new:
            return
        self._looked_for.update(new.values())
        for kind, key in new.items():
            self._look(moment, kind, key)

    def _look(self, moment: Moment, kind: str, key: _Key) -> None:
        path_of = self._place(moment, kind)

        def work(model: Model) -> tuple[FittedLens | None, Path]:
            from lmviz.readouts.kept_lenses import kept

            path = path_of()
            return kept(path, model), path

        def take(found: tuple[FittedLens | None, Path]) -> None:
            lens, path = found
            if lens is not None and key not in self._known:
                self._known[key], self._files[key] = lens, path
                self.changed.emit()

        name = f"kept lens {kind} {moment[1]} {moment[0].folder}"
        self._work.ask_model(moment, name, work, take, self)

    def _place(self, moment: Moment, kind: str) -> Callable[[], Path]:
        """Says where a lens is kept, which takes a look at the folder."""
        (opened, step), created = moment, moment[0].description.created

        def place() -> Path:
            from lmviz.readouts.kept_lenses import kept_at

            return kept_at(opened.folder, created, kind, step)

        return place

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
        if corpus is None or self._job is not None or kind not in KINDS:
            return
        opened, step = moment
        folder, spells_out, key = opened.folder, opened.spells_out, _key(moment, kind)
        place = self._place(moment, kind)

        def work(report: Report) -> Iterator[tuple[FittedLens, Path | None]]:
            from lmviz.models.interruption import heard_by
            from lmviz.readouts.fitting import fit_lens
            from lmviz.readouts.kept_lenses import keep
            from lmviz.readouts.passages import read_passages
            from lmviz.runs.opening import open_model_of, open_recorded

            model = open_model_of(open_recorded(folder), step)
            model = model.spelling_out() if spells_out else model
            with heard_by(report):
                passages = read_passages(model, corpus.training_documents)
                lens: FittedLens | None = None
                for lens in fit_lens(model, passages, kind, every=5):
                    yield lens, None
            if lens is not None:
                yield (
                    lens,
                    keep(lens, place()),
                )  # together: a job may pass on the newest alone

        def take(found: tuple[FittedLens, Path | None]) -> None:
            self._known[key], path = found
            if path is not None:
                self._files[key] = path
            self.changed.emit()

        self._fitting = key
        self._job = self._work.start_job(f"Fitting the {kind} lens", work, lambda _: None, self, take)
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
