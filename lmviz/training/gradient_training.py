"""Training by gradients, as a generator that yields progress after each step."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from lmviz.models.model import Model
from lmviz.text.examples import Examples
from lmviz.training.batching import validation_of
from lmviz.training.beside import TextsBeside, WithBeside
from lmviz.training.controls import Controls
from lmviz.training.devices import choose_device
from lmviz.training.distributed import join_team
from lmviz.training.learner import GradientLearner
from lmviz.training.loop import recorded
from lmviz.training.options import TrainingOptions
from lmviz.training.piece_validation import PieceValidation
from lmviz.training.progress import Progress
from lmviz.training.recorder import Recorder
from lmviz.training.run import Run
from lmviz.training.validation import StreamValidation, Validation
from lmviz.training.watching import Watch, WatchedWord


def learn(
    model: Model,
    training: np.ndarray | Examples,
    validation: np.ndarray | Examples,
    options: TrainingOptions,
    run: Run | None,
    *,
    ignored_target: int | None,
    controls: Controls | None = None,
    resume: bool = False,
    beside: TextsBeside | None = None,
    watched: WatchedWord | None = None,
) -> Generator[Progress, None, None]:
    """Train a model by gradients; yields the state before the first update and after each one.

    `training` and `validation` are flat token ids, of which targets equal to `ignored_target` do not count,
    or the examples of a task. The texts `beside` are measured when the validation text is. Whenever the word
    `watched` moves, a snapshot is kept. The last value is `finished`, or its `trouble` says why it is the
    last. Closing the generator, or `controls.stop`, leaves a run from which `resume` continues bit for bit on
    the same machine.

    Under torchrun every process calls this alike, and with the run when resuming; there only
    `controls.stop` saves, as processes that are closed would have to be at the same step.

    Raises LmvizError when options, text and model do not fit one another, before anything is written; the
    first state does when the run does not fit them, or while something else trains into it, and closing
    when the disk is full. torch's own random numbers are seeded anew
    at each step, so that dropout depends on nothing but seed and step.
    """
    controls = controls or Controls()
    device = choose_device(options.device)
    team = join_team(device)
    learner = GradientLearner(
        model, training, options, ignored_target=ignored_target, device=device, team=team
    )
    measured = validation_of(
        model, validation, options, length=learner.length, ignored_target=ignored_target, team=team
    )
    measures: Validation | StreamValidation | PieceValidation | WithBeside = measured
    if beside is not None and beside.rows:
        measures = WithBeside(measured, beside, options.batch)
    recorder = Recorder(run, learner, options, controls, team, None if watched is None else Watch(watched))
    return recorded(learner, recorder, measures, options, controls, team, resume=resume)
