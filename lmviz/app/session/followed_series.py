"""The series of checkpoints that are open: looked at again and again, as another program writes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.library import Library
from lmviz.app.session.part import Part
from lmviz.app.session.work import Work
from lmviz.app.workers.series_watch import SeriesLook, SeriesWatch
from lmviz.series.series_run import SeriesRun

if TYPE_CHECKING:
    from lmviz.series.standing import Standing

SAY_EVERY = 1000
"""Milliseconds, while it is said how many seconds old the newest checkpoint is."""


class FollowedSeries(Part):
    """How the trainings of other programs stand, and their new checkpoints as they come.

    Steps that are new are shown by the time slider, and those that are deleted are marked there. The
    neighbours of a step that is shown are read ahead.
    """

    changed = Signal()

    def __init__(self, work: Work, library: Library, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._library = work, library
        self._watch = SeriesWatch(self._take)
        self._standings: dict[Path, Standing] = {}
        self._said = ""
        self._kept: dict[Path, int] = {}
        self._troubles: dict[Path, str] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(SAY_EVERY)
        self._timer.timeout.connect(self._say)
        library.models_changed.connect(self._follow)
        for moved in (library.model_changed, library.step_changed):
            moved.connect(self._read_ahead)
        library.model_changed.connect(self._say)
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

    @property
    def planned(self) -> int:
        """How many steps the shown model will have; 0 where that is not known."""
        standing = self.standing
        return 0 if standing is None or standing.planned is None else standing.planned

    @property
    def keeps_copies(self) -> bool:
        """Whether a copy of each checkpoint of the shown model is kept."""
        model = self._library.model
        return model is not None and model.folder in self._kept

    @property
    def kept_bytes(self) -> int:
        """The room that these copies take; 0 where none are kept, or none yet."""
        model = self._library.model
        return 0 if model is None else self._kept.get(model.folder, 0)

    def keep_copies(self, wanted: bool) -> None:
        """Keep a copy of each checkpoint of the shown model, of those to come as well, or of no more."""
        model = self._library.model
        if model is None or not isinstance(model.run, SeriesRun):
            return
        self._watch.keep(model.folder, wanted)
        if wanted:
            self._kept.setdefault(model.folder, 0)
        else:
            self._kept.pop(model.folder, None)
        self.changed.emit()

    def close(self) -> None:
        """SeriesLook at nothing more."""
        self._timer.stop()
        self._watch.stop()
        if self._watch.is_alive():
            self._work.wait_when_closing(self._watch)

    def _follow(self) -> None:
        """SeriesLook at the series that are open, at once where one has just been opened."""
        runs = {model.folder: model.run for model in self._library.models if isinstance(model.run, SeriesRun)}
        self._standings = {folder: standing for folder, standing in self._standings.items() if folder in runs}
        self._watch.watch(runs)
        if runs and not self._timer.isActive():
            self._timer.start()
        elif not runs:
            self._timer.stop()

    def _take(self, look: SeriesLook) -> None:
        if look.run is None or look.standing is None:
            return  # it was deleted, or cannot be reached: what is known of it stays
        self._standings[look.folder] = look.standing
        if look.kept is not None and self._kept.get(look.folder, look.kept) != look.kept:
            self._kept[look.folder] = look.kept
            self.changed.emit()
        if look.trouble and look.trouble != self._troubles.get(look.folder):
            self.failed.emit(look.trouble)
        self._troubles[look.folder] = look.trouble
        self._library.refresh_snapshots(look.folder, look.run)
        self._say()

    def _say(self) -> None:
        if self.in_words != self._said:
            self._said = self.in_words
            self.changed.emit()

    def _read_ahead(self) -> None:
        model, step = self._library.model, self._library.step
        if model is None or not isinstance(model.run, SeriesRun) or step not in model.snapshots:
            return
        at = model.snapshots.index(step)
        beside = [model.snapshots[place] for place in (at + 1, at - 1) if 0 <= place < len(model.snapshots)]
        self._watch.read_ahead(tuple(model.run.steps[other] for other in beside if other in model.run.steps))
