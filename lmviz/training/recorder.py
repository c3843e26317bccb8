"""Writes a training's metrics, snapshots and resumable state into its run."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from lmviz.base.errors import LmvizError, SettingError
from lmviz.training.controls import Controls
from lmviz.training.distributed import Team
from lmviz.training.learner import WEIGHTS, Learner, NotFinite
from lmviz.training.lock import Hold, holding
from lmviz.training.options import FIXED, TrainingOptions
from lmviz.training.plain_numbers import finite_number
from lmviz.training.progress import Progress
from lmviz.training.run import MEGABYTE, Run
from lmviz.training.snapshots import snapshot_steps, state_bytes
from lmviz.training.watching import MOST_KEPT, Watch
from lmviz.training.writing import NotWritten

LINES = 10_000
"""About how many lines of metrics a training leaves."""

FLUSH_SECONDS = 1.0
"""How long metrics wait to be appended together."""

SAVE_SECONDS = 5.0
"""The least time between two saved states when snapshots follow one another quickly."""


class Recorder:
    """Writes a training down; without a run, and in all processes but the first, it writes nothing."""

    def __init__(
        self,
        run: Run | None,
        learner: Learner,
        options: TrainingOptions,
        controls: Controls,
        team: Team,
        watch: Watch | None = None,
    ) -> None:
        self.seconds = 0.0
        self._run = run
        self._writes = run is not None and team.is_first
        self._learner = learner
        self._options = options
        self._controls = controls
        self._team = team
        self._watch = watch
        self._size = max(1, state_bytes(learner.model.state(), options.snapshot_precision))
        self._affordable = int(options.snapshot_megabytes * MEGABYTE)
        affordable = self._affordable // self._size
        if watch is not None:
            affordable -= min(MOST_KEPT, affordable // 3)
        count = max(2, min(options.snapshots, affordable))
        self._planned = frozenset(snapshot_steps(options.steps, count))
        self._lines_every = math.ceil(options.steps / LINES)
        self._lines: list[dict[str, object]] = []
        self._hold: Hold | None = None
        self._flushed = self._saved = -math.inf

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Hold the run, so that nothing else trains into it meanwhile; see lock.holding."""
        if self._run is None or not self._writes:
            yield
            return
        with holding(self._run.folder) as self._hold:
            yield

    def _make_sure(self) -> None:
        """Before something is written: the run is still held, and what tells others of it is there."""
        if self._run is not None and self._hold is not None:
            self._hold.renew()
            self._run.write_missing()

    def begin(self, resume: bool) -> None:
        """Start an empty run, or continue where it stopped; LmvizError when neither is possible."""
        run = self._run
        if run is not None and (run.is_resumable or any(step > 0 for step in run.snapshots())):
            if not resume:
                raise LmvizError(f"{run.folder} already holds a training: resume it, or choose another one.")
            self._check_options(run)
            self.restore()
        elif run is not None and self._writes and not resume:
            run.check_own()
        self._team.wait()  # until no process reads any more
        if run is not None and self._writes:
            run.remember_files()
            run.rewind(self._learner.step or -1)
            if self._watch is not None and self._learner.step:
                self._watch.restore(run.metrics(), run.snapshots())
            if dict(run.description.training) != self._options.to_values():
                run.change_training(self._options.to_values())

    def _check_options(self, run: Run) -> None:
        earlier, now = run.description.training, self._options.to_values()
        for name in FIXED:
            if earlier.get(name, now[name]) != now[name]:
                raise LmvizError(
                    f"{name} cannot change from {earlier[name]} to {now[name]} when a training is resumed: "
                    "keep it, or start another run."
                )

    def restore(self) -> None:
        """Take the learner back to the saved state; LmvizError when there is none that fits."""
        assert self._run is not None
        tensors, values = self._run.load_resume()
        self._learner.load_state(tensors, values)
        seconds, rate = finite_number(values.get("seconds")), finite_number(values.get("learning_rate"))
        self.seconds = max(0.0, seconds or 0.0)
        if self._controls.learning_rate is None and rate is not None:
            with suppress(SettingError):  # one that no training can have had: the schedule's is as good
                self._controls.learning_rate = rate

    def is_planned(self, step: int) -> bool:
        """Whether a snapshot of this step belongs to the plan."""
        return step in self._planned

    def watched(self, progress: Progress) -> Progress:
        """The progress with how likely the watched word is now, and whether a snapshot is due for it."""
        if self._watch is None:
            return progress
        probability = self._watch.probability(self._learner.model)
        [moved] = self._team.any(self._watch.has_moved(probability))
        return replace(progress, watched=probability, watched_moved=moved)

    def kept(self, progress: Progress) -> None:
        """Remember how likely the watched word is at a snapshot that was written now."""
        if self._watch is not None:
            self._watch.keep(progress.step, progress.watched, progress.watched_moved)
            self._thin()

    def save_due(self) -> bool:
        """Whether it is time to save the state, in the opinion of the process that writes."""
        if not self._writes:
            return False
        since = time.monotonic() - self._saved
        return since > self._options.resume_seconds or (
            since > SAVE_SECONDS and self.is_planned(self._learner.step)
        )

    def note(self, progress: Progress) -> None:
        """Add to the metrics; raises NotWritten when the disk is full."""
        if not self._writes or (progress.step == 0 and progress.validation_loss is None):
            return
        measured = progress.validation_loss is not None
        if measured or progress.is_last or progress.watched_moved or progress.step % self._lines_every == 0:
            self._lines.append(progress.metrics())
        if time.monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def note_divergence(self, step: int) -> None:
        """Add a step whose loss, gradient or weights were not finite: a last line without a loss says so."""
        if self._writes:
            self._lines.append({"step": step})

    def flush(self) -> None:
        """Append the metrics that wait; raises NotWritten."""
        if self._run is not None and self._lines:
            self._make_sure()
            self._run.append_metrics(self._lines)
            self._lines = []
        self._flushed = time.monotonic()

    def snapshot(self, last: bool = False) -> int | None:
        """Write a snapshot of this step, if there is none yet, and return the step.

        Raises NotWritten when the disk is full, NotFinite when the weights are not worth keeping.
        """
        step = self._learner.step
        if self._writes or self._team.size > 1:
            self._learner.check_finite()  # in every process, as none goes on alone
        if self._run is None or not self._writes or step in self._run.snapshots():
            return None
        self._make_sure()
        precision = "full" if last else self._options.snapshot_precision
        self._run.save_snapshot(step, self._learner.model.state(), precision)
        self._keep_memory(step)
        if moments := self._learner.moments():
            self._run.save_moments(step, moments)
        if self._watch is None or last:
            self._thin()  # otherwise when it is known for what it was kept
        return step

    def _thin(self) -> None:
        """Let no more snapshots be kept than were asked for, and as many again as a watched word takes."""
        if self._run is None or not self._writes:
            return
        spared = frozenset[int]() if self._watch is None else self._watch.kept
        self._run.thin_snapshots(self._options.snapshots, self._options.snapshot_megabytes, spared)

    def _keep_memory(self, step: int) -> None:
        """Keep what else it takes to go on from a snapshot, where there is room for as much of each.

        A team would have to ask at the same step, and weights that are kept in fewer bits are others.
        """
        if self._run is None or self._team.size > 1 or self._options.snapshot_precision != "full":
            return
        state, values = self._learner.state()
        memory = {name: tensor for name, tensor in state.items() if not name.startswith(WEIGHTS)}
        rate = self._controls.learning_rate
        if not memory and rate is None:
            return
        size = self._size + sum(tensor.nbytes for tensor in memory.values())
        if size * len(self._planned) <= self._affordable:
            self._run.save_memory(step, memory, values | {"learning_rate": rate})

    def save(self, seconds: float) -> None:
        """Write what it takes to resume from this step; in a team, every process calls it.

        Raises NotWritten when the disk is full, NotFinite when there is nothing good to resume from.
        """
        if self._run is None and self._team.size == 1:
            return
        self._learner.check_finite()
        tensors, values = self._learner.state()
        if self._run is not None and self._writes:
            self._make_sure()
            self.flush()
            rate = self._controls.learning_rate
            self._run.save_resume(tensors, values | {"seconds": seconds, "learning_rate": rate})
        self._saved = time.monotonic()

    def recover(self) -> None:
        """After trouble: let no metrics wait, and take weights that are beyond use back to the saved ones."""
        with suppress(NotWritten):
            self.flush()
        try:
            self._learner.check_finite()
        except NotFinite:
            if self._run is not None and self._run.is_resumable:
                self.restore()
