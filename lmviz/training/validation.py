"""The loss on the validation text, measured repeatedly on the same windows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view

from lmviz.models.interruption import look_up
from lmviz.models.model import IGNORED, Model
from lmviz.training.distributed import Team
from lmviz.training.options import TrainingOptions


@dataclass(frozen=True)
class ValidationLoss:
    """Nats per target; and the share of targets that were found likeliest, where that was counted.

    `further` are the nats per token of texts that are measured beside, by their names.
    """

    loss: float
    accuracy: float | None = None
    further: Mapping[str, float] = field(default_factory=dict)


class Validation:
    """Excerpts of the validation text: all of it when it is short, evenly spread ones when it is not.

    Each excerpt is read without the text before it. The processes of a team share the excerpts.
    """

    def __init__(
        self,
        ids: np.ndarray,
        length: int,
        options: TrainingOptions,
        *,
        ignored_target: int | None,
        team: Team,
    ) -> None:
        self._ids = ids
        self._ignored = ignored_target
        self._team = team
        batch = options.batch * team.size
        windows = options.validation_batches * batch
        targets = max(0, len(ids) - 1)
        if targets <= windows * length:
            starts = np.arange(0, targets - length + 1, length)
            rest = targets % length
        else:
            starts = np.linspace(0, targets - length, windows).round().astype(np.int64)
            rest = 0
        self._parts = [(starts[at : at + batch], length) for at in range(0, len(starts), batch)]
        if rest:
            self._parts.append((np.array([targets - rest]), rest))

    def measure(self, model: Model) -> ValidationLoss | None:
        """Nats per counted target; None where the validation text has none.

        The model is left in the mode, training or not, in which it was.
        """
        device = next(model.parameters()).device
        total = torch.zeros(2, dtype=torch.float64)  # log-probability, counted targets
        was_training = model.training
        model.eval()
        with torch.no_grad():
            for starts, length in self._parts[self._team.rank :: self._team.size]:
                look_up()  # a rehearsal that nobody waits for ends here
                tokens, targets = self._windows(starts, length)
                values = model.log_probabilities(tokens.to(device), targets.to(device))
                total[0] += values.cpu().sum(dtype=torch.float64)
                total[1] += (targets != IGNORED).sum()
        model.train(was_training)
        log_probability, counted = self._team.sum(total).tolist()
        return ValidationLoss(-log_probability / counted) if counted else None

    def _windows(self, starts: np.ndarray, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens and targets, each (window, position)."""
        windows = torch.from_numpy(sliding_window_view(self._ids, length + 1)[starts].astype(np.int64))
        targets = windows[:, 1:]
        if self._ignored is not None:
            targets = torch.where(targets == self._ignored, IGNORED, targets)
        return windows[:, :-1], targets


class StreamValidation:
    """The validation text in parallel streams, each read window by window with the state carried over.

    As many windows are read of each as `validation_batches`, and there are no more streams than it takes to
    read all of a short text. The processes of a team share the streams.
    """

    def __init__(
        self,
        ids: np.ndarray,
        length: int,
        options: TrainingOptions,
        *,
        ignored_target: int | None,
        team: Team,
    ) -> None:
        self._ignored = ignored_target
        self._team = team
        targets, longest = max(0, len(ids) - 1), options.validation_batches * length
        rows = min(options.batch * team.size, -(-targets // longest))
        span = targets // max(1, rows)
        own = np.array_split(np.arange(rows) * span, team.size)[team.rank]
        read = min(span, longest)
        self._streams = ids[own[:, None] + np.arange(read + 1)].astype(np.int64)  # (stream, position + 1)
        self._parts = [(at, min(at + length, read)) for at in range(0, read, length)] if len(own) else []

    def measure(self, model: Model) -> ValidationLoss | None:
        """Nats per counted target; None where the validation text has none.

        The model is left in the mode, training or not, in which it was.
        """
        device = next(model.parameters()).device
        total = torch.zeros(2, dtype=torch.float64)  # nats, counted targets
        was_training, carried = model.training, None
        model.eval()
        with torch.no_grad():
            for start, end in self._parts:
                look_up()
                windows = torch.from_numpy(self._streams[:, start : end + 1])
                targets = windows[:, 1:]
                if self._ignored is not None:
                    targets = torch.where(targets == self._ignored, IGNORED, targets)
                loss, carried = model.loss(windows[:, :-1].to(device), targets.to(device), carried)
                counted = int((targets != IGNORED).sum())
                if counted:  # else the mean is 0 / 0
                    total += torch.tensor([float(loss) * counted, counted], dtype=torch.float64)
        model.train(was_training)
        nats, counts = self._team.sum(total).tolist()
        return ValidationLoss(nats / counts) if counts else None
