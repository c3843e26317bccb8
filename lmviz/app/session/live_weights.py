"""The weights of the model that is being trained, shown while it learns."""

from __future__ import annotations

import time
from pathlib import Path

from lmviz.app.session.library import Library
from lmviz.app.session.work import Failed, Work
from lmviz.app.workers.training_worker import State, TrainingWorker

LIVE_EVERY = 0.5  # seconds between two looks into the model that is being trained, at least
LIVE_AT_LEAST_EVERY = 2.0  # seconds, however slow the machine
SHARE = 0.1  # of a core that looks may take from the training


class LiveWeights:
    """Opens the run of a training with its first snapshot, and follows it from then on.

    `failed` takes the sentence where the current weights could not be shown.
    """

    def __init__(self, work: Work, library: Library, failed: Failed) -> None:
        self._work, self._library, self._failed = work, library, failed
        self._folder: Path | None = None
        self._opening: Path | None = None
        self._asked, self._spent, self._wait = 0.0, 0.0, LIVE_EVERY

    @property
    def is_followed(self) -> bool:
        """Whether the newest weights of the training are what is shown."""
        model = self._library.model
        return self._library.live and model is not None and model.folder == self._folder

    def begin(self, folder: Path) -> None:
        """A training into this folder begins."""
        self._folder, self._asked, self._wait = folder, 0.0, LIVE_EVERY

    def show_snapshots(self, folder: Path) -> None:
        """Make the newest snapshots available, and the model itself when these are its first."""
        if any(model.folder == folder for model in self._library.models):
            self._library.refresh_snapshots(folder)
        elif folder != self._opening:
            self._opening = folder
            self._library.follow_live(True)
            # Those that come while it is being opened are looked for once it is open.
            self._library.open(folder, then=lambda: self._library.refresh_snapshots(folder))

    def update_from(self, worker: TrainingWorker) -> None:
        """While the training is followed, show its current weights, as often as it can bear.

        What the window and the reading thread compute is time that the training does not have: they share
        its interpreter, and often its cores.
        """
        taken = worker.take_state()
        if taken is not None and self.is_followed and taken[0] > self._library.step:
            self._go_live(*taken)
        now = time.monotonic()
        if self.is_followed and now - self._asked > self._wait:
            spent = self._work.seconds_spent
            if self._asked:
                self._wait = next_wait(self._wait, (spent - self._spent) / (now - self._asked))
            self._asked, self._spent = now, spent
            worker.want_state()

    def _go_live(self, step: int, state: State) -> None:
        assert self._folder is not None, "what is followed has a folder"
        self._library.show_live(self._folder, step, state, self._failed)


def next_wait(wait: float, share: float) -> float:
    """Seconds until the next look, where with such a wait looking took such a share of a core."""
    return min(max(LIVE_EVERY, wait * share / SHARE), LIVE_AT_LEAST_EVERY)
