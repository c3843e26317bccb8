"""The training loop, the same for every kind of learner."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Protocol

from lmviz.models.model import Model
from lmviz.training.controls import Controls
from lmviz.training.distributed import Team
from lmviz.training.learner import Learner, NotFinite
from lmviz.training.lock import BeingTrained
from lmviz.training.options import TrainingOptions
from lmviz.training.progress import Clock, Progress
from lmviz.training.recorder import Recorder
from lmviz.training.schedules import learning_rate
from lmviz.training.validation import ValidationLoss
from lmviz.training.writing import NotWritten

MEASURE_SECONDS = 1.0
"""How often it is measured how far updates move the weights, which costs a copy of them."""


def _with(progress: Progress, measured: ValidationLoss | None) -> Progress:
    """The progress with what was just measured."""
    if measured is None:
        return progress
    return replace(
        progress,
        validation_loss=None if math.isnan(measured.loss) else measured.loss,
        validation_accuracy=measured.accuracy,
        own_loss=measured.further.get("own"),
        second_loss=measured.further.get("second"),
    )


class Measure(Protocol):
    """Measures how well a model predicts a text."""

    def measure(self, model: Model) -> ValidationLoss | None:
        """How well the model answers; None where there is nothing to measure it with."""


def recorded(
    learner: Learner,
    recorder: Recorder,
    validation: Measure,
    options: TrainingOptions,
    controls: Controls,
    team: Team,
    *,
    resume: bool,
) -> Generator[Progress, None, None]:
    """A whole training, its run held from the first state to the last; see Recorder.begin, TrainingLoop."""
    with recorder.holding():
        recorder.begin(resume)
        yield from TrainingLoop(learner, recorder, validation, options, controls, team).progress()


class TrainingLoop:
    """One training: update, measure, record, report."""

    def __init__(
        self,
        learner: Learner,
        recorder: Recorder,
        validation: Measure,
        options: TrainingOptions,
        controls: Controls,
        team: Team,
    ) -> None:
        self._learner = learner
        self._recorder = recorder
        self._validation = validation
        self._options = options
        self._controls = controls
        self._team = team
        self._clock = Clock(recorder.seconds)
        self._measured = -math.inf

    def progress(self) -> Iterator[Progress]:
        """Yield every state. Closed before the last one, it saves the state that there is.

        In a team nothing is saved then: the others would have to be closed at the same step.
        """
        try:
            last = yield from self._steps()
        except GeneratorExit:
            if self._team.size == 1:
                self._save()
            raise
        yield last

    def _steps(self) -> Generator[Progress, None, Progress]:
        """Yield every state but the last, which is returned."""
        self._clock.start()
        progress = self._begin()
        while not progress.is_last:
            self._clock.pause()
            yield progress
            self._clock.start()
            [stop] = self._team.any(self._controls.stop)
            progress = self._stop(progress) if stop else self._advance(progress)
        self._clock.pause()
        return progress

    def _save(self) -> bool:
        """Save this very state, and say whether it was worth saving. Raises NotWritten."""
        try:
            self._recorder.snapshot(last=True)
            self._recorder.save(self._clock.elapsed)
        except NotFinite:
            return False
        return True

    def _begin(self) -> Progress:
        step = self._learner.step
        finished = step >= self._options.steps
        measured = self._validation.measure(self._learner.model) if step == 0 else None
        progress = Progress(
            step=step,
            steps=self._options.steps,
            seconds=self._clock.elapsed,
            finished=finished,
        )
        progress = _with(progress, measured)
        return self._record(progress) if step == 0 else progress

    def _rate(self) -> float:
        """The rate of the next update."""
        chosen = self._controls.learning_rate
        return learning_rate(self._learner.step + 1, self._options) if chosen is None else chosen

    def _advance(self, before: Progress) -> Progress:
        rate = self._rate()
        measure = self._clock.elapsed - self._measured > MEASURE_SECONDS
        began = time.perf_counter()
        try:
            update = self._learner.update(rate, measure, self._controls.observe)
        except NotFinite as trouble:
            return self._pause(before, trouble, before.step + 1)
        self._clock.step(update.tokens, time.perf_counter() - began)
        if measure:
            self._measured = self._clock.elapsed
        step, steps = self._learner.step, self._options.steps
        finished = step >= steps
        every = self._options.validate_every
        validates = finished or (every > 0 and step % every == 0)
        measured = self._validation.measure(self._learner.model) if validates else None
        progress = Progress(
            step=step,
            steps=steps,
            loss=update.loss,
            learning_rate=None if update.gradient_norm is None else rate,
            gradient_norm=update.gradient_norm,
            update_ratios=update.update_ratios,
            tokens_per_second=self._clock.tokens_per_second,
            seconds=self._clock.elapsed,
            seconds_left=self._clock.seconds_left(steps - step),
            finished=finished,
            observed=update.observed,
        )
        return self._record(_with(progress, measured))

    def _record(self, progress: Progress) -> Progress:
        """Record what is due; the progress, with what was written."""
        finished = progress.is_last
        try:
            progress = self._recorder.watched(progress)
            if finished or progress.watched_moved or self._recorder.is_planned(progress.step):
                progress = replace(progress, snapshot=self._recorder.snapshot(last=finished))
                self._recorder.kept(progress)
            self._recorder.note(progress)
            [save] = self._team.any(finished or self._recorder.save_due())
            if save:
                self._recorder.save(self._clock.elapsed)
        except (NotWritten, NotFinite, BeingTrained) as trouble:
            return self._pause(progress, trouble)
        return progress

    def _stop(self, progress: Progress) -> Progress:
        try:
            kept = self._save()
        except (NotWritten, BeingTrained) as trouble:
            return self._pause(progress, trouble)
        how = "it can be resumed" if kept else "its weights are beyond use, so resume from the saved state"
        return replace(progress, trouble=f"The training was stopped after step {progress.step}; {how}.")

    def _pause(
        self, progress: Progress, trouble: NotWritten | NotFinite | BeingTrained, failed: int | None = None
    ) -> Progress:
        """The final progress of a training that cannot continue, for step `failed` was not finite."""
        if not isinstance(trouble, NotFinite) and self._team.size > 1:
            raise trouble  # the other processes wait in vain for this one
        if isinstance(trouble, NotFinite):
            self._recorder.note_divergence(progress.step if failed is None else failed)
            self._recorder.recover()
        return replace(
            progress,
            step=self._learner.step,
            seconds=self._clock.elapsed,
            trouble=str(trouble),
            has_diverged=isinstance(trouble, NotFinite),
        )
