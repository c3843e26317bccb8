"""The common base of models that look up probabilities in tables."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch

from lmviz.models.model import IGNORED, Model
from lmviz.models.ngram.level import NgramIndex


class TablesOfOrder(Protocol):
    """One order of the tables; `totals` (context,) is 0 exactly where nothing follows a context."""

    @property
    def totals(self) -> np.ndarray: ...


class Tables(Protocol):
    """Probabilities of n-grams; `index` finds the n-grams, `start_id` is never predicted.

    `levels` are those of the orders from 1 upwards.
    """

    @property
    def levels(self) -> Sequence[TablesOfOrder]: ...

    @property
    def index(self) -> NgramIndex: ...

    @property
    def order(self) -> int: ...

    @property
    def start_id(self) -> int | None: ...

    def probabilities_of(self, tokens: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The probability of each target (batch, position) after the tokens up to its position."""

    def distributions(self, tokens: np.ndarray) -> np.ndarray:
        """The distribution of the next token at every position, (batch, position, token) float32."""


class LookupModel(Model, ABC):
    """Predicts from `tables`; works on the CPU, whatever the device of its tokens."""

    tables: Tables

    @property
    def sight(self) -> int:
        """See Model: the tokens of the longest context."""
        return self.tables.order - 1

    def holders(self) -> tuple[object, ...]:
        return (self.tables,)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Natural log-probabilities (batch, position, token), -inf for what cannot come."""
        distributions = self.tables.distributions(_numpy(tokens))
        return torch.from_numpy(distributions).log_().to(tokens.device)

    def advance(self, tokens: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, Any]:
        """Logits, and the last order - 1 tokens, which are all the state there is."""
        known = 0 if state is None else state.shape[1]
        history = tokens if state is None else torch.cat((state, tokens), dim=1)
        remembered = history[:, max(0, history.shape[1] - self.tables.order + 1) :]
        return self(history)[:, known:], remembered

    def loss(
        self,
        tokens: torch.Tensor,
        targets: torch.Tensor,
        state: Any = None,
        lengths: torch.Tensor | None = None,
        *,
        smoothing: float = 0.0,
    ) -> tuple[torch.Tensor, Any]:
        """Mean negative log-likelihood in nats over targets that are not IGNORED; it may be infinite.

        Nothing is learned by gradients, so nothing is smoothed.
        """
        losses = -self.log_probabilities(tokens, targets)
        return losses.sum() / (targets != IGNORED).sum(), None

    def log_probabilities(
        self, tokens: torch.Tensor, targets: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Natural log-probability of each target, (batch, position); IGNORED targets give 0.

        Only what is asked for is looked up, so that a long text with a large vocabulary takes no longer.
        """
        wanted = _numpy(targets)
        counted = wanted != IGNORED
        probabilities = self.tables.probabilities_of(_numpy(tokens), np.where(counted, wanted, 0))
        logarithms = torch.from_numpy(np.where(counted, probabilities, 1.0)).log_()
        return logarithms.float().to(tokens.device)


def _numpy(tokens: torch.Tensor) -> np.ndarray:
    return tokens.detach().cpu().numpy().astype(np.int64)
