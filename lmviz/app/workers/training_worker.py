"""The training thread: runs a generator of progress, and can be paused, stepped and stopped.

Nothing here knows a family, a corpus or a widget.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from lmviz.app.workers.stepped_worker import SteppedWorker
from lmviz.app.workers.threads import lower_priority
from lmviz.training.progress import Progress

if TYPE_CHECKING:
    import torch

    from lmviz.models.model import Model
    from lmviz.runs.preparation import PreparedTraining

State = dict[str, "torch.Tensor"]

LARGEST_LIVE_STATE = 64 * 2**20  # bytes; larger weights are shown from snapshots only
SHARE_FOR_COPIES = 0.05  # of the training's time at most goes into copying weights


class TrainingWorker(SteppedWorker[Progress]):
    """Runs one training in the background, in its own thread.

    `begin` is called in the thread, where torch may be imported and a model be built. The first value
    of its generator is the state before the first step. `steps` is how many steps to take before
    pausing automatically.
    """

    name = "training"

    def __init__(self, begin: Callable[[], PreparedTraining], steps: float = math.inf) -> None:
        super().__init__(steps)
        self._begin = begin
        self._state_wanted = False
        self._next_copy = 0.0
        self._copied_step = -1
        self._state: tuple[int, State] | None = None
        self.has_begun = False

    def want_state(self) -> None:
        """Ask for a copy of the weights after the current step."""
        with self._condition:
            self._state_wanted = True
            self._condition.notify()

    def take_state(self) -> tuple[int, State] | None:
        """The step and the copied weights, once, when there are any."""
        with self._condition:  # or a copy that is just being put there would be lost
            taken, self._state = self._state, None
        return taken

    def step(self) -> None:
        """One step more, then wait."""
        self._allow(1)

    def _run(self) -> None:
        lower_priority()
        try:
            training = self._begin()
            self.has_begun = True
            self._learn(training)
        except BaseException as fault:  # a panic of a Rust library, too, is said in the window
            self.fault = fault

    def _learn(self, training: PreparedTraining) -> None:
        for number, progress in enumerate(training.progress):
            with self._condition:  # who has seen the step and allows another one gets another one
                self._mailbox.append(progress)
                self._allowed -= number > 0
            if progress.is_last or not self._may_go_on(training.model, progress.step):
                break
        training.progress.close()

    def _may_go_on(self, model: Model, step: int) -> bool:
        """Wait while paused, copying the weights when they are wanted; False when it is time to stop."""
        while True:
            self._copy_state(model, step)
            with self._condition:
                if self._stopping:
                    return False
                if self._allowed > 0:
                    return True
                self._condition.wait_for(lambda: self._allowed > 0 or self._stopping or self._state_wanted)

    def _copy_state(self, model: Model, step: int) -> None:
        """Copy the weights when they are wanted, unless training would suffer from it."""
        began = time.monotonic()
        if not self._state_wanted or (began < self._next_copy and not self.is_paused):
            return
        self._state_wanted = False
        if step == self._copied_step:
            return
        self._copied_step = step
        state = model.reading_state(LARGEST_LIVE_STATE)
        if state is not None:
            copied = {name: value.clone() for name, value in state.items()}
            with self._condition:
                self._state = (step, copied)
        ended = time.monotonic()
        self._next_copy = ended + (ended - began) / SHARE_FOR_COPIES
