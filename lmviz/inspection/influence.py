"""How much a prediction depends on each word before it, measured by putting another word in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.inspection.agreement import check_made_by
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.trace import Trace
from lmviz.models.model import Model
from lmviz.models.reading import evaluation, on_device

AT_ONCE = 4_000_000
"""Logits that are computed in one batch."""


@dataclass(frozen=True, eq=False)
class Influence:
    """What replacing words changes in the prediction at `position`.

    `words` are the positions that were replaced one by one, and `replacements` the ids that took their place,
    (word,). `logits` and `probabilities` (word,) are the largest changes of any logit and any probability.
    """

    position: int
    words: tuple[int, ...]
    replacements: np.ndarray
    logits: np.ndarray
    probabilities: np.ndarray


def influence(model: Model, trace: Trace, position: int, words: Sequence[int]) -> Influence:
    """Read the text once for each word with another in its place, and compare with the text as it is.

    The other word is the one that the model thought likeliest there. Both readings are batches of the same
    shape, so that what does not depend on a word stays the same to the last bit. LmvizError where the trace
    was made by another model.
    """
    check_made_by(trace, model)
    changed = ChangedModel(model, trace.interventions) if trace.interventions else model
    ids = np.asarray(trace.ids[: position + 1], dtype=np.int64)
    others = np.array([_other(trace, word) for word in words], dtype=np.int64)
    rows = max(1, AT_ONCE // (len(ids) * model.vocabulary_size))
    logits, probabilities = [], []
    for first in range(0, len(words), rows):
        chosen = list(words[first : first + rows])
        before = np.tile(ids, (len(chosen), 1))  # (word, position)
        after = before.copy()
        after[np.arange(len(chosen)), chosen] = others[first : first + rows]
        old, new = _predicted(changed, before), _predicted(changed, after)
        logits.append(_largest_change(old, new))
        probabilities.append(_largest_change(old.softmax(dim=-1), new.softmax(dim=-1)))
    nothing = np.zeros(0, dtype=np.float32)
    return Influence(
        position,
        tuple(words),
        others,
        np.concatenate(logits or [nothing]),
        np.concatenate(probabilities or [nothing]),
    )


def _other(trace: Trace, word: int) -> int:
    """The likeliest token in the place of a word that is not the word itself."""
    expected = trace["logits"].at(position=max(0, word - 1)).copy()
    expected[trace.ids[word]] = -np.inf
    return int(expected.argmax())


def _predicted(model: Model, ids: np.ndarray) -> torch.Tensor:
    """The logits (row, token) at the last position of ids (row, position)."""
    with evaluation(model) as reader:
        return reader(on_device(model, ids))[:, -1].float().cpu()


def _largest_change(before: torch.Tensor, after: torch.Tensor) -> np.ndarray:
    """Of each row (row, token); what is −∞ before and after has not changed."""
    same = before == after
    return torch.where(same, 0.0, (after - before).abs()).amax(dim=-1).numpy()
