"""Evaluates a model on held-out text: the loss of every token that can be predicted, each counted once.

A model without a limited context reads each document from start to end with its state carried over. One
with a limited context reads windows that overlap by half; a token counts in the window that shows at
least half a context before it. Documents of similar length are read in one batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard
from lmviz.looks.shown import Shown
from lmviz.models.finite import check_score
from lmviz.models.float64 import in_float64
from lmviz.models.model import IGNORED, Model
from lmviz.models.reading import evaluation

POSITIONS = 2**14
"""How many positions a neural model computes at once, at most."""

LOGITS = 2**24
"""How many logits are held at once, at most; with large vocabularies this is the tighter limit."""

LOOKED_UP = 2**22
"""How many positions a model that looks its numbers up is asked for at once, unless one text is longer."""

SIDE_BY_SIDE = 64
"""The most documents that a state is carried through at once."""


@dataclass(frozen=True, repr=False)
class Evaluation(Shown):
    """How well a text was predicted.

    `tokens` were judged, at `negative_log_likelihood` nats each on average; `perplexity` is e to that
    power. `unknown` of the tokens stood for words that the vocabulary lacks: to those two figures each is
    one token, ⟨unknown⟩, whatever the word, so they compare models of the same vocabulary alone. Of the other
    tokens alone, `known_negative_log_likelihood` is the mean, and `known_perplexity` e to that power: the ppl
    of SRILM, which KenLM calls perplexity excluding OOVs. Both are None where every token is unknown.
    `bits_per_character` compares models of different tokens, for it includes what it takes to spell the
    unknown words out; it is None where the number of characters is not known.
    """

    tokens: int
    negative_log_likelihood: float
    perplexity: float
    bits_per_character: float | None
    unknown: int = 0
    known_negative_log_likelihood: float | None = None

    @property
    def known_perplexity(self) -> float | None:
        """The perplexity of the tokens that the vocabulary has; None where there are none."""
        mean = self.known_negative_log_likelihood
        return None if mean is None else perplexity_from(mean)

    @property
    def unknown_share(self) -> float:
        """The share of the judged tokens that stood for unknown words, between 0 and 1."""
        return self.unknown / self.tokens


@dataclass(frozen=True)
class JudgedWindow:
    """Neighbouring ids of a document; the targets from position `first` on are judged here.

    It begins at the token `start` of the document of that `number`, and `read` tokens were read before it.
    """

    ids: np.ndarray
    first: int
    number: int = 0
    start: int = 0
    read: int = 0


@dataclass(frozen=True, eq=False)
class JudgedPart:
    """The log-probabilities of targets, (row, position), 0 where none counts; and the windows of the rows."""

    values: torch.Tensor
    targets: np.ndarray
    windows: Sequence[JudgedWindow]


def evaluate_ids(
    model: Model,
    documents: Iterable[np.ndarray],
    ignored_target: int | None,
    *,
    characters: int | None = None,
    unknown_id: int | None = None,
    spelling: float = 0.0,
    progress: Report = unheard,
) -> Evaluation:
    """Judge every token of each document but its first, except those equal to `ignored_target`.

    A document is a flat array of ids, with START in front where the model knows one. `characters` is
    the number of characters of the judged tokens, and `spelling` the nats that it takes to spell out
    those of them that are `unknown_id` (see lmviz.text.spelling). `progress` is called with the share that
    is done, and may raise to cancel. Raises LmvizError when no token can be judged.
    """
    total, of_known, counted, unknown = 0.0, 0.0, 0, 0
    for part in judged_parts(model, documents, ignored_target, progress):
        values, targets = part.values, part.targets
        total += float(in_float64(values).sum())
        of_known += _sum_of_known(values, targets, unknown_id)
        counted += int(np.count_nonzero(targets != IGNORED))
        unknown += 0 if unknown_id is None else int(np.count_nonzero(targets == unknown_id))
    if not counted:
        raise LmvizError("There is no token to predict in a text of fewer than two: choose a longer text.")
    mean = -total / counted
    check_score(model, mean)
    return Evaluation(
        tokens=counted,
        negative_log_likelihood=mean,
        perplexity=perplexity_from(mean),
        bits_per_character=(spelling - total) / math.log(2) / characters if characters else None,
        unknown=unknown,
        known_negative_log_likelihood=-of_known / (counted - unknown) if counted > unknown else None,
    )


def judged_parts(
    model: Model, documents: Iterable[np.ndarray], ignored_target: int | None, progress: Report = unheard
) -> Iterator[JudgedPart]:
    """The log-probability of every token of documents that `evaluate_ids` judges, part by part.

    Each is in one part. The documents come in the order of their lengths, the longest first.
    """
    numbered = [(number, ids) for number, ids in enumerate(documents) if len(ids) > 1]
    longest_first = sorted(numbered, key=lambda pair: -len(pair[1]))
    everything, done = sum(len(ids) - 1 for _, ids in longest_first), 0
    with evaluation(model) as reader:
        for part in _parts(reader, longest_first, ignored_target):
            yield part
            done += part.targets.size
            progress(min(1.0, done / everything))


def perplexity_from(mean: float) -> float:
    """e to the power of a mean of nats; infinite where that is no float."""
    return math.exp(mean) if mean < 700 else math.inf


def _sum_of_known(values: torch.Tensor, targets: np.ndarray, unknown_id: int | None) -> float:
    """The summed log-probability of the targets that are not unknown, which may have none at all."""
    if unknown_id is None or not (targets == unknown_id).any():
        return float(in_float64(values).sum())
    return float(in_float64(values)[torch.from_numpy(targets != unknown_id)].sum())


def _parts(
    model: Model, documents: Sequence[tuple[int, np.ndarray]], ignored_target: int | None
) -> Iterator[JudgedPart]:
    at_once = max(1, min(POSITIONS, LOGITS // model.vocabulary_size))
    if model.reads_alone:
        windows = (
            window
            for number, ids in documents
            for window in overlapping(ids, model.context or len(ids), number)
        )
        yield from _apart(model, windows, 1, ignored_target)
    elif next(model.parameters(), None) is None:  # nothing to compute, so no need for small parts
        whole = [JudgedWindow(ids, 0, number) for number, ids in documents]
        yield from _apart(model, whole, LOOKED_UP, ignored_target)
    elif model.context is None:
        yield from _carried(model, documents, at_once, ignored_target)
    else:
        windows = (window for number, ids in documents for window in overlapping(ids, model.context, number))
        yield from _apart(model, windows, at_once, ignored_target)


def overlapping(ids: np.ndarray, context: int, number: int = 0) -> Iterator[JudgedWindow]:
    """Windows of at most `context` positions over a document, each half a context after the last."""
    stride = max(1, context // 2)
    judged = 0
    for start in range(0, len(ids), stride):
        end = min(start + context, len(ids) - 1)
        yield JudgedWindow(ids[start : end + 1], judged - start, number, start)
        judged = end
        if end == len(ids) - 1:
            return


def _apart(
    model: Model, windows: Iterable[JudgedWindow], at_once: int, ignored_target: int | None
) -> Iterator[JudgedPart]:
    """Evaluate windows in batches of at most that many positions together."""
    for some in _grouped(windows, at_once):
        tokens, targets = _side_by_side(some, ignored_target)
        values = model.log_probabilities(*_on_device(model, tokens, targets))
        yield JudgedPart(values.cpu(), targets, some)


def _grouped(windows: Iterable[JudgedWindow], at_once: int) -> Iterator[list[JudgedWindow]]:
    group: list[JudgedWindow] = []
    width = 0
    for window in windows:
        width = max(width, len(window.ids) - 1)
        if group and width * (len(group) + 1) > at_once:
            yield group
            group, width = [], len(window.ids) - 1
        group.append(window)
    if group:
        yield group


def _carried(
    model: Model, documents: Sequence[tuple[int, np.ndarray]], at_once: int, ignored_target: int | None
) -> Iterator[JudgedPart]:
    """Some documents at a time from start to end, with the model's state carried over."""
    for first in range(0, len(documents), SIDE_BY_SIDE):
        some = documents[first : first + SIDE_BY_SIDE]
        piece = max(1, at_once // len(some))
        state = None
        for start in range(0, len(some[0][1]) - 1, piece):
            pieces = [
                JudgedWindow(ids[start : start + piece + 1], 0, number, start, start) for number, ids in some
            ]
            tokens, targets = _side_by_side(pieces, ignored_target)
            given, wanted = _on_device(model, tokens, targets)
            logits, state = model.advance(given, state)  # (document, position, token)
            losses = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), wanted.flatten(), ignore_index=IGNORED, reduction="none"
            )
            yield JudgedPart(-losses.cpu().view(targets.shape), targets, pieces)


def _side_by_side(
    windows: Sequence[JudgedWindow], ignored_target: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and targets, each (window, position) int64, filled up where windows are shorter."""
    shape = len(windows), max(len(window.ids) for window in windows) - 1
    tokens, targets = np.zeros(shape, dtype=np.int64), np.full(shape, IGNORED, dtype=np.int64)
    for row, window in enumerate(windows):
        end = max(0, len(window.ids) - 1)
        tokens[row, :end] = window.ids[:-1]
        targets[row, window.first : end] = window.ids[1 + window.first :]
    if ignored_target is not None:
        targets[targets == ignored_target] = IGNORED
    return tokens, targets


def _on_device(model: Model, *arrays: np.ndarray) -> Iterator[torch.Tensor]:
    parameter = next(model.parameters(), None)
    for array in arrays:
        tensor = torch.from_numpy(array)
        yield tensor if parameter is None else tensor.to(parameter.device)
