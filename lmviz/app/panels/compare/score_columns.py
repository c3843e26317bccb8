"""The columns of the table of scores: what each task is measured by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.session.comparison import ComparedModel, names_of_compared
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.looks.columns import Column
from lmviz.tasks import NEXT_TOKEN
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.runs.evaluating import Score
    from lmviz.training.label_evaluation import LabelScore

MOST_LABELS = 20
"""So many labels, the most frequent ones, have a column of their own."""


@dataclass(frozen=True)
class Figure:
    """A measure: its column's name, its value of a score, and how that is written.

    The value is None, or NaN, where it was not measured. An `optional` one has a column only where it was.
    """

    name: str
    of: Callable[[Any], float | None]
    write: Callable[[float], str]
    optional: bool = False


def _with(decimals: int) -> Callable[[float], str]:
    return lambda value: number(value, decimals)


NATS = Figure("nats", lambda score: score.negative_log_likelihood, _with(4))
ACCURACY = Figure("accuracy", lambda score: score.accuracy, percentage)
MACRO = Figure("F1, mean", lambda score: score.macro_f1, percentage)


def _known_perplexity(score: Any) -> float | None:
    """The perplexity without unknown words, where there are some, and others."""
    return score.known_perplexity if score.unknown else None


FIGURES: dict[str, tuple[Figure, ...]] = {
    "next-token": (
        Figure("tokens judged", lambda score: score.tokens, count),
        Figure("perplexity per token", lambda score: score.perplexity, _with(2)),
        Figure("without unknown", _known_perplexity, _with(2), optional=True),
        Figure("bits per character", lambda score: score.bits_per_character, _with(3)),
        Figure("unknown", lambda score: score.unknown_share, percentage),
    ),
    "tagging": (
        Figure("tags judged", lambda score: score.tokens, count),
        NATS,
        ACCURACY,
        Figure("known words", lambda score: _accuracy(score.known), percentage, optional=True),
        Figure("unknown words", lambda score: _accuracy(score.unknown), percentage, optional=True),
        Figure("F1 of spans", lambda score: score.spans and score.spans.f1, percentage, optional=True),
        MACRO,
    ),
    "classification": (Figure("texts judged", lambda score: score.tokens, count), NATS, ACCURACY, MACRO),
    "translation": (
        Figure("pairs judged", lambda score: score.sentences, count),
        Figure("exact match", lambda score: score.exact_match, percentage),
        Figure("BLEU", lambda score: 100 * score.bleu, _with(1)),
        NATS,
        ACCURACY,
    ),
    "captioning": (
        Figure("captions judged", lambda score: score.sentences, count),
        Figure("exact match", lambda score: score.exact_match, percentage),
        NATS,
        ACCURACY,
    ),
}
"""By task."""

NOTES = {
    "next-token": "across tokenizers, compare bits per character; unknown words are spelled out",
    "tagging": "nats per tag · accuracy of known and unknown words · F1 of each tag",
    "classification": "nats per text · F1 of each label",
    "translation": "exact match and BLEU of what it writes · nats and accuracy given the right text",
    "captioning": "exact match of what it writes · nats and accuracy given the right text",
}
"""What has to be known to read the table, by task."""


def columns_of(judged: Sequence[ComparedModel], scores: Sequence[Score | None]) -> list[Column]:
    """The table of compared models, all of one task, and their scores; None where one is not measured."""
    models = [item.model for item in judged]
    task = models[0].task.name
    columns = [Column("model", list(names_of_compared(judged)))]
    if task == NEXT_TOKEN:
        columns.append(Column("tokens are", [model.tokenizer.kind for model in models], spare=True))
    columns.append(Column("learned from", [_origin(model) for model in models], spare=True))
    columns += [_column(figure, scores) for figure in FIGURES[task] if _is_shown(figure, scores)]
    return columns + [_column(figure, scores, spare=True) for figure in _by_label(scores)]


def numbers_of(score: Score, task: str) -> np.ndarray:
    """The figures of a score, in the order of the columns."""
    figures = (*(each for each in FIGURES[task] if _is_shown(each, [score])), *_by_label([score]))
    return np.array([figure.of(score) for figure in figures], dtype=np.float64)


def _is_shown(figure: Figure, scores: Sequence[Score | None]) -> bool:
    return not figure.optional or any(score is not None and figure.of(score) is not None for score in scores)


def _by_label(scores: Sequence[Score | None]) -> list[Figure]:
    """For each label its F1, the most frequent labels first."""
    names = dict.fromkeys(
        name
        for score in scores
        for name, _ in sorted(getattr(score, "by_label", {}).items(), key=lambda item: -item[1].count)
    )
    return [Figure(visible(name), _f1_of(name), percentage) for name in list(names)[:MOST_LABELS]]


def _f1_of(label: str) -> Callable[[Any], float | None]:
    return lambda score: score.by_label[label].f1 if label in score.by_label else None


def _accuracy(item: LabelScore | None) -> float | None:
    return None if item is None else item.accuracy


def _column(figure: Figure, scores: Sequence[Score | None], *, spare: bool = False) -> Column:
    found = [None if score is None else figure.of(score) for score in scores]
    values = np.array(found, dtype=np.float64)  # NaN where there is none

    def write(value: float) -> str:
        return "–" if np.isnan(value) else figure.write(value)

    return Column(figure.name, values, write, spare=spare)


def _origin(model: OpenedModel) -> str:
    return str(model.description.corpus.get("name", "")) or "an unknown text"
