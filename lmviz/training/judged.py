"""What a model expects at each place of a document that `evaluate` judges, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from lmviz.models.interruption import look_up
from lmviz.models.model import Model
from lmviz.models.reading import evaluation, on_device
from lmviz.training.evaluation import LOGITS, POSITIONS, overlapping


def judged_predictions(model: Model, ids: np.ndarray) -> Iterator[tuple[torch.Tensor, np.ndarray]]:
    """Log-probabilities (place, token) in nats, and the ids (place,) that really follow.

    Piece by piece, they are about all ids of a document but its first, each once, and with the same text
    before it as in `evaluate_ids`.
    """
    at_once = max(1, min(POSITIONS, LOGITS // model.vocabulary_size))
    with evaluation(model) as reader:
        for logits, targets in _read(reader, np.asarray(ids), at_once):
            look_up()
            for first in range(0, len(targets), at_once):
                piece = slice(first, first + at_once)
                yield logits[piece].float().log_softmax(dim=-1), targets[piece]


def _read(model: Model, ids: np.ndarray, at_once: int) -> Iterator[tuple[torch.Tensor, np.ndarray]]:
    if len(ids) < 2:
        return
    if not model.reads_alone and model.context is None:
        yield from _carried(model, ids, at_once)
        return
    for window in overlapping(ids, model.context or len(ids)):
        yield model(on_device(model, window.ids[:-1]))[0, window.first :], window.ids[1 + window.first :]


def _carried(model: Model, ids: np.ndarray, at_once: int) -> Iterator[tuple[torch.Tensor, np.ndarray]]:
    """Pieces of a document one after the other, with what the model has to know of those before."""
    state = None
    before = 0 if next(model.parameters(), None) is not None else model.sight or 0
    for first in range(0, len(ids) - 1, at_once):
        end = min(first + at_once, len(ids) - 1)
        begun = max(0, first - before)
        logits, state = model.advance(on_device(model, ids[begun:end]), state)
        yield logits[0, first - begun :], ids[first + 1 : end + 1]
