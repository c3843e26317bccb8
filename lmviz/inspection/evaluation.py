"""How well a model predicts a text: log-likelihood, perplexity, bits per character.

Every token that can be predicted is, once, from as much of the text before it as the model can use: a
recurrence reads the text in one go, and a model with a limited context slides over it in overlapping
windows, so that a token has at least half the context before it, but at the beginning of the text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.errors import LmvizError
from lmviz.models.model import IGNORED, Model

CHUNK = 4096
"""Tokens computed at once."""
OVERLAP = 256
"""Tokens read again before each chunk by a model without a limit that carries no state; the longest
window a configuration allows."""


@dataclass(frozen=True)
class Score:
    """How well a text was predicted.

    `tokens` were predicted, at `negative_log_likelihood` nats per token; the text has `characters`
    under them. An unknown word counts as one token, so scores compare only at equal vocabularies.
    """

    tokens: int
    negative_log_likelihood: float
    characters: int

    @property
    def perplexity(self) -> float:
        """e to the negative log-likelihood: how many equally likely tokens would be as surprising."""
        try:
            return math.exp(self.negative_log_likelihood)
        except OverflowError:
            return math.inf

    @property
    def bits_per_character(self) -> float:
        """The bits in which the model would encode a character of the text on average."""
        if not self.characters:
            return math.nan
        return self.negative_log_likelihood * self.tokens / (math.log(2) * self.characters)


def score_ids(
    model: Model,
    ids: np.ndarray,
    *,
    ignored_target: int | None,
    characters: int,
    progress: Callable[[float], None] | None = None,
) -> Score:
    """The score of ids (token,), each predicted from those before it; START is `ignored_target`.

    `progress` hears of the share that is done, and may raise to cancel. LmvizError when nothing can be
    predicted.
    """
    targets = ids[1:].astype(np.int64)
    if ignored_target is not None:
        targets[targets == ignored_target] = IGNORED
    count = int(np.count_nonzero(targets != IGNORED))
    if not count:
        raise LmvizError(
            "There is nothing to predict in a text of fewer than two tokens: choose a longer one."
        )
    walk = _stream if model.context is None else _windows
    was_training, total = model.training, 0.0
    model.eval()
    try:
        with torch.inference_mode():
            for nats, done in walk(model, ids[:-1].astype(np.int64), targets):
                total += nats
                if progress is not None:
                    progress(done)
    finally:
        model.train(was_training)
    return Score(count, total / count, characters)


def _stream(model: Model, tokens: np.ndarray, targets: np.ndarray) -> Iterator[tuple[float, float]]:
    """Chunk after chunk, a state carried over or the last tokens read again: nats, share that is done."""
    state = None
    for start in range(0, len(tokens), CHUNK):
        end = min(start + CHUNK, len(tokens))
        first = start if state is not None else max(0, start - OVERLAP)
        wanted = targets[first:end].copy()
        wanted[: start - first] = IGNORED
        nats, state = _nats(model, tokens[None, first:end], wanted[None], state)
        yield nats, end / len(tokens)


def _windows(model: Model, tokens: np.ndarray, targets: np.ndarray) -> Iterator[tuple[float, float]]:
    """Windows of the model's context, each half a context after the last, some at a time."""
    width = min(model.context or CHUNK, len(tokens))
    stride = max(1, width // 2)
    starts = np.arange(0, len(tokens) - width + stride, stride).clip(max=len(tokens) - width)
    counted = np.concatenate([[0], starts[:-1] + width])  # (window,), up to where the ones before have gone
    at_once = max(1, CHUNK // width)
    for first in range(0, len(starts), at_once):
        some = slice(first, first + at_once)
        places = starts[some, None] + np.arange(width)  # (window, position)
        wanted = np.where(places >= counted[some, None], targets[places], IGNORED)
        nats, _ = _nats(model, tokens[places], wanted, None)
        yield nats, (first + len(places)) / len(starts)


def _nats(model: Model, tokens: np.ndarray, targets: np.ndarray, state: object) -> tuple[float, object]:
    """The sum of the negative log-likelihoods of targets (row, position), and the state after them."""
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    count = int(np.count_nonzero(targets != IGNORED))
    mean, state = model.loss(torch.from_numpy(tokens).to(device), torch.from_numpy(targets).to(device), state)
    return (float(mean) * count if count else 0.0), state
