"""The n-gram's learner: training by counting, with steps like any other training.

A step counts the next slice of the text. The model is only recomputed from all counts at some steps,
frequent at first and rarer later, and on request. That is much cheaper than after each slice, and the
model at a step is the same either way.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view

from lmviz.base.errors import LmvizError
from lmviz.models.model import IGNORED, Model
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.model import Ngram
from lmviz.training.controls import Controls
from lmviz.training.distributed import join_team
from lmviz.training.learner import Update
from lmviz.training.loop import recorded
from lmviz.training.observation import CountedOrder, ObservedCount
from lmviz.training.options import TrainingOptions
from lmviz.training.plain_numbers import is_step
from lmviz.training.progress import Progress
from lmviz.training.recorder import Recorder
from lmviz.training.run import Run
from lmviz.training.snapshots import snapshot_steps
from lmviz.training.validation import ValidationLoss

VALIDATION_TOKENS = 200_000
"""How much of the validation text is measured, from its beginning."""


def learn_counts(
    model: Ngram,
    training: np.ndarray,
    validation: np.ndarray,
    options: TrainingOptions,
    run: Run | None,
    *,
    ignored_target: int | None,
    controls: Controls | None = None,
    resume: bool = False,
) -> Generator[Progress, None, None]:
    """Count a text in `options.steps` equal slices; as `loop.learn`, whose promises it keeps.

    `loss` is that of a slice before it is counted, by the last recomputed model. Both losses may
    be infinite: under maximum likelihood unseen n-grams have probability 0. `ignored_target` is START, across
    which no n-gram reaches. Under torchrun every process counts everything, and the first writes.
    """
    controls = controls or Controls()
    team = join_team(torch.device("cpu"))
    learner = CountingLearner(model, training, options, ignored_target)
    recorder = Recorder(run, learner, options, controls, team)
    measured = ValidationText(validation, ignored_target)
    return recorded(learner, recorder, measured, options, controls, team, resume=resume)


class CountingLearner:
    """An n-gram model with what it takes to improve it: the text, and how much of it is counted.

    `step` is the number of slices counted.
    """

    def __init__(
        self, model: Ngram, training: np.ndarray, options: TrainingOptions, ignored_target: int | None
    ) -> None:
        if len(training) < 2:
            raise LmvizError("The training text has fewer than two tokens: choose a longer one.")
        self.step = 0
        self._model = model
        self._training = training
        self._steps = options.steps
        self._ignored = ignored_target
        fits = set(snapshot_steps(options.steps, options.snapshots))
        fits |= set(range(0, options.steps, options.validate_every or options.steps))
        self._fits = sorted(fits)
        self._fit(0)

    @property
    def model(self) -> Ngram:
        """The model of all that is counted so far."""
        if self._fitted != self.step:
            self._fit(self.step)
        return self._model

    def _fit(self, step: int) -> None:
        counted = self._training[: self._end(step)]
        configuration = self._model.configuration
        self._model.fit(
            count_ngrams(counted, configuration.order, self._model.vocabulary_size, self._ignored)
        )
        self._fitted = step

    def _last_fit(self) -> int:
        """The step up to which an undisturbed training would have worked the model out."""
        return self._fits[bisect_right(self._fits, self.step) - 1]

    def _end(self, step: int) -> int:
        return len(self._training) * min(step, self._steps) // self._steps

    def update(self, rate: float, measure: bool = False, observe: bool = False) -> Update:
        """Count the next slice. There is no rate, and nothing to measure about weights."""
        begin, end = self._end(self.step), self._end(self.step + 1)
        loss = mean_loss(self._model, self._training, begin, end, self._ignored)
        self.step += 1
        if self.step == self._last_fit():
            self._fit(self.step)
        observed = self._observe(begin, end, loss) if observe else None
        return Update(loss, None, {}, end - begin, observed)

    def _observe(self, begin: int, end: int, loss: float | None) -> ObservedCount:
        """What was counted in the slice that the last step has read."""
        order = self._model.configuration.order
        return ObservedCount(
            step=self.step,
            ids=self._training[begin:end].copy(),
            begin=begin,
            text_length=len(self._training),
            loss=loss,
            orders=counted_orders(self._training, begin, end, order, self._ignored),
            is_fitted=self._fitted == self.step,
        )

    def check_finite(self) -> None:
        """Counts always are."""

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Everything needed to continue exactly: how far the text is counted."""
        return {}, {"step": self.step}

    def moments(self) -> dict[str, torch.Tensor]:
        """Counts have no moments."""
        return {}

    def load_state(self, tensors: Mapping[str, torch.Tensor], values: Mapping[str, Any]) -> None:
        """Continue from what `state` gave, by counting again up to there; LmvizError when it does not fit."""
        step = values.get("step")
        if not is_step(step):
            raise LmvizError("The saved state of the training has no step: train again in another folder.")
        self.step = step
        self._fit(self._last_fit())


class ValidationText:
    """The beginning of the validation text, read in one piece."""

    def __init__(self, ids: np.ndarray, ignored_target: int | None) -> None:
        self._ids = ids[:VALIDATION_TOKENS]
        self._ignored = ignored_target

    def measure(self, model: Model) -> ValidationLoss | None:
        """Nats per counted target; None where the validation text has none."""
        loss = _loss_of(model, self._ids, 0, self._ignored)
        return None if loss is None else ValidationLoss(loss)


def mean_loss(model: Ngram, ids: np.ndarray, begin: int, end: int, ignored: int | None) -> float | None:
    """Nats per token of ids[begin:end], each given all tokens before it; None if none counts.

    The very first token has nothing before it and does not count.
    """
    begin = max(begin, 1)
    seen = max(0, begin - model.configuration.order)
    return _loss_of(model, ids[seen:end], begin - seen - 1, ignored)


def _loss_of(model: Model, ids: np.ndarray, skipped: int, ignored: int | None) -> float | None:
    """Nats per target in ids, of which the first `skipped` do not count; None where none counts."""
    stretch = torch.from_numpy(ids.astype(np.int64))
    targets = stretch[1:].clone()
    targets[:skipped] = IGNORED
    if ignored is not None:
        targets[targets == ignored] = IGNORED
    counted = int((targets != IGNORED).sum())
    if not counted:
        return None
    return (
        -float(model.log_probabilities(stretch[None, :-1], targets[None]).sum(dtype=torch.float64)) / counted
    )


def counted_orders(
    ids: np.ndarray, begin: int, end: int, order: int, start_id: int | None
) -> tuple[CountedOrder, ...]:
    """The n-grams of each order up to `order` that end in ids[begin:end]; orders without any are left out.

    As in `count_ngrams`, none reaches across `start_id`, which is only ever the first of an n-gram.
    """
    found = []
    for size in range(1, order + 1):
        stretch = ids[max(0, begin - size + 1) : end]
        if len(stretch) < size:
            continue
        ngrams = sliding_window_view(stretch, size)  # (n-gram, token)
        if start_id is not None:
            later = ngrams[:, 1:] if size > 1 else ngrams
            ngrams = ngrams[(later != start_id).all(axis=1)]
        if not len(ngrams):
            continue
        different, times = np.unique(ngrams, axis=0, return_counts=True)
        most = int(times.argmax())
        found.append(
            CountedOrder(
                size, len(ngrams), len(different), tuple(map(int, different[most])), int(times[most])
            )
        )
    return tuple(found)
