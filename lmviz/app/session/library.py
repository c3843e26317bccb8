"""What is open: a corpus, models, and the moment of their training that is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.opened_models import ModelCache, OpenedModel
from lmviz.app.session.work import Moment, Tasks
from lmviz.app.workers.job import Job, Report

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus, CorpusOptions


class Library(Tasks):
    """The part of the session that opens and closes corpora and models."""

    corpus_changed = Signal()
    models_changed = Signal()
    model_changed = Signal()
    step_changed = Signal()
    live_changed = Signal()
    compared_changed = Signal()
    place_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._corpus: Corpus | None = None
        self._corpus_job: Job | None = None
        self._place = 0
        self._models: tuple[OpenedModel, ...] = ()
        self._model: OpenedModel | None = None
        self._step = 0
        self._live = False
        self._compared: tuple[Moment, ...] = ()

    @property
    def corpus(self) -> Corpus | None:
        """The text that is open."""
        return self._corpus

    @property
    def place(self) -> int:
        """The place in the corpus one looks at: an index into its training ids."""
        return self._place

    @property
    def models(self) -> tuple[OpenedModel, ...]:
        """The models that are open."""
        return self._models

    @property
    def model(self) -> OpenedModel | None:
        """The model that the panels look into."""
        return self._model

    @property
    def step(self) -> int:
        """The step of its training at which the model is shown."""
        return self._step

    @property
    def live(self) -> bool:
        """Whether the newest moment of a training is followed."""
        return self._live

    @property
    def compared(self) -> tuple[Moment, ...]:
        """The models and steps to compare the current one with."""
        return self._compared

    def open_corpus(
        self, source: str | Path | Sequence[Any], options: CorpusOptions | None = None, **settings: Any
    ) -> Job:
        """Read a text, several, a folder, or one of the catalogue, in place of any other under way."""

        def work(report: Report) -> Corpus:
            from lmviz.text.corpus import load_corpus

            corpus = load_corpus(source, options=options, progress=report, **settings)
            corpus.statistics()  # counted here, so that no panel has to wait for it
            return corpus

        if self._corpus_job is not None:
            self._corpus_job.cancel()
        name = "several texts" if isinstance(source, (list, tuple)) else Path(source).name
        job = self.start_reporting_job(f"Reading {name}", work, self.take_corpus, where="corpus")
        self._corpus_job = job
        job.ended.connect(self._forget_corpus_job)
        return job

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
        return self.open_corpus(sources[0] if len(sources) == 1 else sources, options) if sources else None

    def take_corpus(self, corpus: Corpus) -> None:
        """Use a corpus that was made elsewhere, such as one from pasted text."""
        self._corpus = corpus
        self._place = 0
        self.corpus_changed.emit()

    def choose_place(self, place: int) -> None:
        """Look at a place in the corpus; beyond either end it stays at that end."""
        last = 0 if self._corpus is None else len(self._corpus.training) - 1
        place = max(0, min(place, last))
        if place != self._place:
            self._place = place
            self.place_changed.emit()

    def open_model(self, path_or_name: str | Path, step: int | None = None) -> None:
        """Open a run, or a sample model by its name, and look into it; at its newest snapshot by default."""
        cache = self._cache
        self._in_reader(
            f"open {path_or_name}",
            lambda: _open(cache, path_or_name),
            lambda opened: self._take_model(opened, step),
            "model",
        )

    def choose_model(self, opened: OpenedModel, step: int | None = None) -> None:
        """Look into another of the open models, at its newest snapshot by default."""
        opened = self._models[self._models.index(opened)]
        changed = opened is not self._model
        self._model = opened
        moved = self._go_to(opened.snapshots[-1] if step is None else opened.nearest_snapshot(step))
        if changed:
            self.model_changed.emit()
        if moved:
            self.step_changed.emit()

    def close_model(self, opened: OpenedModel) -> None:
        """Let go of a model; its folder stays."""
        compared = self._compared
        # All is settled before anything is told, so that nobody meets the closed model.
        self._models = tuple(model for model in self._models if model != opened)
        self._compared = tuple(moment for moment in compared if moment[0] != opened)
        if self._model == opened:
            self._model = self._models[-1] if self._models else None
            moved = self._go_to(self._model.snapshots[-1] if self._model is not None else 0)
            self.model_changed.emit()
            if moved:
                self.step_changed.emit()
        if self._compared != compared:
            self.compared_changed.emit()
        self.models_changed.emit()

    def choose_step(self, step: int) -> None:
        """Go to the snapshot nearest to a step, and stay there."""
        if self._model is None:
            return
        self.follow_live(False)
        if self._go_to(self._model.nearest_snapshot(step)):
            self.step_changed.emit()

    def follow_live(self, live: bool) -> None:
        """Follow the newest moment of the training, or stay."""
        if live != self._live:
            self._live = live
            self.live_changed.emit()
        if live and self._model is not None and self._go_to(self._model.snapshots[-1]):
            self.step_changed.emit()

    def compare(self, moments: Iterable[Moment]) -> None:
        """Choose what the current model is compared with."""
        compared = tuple(moments)
        if compared != self._compared:
            self._compared = compared
            self.compared_changed.emit()

    def _go_to(self, step: int) -> bool:
        moved = step != self._step
        self._step = step
        return moved

    def _take_model(self, opened: OpenedModel, step: int | None) -> None:
        others = tuple(model for model in self._models if model != opened)
        taken = {model.color_index for model in others}
        free = next(index for index in range(len(taken) + 1) if index not in taken)
        opened = replace(opened, color_index=free)
        self._models = (*others, opened)
        self.models_changed.emit()
        self.choose_model(opened, step)

    def _refresh_snapshots(self, folder: Path) -> None:
        """A run has been trained on: some snapshots are new, others may have been thinned out."""
        for model in self._models:
            snapshots = tuple(model.run.snapshots()) if model.folder == folder else ()
            if snapshots:  # none where somebody has removed the run
                self._replace(replace(model, snapshots=snapshots))

    def _replace(self, changed: OpenedModel) -> None:
        self._models = tuple(changed if item == changed else item for item in self._models)
        self._model = changed if self._model == changed else self._model
        self.models_changed.emit()
        newest = changed.snapshots[-1]
        if self._live and self._model == changed and self._step < newest and self._go_to(newest):
            self.step_changed.emit()

    def _forget_corpus_job(self, job: Job) -> None:
        if self._corpus_job is job:
            self._corpus_job = None


def _open(cache: ModelCache, path_or_name: str | Path) -> OpenedModel:
    from lmviz.api import find_run

    folder = find_run(path_or_name).resolve()
    run, model = cache.open(folder)
    return OpenedModel(
        folder=folder,
        name=run.description.name or folder.name,
        family=run.description.family,
        snapshots=tuple(run.snapshots()),
        run=run,
        tokenizer=run.tokenizer(),
        context=model.context,
        parameters=model.parameter_count(),
    )
