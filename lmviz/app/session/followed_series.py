"""The series of checkpoints that are open: looked at again and again, as another program writes them."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.library import Library
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.part import Part
from lmviz.app.session.work import Work
from lmviz.app.workers.reading_worker import ReadingWorker
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.series.series_run import SeriesRun
    from lmviz.series.standing import Standing
    from lmviz.training.run import Run

LOOK_EVERY = 1000
"""Milliseconds. News is not waited for: network drives tell of none, and files grow unheard."""

AHEAD = ("read the next step ahead", "read the step before ahead")


class FollowedSeries(Part):
    """How the trainings of other programs stand, and their new checkpoints as they come.

    Steps that are new are shown by the time slider, and those that are deleted are marked there. The
    neighbours of a step that is shown are read ahead.
    """

    changed = Signal()
    looked = Signal()
    """It has been looked what there is, whether or not anything has changed."""

    def __init__(self, work: Work, library: Library, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._library = work, library
        self._worker = ReadingWorker("watching a series of checkpoints")
        self._standings: dict[Path, Standing] = {}
        self._said = ""
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY)
        self._timer.timeout.connect(self._look)
        library.models_changed.connect(self._follow)
        library.model_changed.connect(self._say)
        for moved in (library.model_changed, library.step_changed):
            moved.connect(self._read_ahead_soon)
        self._ahead = QTimer(
            self, singleShot=True, interval=0
        )  # after what is asked of the shown step itself
        self._ahead.timeout.connect(self._read_ahead)
        self._follow()

    @property
    def standing(self) -> Standing | None:
        """How the training of the shown model stands; None where it is no series, or not looked at yet."""
        model = self._library.model
        return None if model is None else self._standings.get(model.folder)

    @property
    def is_watching(self) -> bool:
        """Whether more checkpoints of the shown model are to come."""
        standing = self.standing
        return standing is not None and standing.phase() == "watching"

    @property
    def in_words(self) -> str:
        """How the shown training stands: "watching · newest 40 s ago"; "" where it is no series."""
        standing = self.standing
        return "" if standing is None else standing.in_words()

    def close(self) -> None:
        """Look at nothing more."""
        self._timer.stop()
        self._ahead.stop()
        self._worker.stop()
        if self._worker.is_alive():
            self._work.wait_when_closing(self._worker)

    def _series(self) -> tuple[OpenedModel, ...]:
        return tuple(model for model in self._library.models if is_series(model.run))

    def _follow(self) -> None:
        """Look at the series that are open, at once where one has just been opened."""
        folders = {model.folder for model in self._series()}
        self._standings = {
            folder: standing for folder, standing in self._standings.items() if folder in folders
        }
        if folders and not self._timer.isActive():
            self._worker.start()
            self._timer.start()
            self._look()
        elif not folders:
            self._timer.stop()

    def _look(self) -> None:
        for model in self._series():
            key = str(model.folder)
            if not self._worker.is_busy(key):  # its folder may be slow
                look = functools.partial(_look_again, model.run, self._standings.get(model.folder))
                take = functools.partial(self._take, model.folder)
                self._worker.ask(key, look, take, lambda fault: None)
        self._say()

    def _take(self, folder: Path, found: tuple[SeriesRun, Standing] | None) -> None:
        if found is not None:  # else it has been deleted, or cannot be reached: what is known of it stays
            run, self._standings[folder] = found
            self._library.refresh_snapshots(folder, run)
            self._say()
        self.looked.emit()

    def _say(self) -> None:
        if self.in_words != self._said:
            self._said = self.in_words
            self.changed.emit()

    def _read_ahead_soon(self) -> None:
        model = self._library.model
        if model is not None and is_series(model.run):
            self._ahead.start()

    def _read_ahead(self) -> None:
        model, step, cache = self._library.model, self._library.step, self._work.cache
        if model is None or not is_series(model.run) or step not in model.snapshots:
            return
        at = model.snapshots.index(step)
        for key, place in zip(AHEAD, (at + 1, at - 1), strict=True):
            self._work.silence(key)
            if 0 <= place < len(model.snapshots):
                read = functools.partial(cache.read_ahead, model.folder, model.snapshots[place])
                # What cannot be read is said once it is to be shown.
                self._work.ask(key, read, lambda _: None, lambda sentence: None)


def is_series(run: Run) -> bool:
    """Whether a run is a series of another program."""
    return run.was_trained_elsewhere and run.has_steps


def _look_again(run: Run, known: Standing | None) -> tuple[SeriesRun, Standing] | None:
    """The series as it is now; None where nothing of it is left."""
    from lmviz.series.series_run import SeriesRun
    from lmviz.series.standing import standing_of

    assert isinstance(run, SeriesRun)
    try:
        now = run.again()
    except LmvizError:
        return None
    standing = known if now is run and known is not None else standing_of(now.steps)
    return None if standing is None else (now, standing)
