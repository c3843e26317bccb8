"""What a tagger or a classifier answers for a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.decoding.distribution import Distribution, next_distribution
from lmviz.looks.shown import Shown
from lmviz.models.finite import check_logits
from lmviz.models.model import Model
from lmviz.models.prefix import read_prefix
from lmviz.models.reading import evaluation, on_device


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Shown):
    """The labels of a text.

    `tokens` were read. `labels` are the likeliest, one for each token, or a single one for the text;
    `probabilities` is (position, label), or (label) for a text, in the order of `names`, float64.
    """

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    probabilities: np.ndarray
    names: tuple[str, ...]


def label_distribution(model: Model, text: str, end: int) -> Distribution:
    """Over the labels of the token that holds or ends at the character `end`, or over those of the text.

    The whole text is read. LmvizError as for `label`.
    """
    answer = label(model, text)
    shares = answer.probabilities
    if shares.ndim == 2:
        offsets = read_prefix(model, text).last(model.context).offsets
        position = next((place for place, (_, last) in enumerate(offsets) if last >= end), len(offsets) - 1)
        shares = shares[position]
    with np.errstate(divide="ignore"):
        return next_distribution(np.log(shares), tokens=answer.names)


def label(model: Model, text_or_ids: str | Sequence[int] | np.ndarray) -> Answer:
    """The answer of a model of labels.

    Of a text longer than the model's context only the last tokens are read. LmvizError when the text cannot
    be read, or when the model predicts no labels.
    """
    if model.predicts.axis != "label":
        raise LmvizError(
            f"This model predicts {model.predicts.describe()} and gives no labels: ask it with "
            "lmviz.next_token, or open a tagger or a classifier."
        )
    prefix = read_prefix(model, text_or_ids).last(model.context)
    with evaluation(model) as reader:
        logits = reader(on_device(model, prefix.ids))[0].cpu().double()  # (position, label), or (label)
    check_logits(model, logits)
    probabilities = logits.softmax(dim=-1).numpy()
    names = model.predicts.names
    best = np.atleast_1d(probabilities.argmax(axis=-1))
    return Answer(prefix.tokens, tuple(names[place] for place in best), probabilities, names)
