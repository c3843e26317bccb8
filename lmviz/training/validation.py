"""The loss on the validation text, measured repeatedly on the same excerpts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view

from lmviz.models.model import IGNORED, Model
from lmviz.training.distributed import Team
from lmviz.training.options import TrainingOptions


@dataclass(frozen=True)
class ValidationLoss:
    """Nats per target; and the share of targets that were found likeliest, where that was counted."""

    loss: float
    accuracy: float | None = None


class Validation:
    """Windows of the validation text: all of it when it is short, evenly spread ones when it is not.

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
