"""The columns of the table of scores: what each task is measured by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.session.comparison import ComparedModel, names_of_compared
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.app.widgets.tables.columns_model import Column
from lmviz.tasks import NEXT_TOKEN
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.runs.evaluating import Score

MOST_LABELS = 20
"""So many labels, the most frequent ones, have a column of their own."""


@dataclass(frozen=True)
class Figure:
    """A measure: its column's name, its value of a score, and how that is written."""

    name: str
    of: Callable[[Any], float]
    write: Callable[[float], str]


def _with(decimals: int) -> Callable[[float], str]:
    return lambda value: number(value, decimals)


NATS = Figure("nats", lambda score: score.negative_log_likelihood, _with(4))
ACCURACY = Figure("accuracy", lambda score: score.accuracy, percentage)

FIGURES: dict[str, tuple[Figure, ...]] = {
    "next-token": (
        Figure("tokens judged", lambda score: score.tokens, count),
        Figure("perplexity per token", lambda score: score.perplexity, _with(2)),
        Figure("bits per character", lambda score: score.bits_per_character or np.nan, _with(3)),
        Figure("unknown", lambda score: score.unknown_share, percentage),
    ),
    "tagging": (Figure("tags judged", lambda score: score.tokens, count), NATS, ACCURACY),
    "classification": (Figure("texts judged", lambda score: score.tokens, count), NATS, ACCURACY),
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
    "tagging": "nats per tag · of each tag the share that was found",
    "classification": "nats per text · of each label the share that was found",
    "translation": "exact match and BLEU of its own words · nats and accuracy given the right words",
    "captioning": "exact match of its own words · nats and accuracy given the right words",
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
    columns += [_column(figure, scores) for figure in FIGURES[task]]
    return columns + [_column(figure, scores, spare=True) for figure in _by_label(scores)]


def numbers_of(score: Score, task: str) -> np.ndarray:
    """The figures of a score, in the order of the columns."""
    return np.array([figure.of(score) for figure in (*FIGURES[task], *_by_label([score]))], dtype=np.float64)


def _by_label(scores: Sequence[Score | None]) -> list[Figure]:
    """For each label the share that was found, the most frequent labels first."""
    names = dict.fromkeys(
        name
        for score in scores
        for name, _ in sorted(getattr(score, "by_label", {}).items(), key=lambda item: -item[1].count)
    )
    return [Figure(visible(name), _share_found(name), percentage) for name in list(names)[:MOST_LABELS]]


def _share_found(label: str) -> Callable[[Any], float]:
    return lambda score: score.by_label[label].accuracy if label in score.by_label else np.nan


def _column(figure: Figure, scores: Sequence[Score | None], *, spare: bool = False) -> Column:
    values = np.array([np.nan if score is None else figure.of(score) for score in scores])

    def write(value: float) -> str:
        return "–" if np.isnan(value) else figure.write(value)

    return Column(figure.name, values, write, spare=spare)


def _origin(model: OpenedModel) -> str:
    return str(model.description.corpus.get("name", "")) or "an unknown text"
