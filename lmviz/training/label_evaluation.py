"""Evaluates taggers and classifiers: nats and accuracy, by label and by word, and what was taken for what."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.models.finite import check_score
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
    label) counts answers; both axes are in the order of `labels`. `first_of` (right label, given label, 2) is
    where the first of them stands: the number of the example, and the place of the label in it; −1 where
    there is none. `by_word` has the words by their number of answers, most first; it is empty where a text
    has one label.
    """

    tokens: int
    negative_log_likelihood: float
    perplexity: float
    accuracy: float
    labels: tuple[str, ...]
    confusion: np.ndarray
    first_of: np.ndarray
    by_label: Mapping[str, LabelScore]
    by_word: Mapping[str, LabelScore]

    def most_missed(self, count: int) -> tuple[tuple[str, LabelScore], ...]:
        """The words that were given a wrong label most often, and their scores; most often first."""
        missed = {word: round(item.count * (1 - item.accuracy)) for word, item in self.by_word.items()}
        wrong = sorted((word for word in missed if missed[word]), key=lambda word: -missed[word])
        return tuple((word, self.by_word[word]) for word in wrong[:count])


def evaluate_examples(
    model: Model, examples: Examples, progress: Callable[[float], None] | None = None
) -> LabelEvaluation:
    """Judge every label of the examples, for a model that gives labels. LmvizError where there is none."""
    pieces = pieces_of_examples(examples, model.predicts, model.context)
    order = np.argsort(pieces.lengths, kind="stable")
    found: list[np.ndarray] = []  # of each part: word, right and given label, nats, target, (answer, 5)
    done = 0
    with evaluation(model) as reader:
        while done < len(order):
            longest = max(1, AT_ONCE // int(pieces.lengths[order[done:]].max()))
            chosen = order[done : done + (1 if model.changes_stay else longest)]
            found.append(_answers(reader, *pieces.side_by_side(chosen), pieces.target_spans[chosen, 0]))
            done += len(chosen)
            if progress is not None:
                progress(done / len(order))
    words, right, given, nats, places = np.concatenate(found).T
    labels, count = model.predicts.names, len(nats)
    gold, answered = right.astype(np.int64), given.astype(np.int64)
    confusion = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(confusion, (gold, answered), 1)
    mean = float(nats.mean())
    check_score(model, mean)
    is_right = gold == answered
    return LabelEvaluation(
        tokens=count,
        negative_log_likelihood=mean,
        perplexity=math.exp(mean) if mean < 700 else math.inf,
        accuracy=float(is_right.mean()),
        labels=labels,
        confusion=confusion,
        first_of=_first_of(gold, answered, places.astype(np.int64), examples, len(labels)),
        by_label={
            label: _score(gold == number, is_right, nats, _precision(confusion, number))
            for number, label in enumerate(labels)
            if (gold == number).any()
        },
        by_word={}
        if model.predicts.per == "text"
        else _by_word(model, words.astype(np.int64), is_right, nats),
    )


def _answers(
    model: Model, tokens: np.ndarray, targets: np.ndarray, lengths: np.ndarray, aims: np.ndarray
) -> np.ndarray:
    """Word, right label, given label and nats of every target that counts, and which it is, (answer, 5).

    `aims` (piece,) are the numbers of the first target of each piece, all targets being counted.
    """
    parameter = next(model.parameters())
    given = (torch.from_numpy(array).to(parameter.device) for array in (tokens, lengths))
    logits = model(*given).double().cpu()
    rows = logits.reshape(-1, logits.shape[-1]).log_softmax(dim=-1).numpy()
    wanted = targets.ravel()
    counts = np.flatnonzero(wanted != IGNORED)
    words = tokens.ravel()[counts] if targets.shape == tokens.shape else np.zeros(len(counts))
    nats = -rows[counts, wanted[counts]]
    places = (aims[:, None] + np.arange(targets.shape[1])).ravel()[counts]
    return np.column_stack([words, wanted[counts], rows[counts].argmax(axis=1), nats, places])


def _first_of(
    gold: np.ndarray, answered: np.ndarray, places: np.ndarray, examples: Examples, labels: int
) -> np.ndarray:
    """Where each confusion comes first in the text, (right label, given label, 2); −1 where it never does."""
    in_order = np.argsort(places)
    cells, first = np.unique((gold * labels + answered)[in_order], return_index=True)
    targets, starts = places[in_order][first], examples.target.starts
    numbers = np.searchsorted(starts, targets, side="right") - 1
    found = np.full((labels * labels, 2), -1, dtype=np.int64)
    found[cells] = np.column_stack([numbers, targets - starts[numbers]])
    return found.reshape(labels, labels, 2)


def _precision(confusion: np.ndarray, label: int) -> float | None:
    given = confusion[:, label].sum()
    return float(confusion[label, label] / given) if given else None


def _score(chosen: np.ndarray, is_right: np.ndarray, nats: np.ndarray, precision: float | None) -> LabelScore:
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
