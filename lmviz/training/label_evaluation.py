"""Evaluates taggers and classifiers: nats and accuracy, by label, word and span, and confusion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch

from lmviz.base.reporting import Report, unheard
from lmviz.looks.shown import Shown
from lmviz.models.finite import check_score
from lmviz.models.model import IGNORED, Model
from lmviz.models.reading import evaluation
from lmviz.text.examples import Examples
from lmviz.text.tag_schemes import find_scheme
from lmviz.training.pieces import pieces_of_examples
from lmviz.training.span_evaluation import SpanScore, all_spans, score_spans

AT_ONCE = 2**14
"""How many positions are computed at once, at most."""


@dataclass(frozen=True)
class LabelScore:
    """The answers where one label, or one word, was right: how many, the share found, mean nats.

    Of a label, `accuracy` is its recall; `precision` is the share that was right where it was given, None
    where it never was, and `f1` the harmonic mean of both, 0 where it was never found. Words have neither.
    """

    count: int
    accuracy: float
    negative_log_likelihood: float
    precision: float | None = None
    f1: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class LabelEvaluation(Shown):
    """How well texts were labelled.

    `tokens` labels were judged, at `negative_log_likelihood` nats each on average; `perplexity` is e to that
    power, and `accuracy` the share of them that the model found likeliest. `confusion` (right label, given
    label) counts answers; both axes are in the order of `labels`. `first_of` (right label, given label, 2) is
    where the first of them stands: the number of the example, and the place of the label in it; −1 where
    there is none. `by_word` has the words by their number of answers, most first; it is empty where a text
    has one label.

    `known` and `unknown` are the words that the model's vocabulary has, and those that it reads as
    ⟨unknown⟩; None where there are none. `by_span` has the kinds of spans where labels are such as B-PER,
    I-PER and O, and is empty where they are not. `scheme` is how these labels mark spans, such as IOB2; ""
    where they do not.
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
    known: LabelScore | None = None
    unknown: LabelScore | None = None
    by_span: Mapping[str, SpanScore] = field(default_factory=dict)
    scheme: str = ""

    @property
    def macro_f1(self) -> float:
        """The mean of the F1 of all labels that were right somewhere, the rare counting as the frequent."""
        return float(np.mean([item.f1 for item in self.by_label.values()]))

    @property
    def spans(self) -> SpanScore | None:
        """The spans of all kinds together; None where labels make none."""
        return all_spans(self.by_span.values()) if self.by_span else None

    def most_missed(self, count: int) -> tuple[tuple[str, LabelScore], ...]:
        """The words that were given a wrong label most often, and their scores; most often first."""
        missed = {word: round(item.count * (1 - item.accuracy)) for word, item in self.by_word.items()}
        wrong = sorted((word for word in missed if missed[word]), key=lambda word: -missed[word])
        return tuple((word, self.by_word[word]) for word in wrong[:count])


def evaluate_examples(model: Model, examples: Examples, progress: Report = unheard) -> LabelEvaluation:
    """Judge every label of the examples, for a model that gives labels. LmvizError where there is none."""
    words, right, given, nats, places = label_answers(model, examples, progress).T
    labels, count = model.predicts.names, len(nats)
    gold, answered, ids = (column.astype(np.int64) for column in (right, given, words))
    per_text = model.predicts.per == "text"
    unknown_id = None if per_text or model.tokenizer is None else model.tokenizer.unknown_id
    unknown = None if unknown_id is None else ids == unknown_id
    confusion = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(confusion, (gold, answered), 1)
    mean = float(nats.mean())
    check_score(model, mean)
    is_right = gold == answered
    marks = not per_text and find_scheme(labels) is not None
    texts = tuple(_texts(gold, answered, places.astype(np.int64), examples, labels)) if marks else ()
    scheme = find_scheme(labels, (wanted for wanted, _ in texts)) if marks else None
    return LabelEvaluation(
        tokens=count,
        negative_log_likelihood=mean,
        perplexity=math.exp(mean) if mean < 700 else math.inf,
        accuracy=float(is_right.mean()),
        labels=labels,
        confusion=confusion,
        first_of=_first_of(gold, answered, places.astype(np.int64), examples, len(labels)),
        by_label={
            label: _label_score(gold == number, is_right, nats, int(confusion[:, number].sum()))
            for number, label in enumerate(labels)
            if (gold == number).any()
        },
        by_word={} if per_text else _by_word(model, ids, is_right, nats),
        known=None if unknown is None else _score(~unknown, is_right, nats),
        unknown=None if unknown is None else _score(unknown, is_right, nats),
        by_span={} if scheme is None else score_spans(scheme, texts),
        scheme="" if scheme is None else scheme.name,
    )


def label_answers(model: Model, examples: Examples, progress: Report = unheard) -> np.ndarray:
    """Word, right label, given label and nats of every label of the examples, and the number of its target
    among all of them, (answer, 5) float64. LmvizError where there is none."""
    pieces = pieces_of_examples(examples, model.predicts, model.context)
    order = np.argsort(pieces.lengths, kind="stable")
    found: list[np.ndarray] = []
    with evaluation(model) as reader:
        for first, end in _together(pieces.lengths[order], 0 if model.changes_stay else AT_ONCE):
            chosen = order[first:end]
            found.append(_answers(reader, *pieces.side_by_side(chosen), pieces.target_spans[chosen, 0]))
            progress(end / len(order))
    return np.concatenate(found)


def _together(lengths: np.ndarray, positions: int) -> Iterator[tuple[int, int]]:
    """From where to where pieces of ascending lengths are read at once, in so many positions if not alone."""
    first = 0
    for place, length in enumerate(lengths.tolist()):
        if place > first and length * (place - first + 1) > positions:
            yield first, place
            first = place
    yield first, len(lengths)


def _answers(
    model: Model, tokens: np.ndarray, targets: np.ndarray, lengths: np.ndarray, aims: np.ndarray
) -> np.ndarray:
    """Word, right label, given label and nats of every target that counts, and which it is, (answer, 5).

    `aims` (piece,) are the numbers of the first target of each piece, all targets being counted.
    """
    parameter = next(model.parameters())
    given = (torch.from_numpy(array).to(parameter.device) for array in (tokens, lengths))
    logits = model(*given).cpu().double()
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


def _texts(
    gold: np.ndarray, answered: np.ndarray, places: np.ndarray, examples: Examples, labels: tuple[str, ...]
) -> Iterator[tuple[list[str], list[str]]]:
    """Of each example the right labels and the given, in the order of its words."""
    in_order = np.argsort(places)
    ends = np.searchsorted(places[in_order], examples.target.starts[1:-1])
    for some in np.split(in_order, ends):
        yield [labels[number] for number in gold[some]], [labels[number] for number in answered[some]]


def _label_score(chosen: np.ndarray, is_right: np.ndarray, nats: np.ndarray, given: int) -> LabelScore:
    """Of the answers where a label was right; it was given so many times."""
    count, found = int(chosen.sum()), int(is_right[chosen].sum())
    precision = found / given if given else None
    return LabelScore(
        count, found / count, float(nats[chosen].mean()), precision, 2 * found / (count + given)
    )


def _score(chosen: np.ndarray, is_right: np.ndarray, nats: np.ndarray) -> LabelScore | None:
    if not chosen.any():
        return None
    return LabelScore(int(chosen.sum()), float(is_right[chosen].mean()), float(nats[chosen].mean()))


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
