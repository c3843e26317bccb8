"""Evaluates taggers and classifiers: nats and accuracy, by label and by word, and what was taken for what."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.models.model import IGNORED, Model
from lmviz.models.reading import evaluation
from lmviz.text.examples import Examples
from lmviz.training.pieces import pieces_of_examples

AT_ONCE = 2**14
"""How many positions are computed at once, at most."""


@dataclass(frozen=True)
class LabelScore:
    """The answers where one label, or one word, was right: how many, the share found, mean nats.

    `precision` is the share that was right where this label was given, None where it never was; words have
    none.
    """

    count: int
    accuracy: float
    negative_log_likelihood: float
    precision: float | None = None


@dataclass(frozen=True, eq=False)
class LabelEvaluation:
    """How well texts were labelled.

    `tokens` labels were judged, at `negative_log_likelihood` nats each on average; `perplexity` is e to that
    power, and `accuracy` the share of them that the model found likeliest. `confusion` (right label, given
    label) counts answers; both axes are in the order of `labels`. `by_word` has the words by their number of
    answers, most first; it is empty where a text has one label.
    """

    tokens: int
    negative_log_likelihood: float
    perplexity: float
    accuracy: float
    labels: tuple[str, ...]
    confusion: np.ndarray
    by_label: Mapping[str, LabelScore]
    by_word: Mapping[str, LabelScore]


def evaluate_examples(
    model: Model, examples: Examples, progress: Callable[[float], None] | None = None
) -> LabelEvaluation:
    """Judge every label of the examples, for a model that gives labels. LmvizError where there is none."""
    pieces = pieces_of_examples(examples, model.predicts, model.context)
    order = np.argsort(pieces.lengths, kind="stable")
    found: list[np.ndarray] = []  # of each part: word, right label, given label, nats, (answer, 4)
    done = 0
    with evaluation(model) as reader:
        while done < len(order):
            longest = max(1, AT_ONCE // int(pieces.lengths[order[done:]].max()))
            chosen = order[done : done + (1 if model.changes_stay else longest)]
            found.append(_answers(reader, *pieces.side_by_side(chosen)))
            done += len(chosen)
            if progress is not None:
                progress(done / len(order))
    words, right, given, nats = np.concatenate(found).T
    labels, count = model.predicts.names, len(nats)
    gold, answered = right.astype(np.int64), given.astype(np.int64)
    confusion = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(confusion, (gold, answered), 1)
    mean = float(nats.mean())
    is_right = gold == answered
    return LabelEvaluation(
        tokens=count,
        negative_log_likelihood=mean,
        perplexity=math.exp(mean) if mean < 700 else math.inf,
        accuracy=float(is_right.mean()),
        labels=labels,
        confusion=confusion,
        by_label={
            label: _score(gold == number, is_right, nats, _precision(confusion, number))
            for number, label in enumerate(labels)
            if (gold == number).any()
        },
        by_word={}
        if model.predicts.per == "text"
        else _by_word(model, words.astype(np.int64), is_right, nats),
    )


def _answers(model: Model, tokens: np.ndarray, targets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Word, right label, given label and nats of every target that counts, (answer, 4)."""
    parameter = next(model.parameters())
    given = (torch.from_numpy(array).to(parameter.device) for array in (tokens, lengths))
    logits = model(*given).double().cpu()
    rows = logits.reshape(-1, logits.shape[-1]).log_softmax(dim=-1).numpy()
    wanted = targets.ravel()
    counts = np.flatnonzero(wanted != IGNORED)
    words = tokens.ravel()[counts] if targets.shape == tokens.shape else np.zeros(len(counts))
    nats = -rows[counts, wanted[counts]]
    return np.column_stack([words, wanted[counts], rows[counts].argmax(axis=1), nats])


def _precision(confusion: np.ndarray, label: int) -> float | None:
    given = confusion[:, label].sum()
    return float(confusion[label, label] / given) if given else None


def _score(
    chosen: np.ndarray, is_right: np.ndarray, nats: np.ndarray, precision: float | None = None
) -> LabelScore:
    return LabelScore(
        int(chosen.sum()), float(is_right[chosen].mean()), float(nats[chosen].mean()), precision
    )


def _by_word(
    model: Model, words: np.ndarray, is_right: np.ndarray, nats: np.ndarray
) -> dict[str, LabelScore]:
    ids, places, counts = np.unique(words, return_inverse=True, return_counts=True)
    right = np.bincount(places, is_right)
    total = np.bincount(places, nats)
    name = model.tokenizer.token if model.tokenizer is not None else str
    return {
        name(int(ids[place])): LabelScore(
            int(counts[place]), float(right[place] / counts[place]), float(total[place] / counts[place])
        )
        for place in np.argsort(-counts, kind="stable")
    }
