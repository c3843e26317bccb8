"""The texts of an observed batch as they are read: their words, with targets or probabilities below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.text.examples_view import ShownExample
from lmviz.text.pictures import picture_tokenizer
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.prediction import Prediction
    from lmviz.text.tokenizer import Tokenizer
    from lmviz.training.observation import ObservedBatch

MOST = 1_500
"""Words that are drawn at most; further texts are only counted."""


def shown_texts(
    batch: ObservedBatch,
    tokenizer: Tokenizer,
    source: Tokenizer | None,
    predicts: Prediction,
    *,
    probabilities: bool,
) -> list[ShownExample]:
    """The first texts of a batch, with the target of each word below it, or the probability that it had.

    Where the whole text has one target, that stands beside the text; of a translation the source does, and
    before a caption its picture.
    """
    rows = max(1, MOST // batch.tokens.shape[1])
    return [
        _shown(batch, row, tokenizer, source, predicts, probabilities=probabilities)
        for row in range(min(rows, len(batch.tokens)))
    ]


def _shown(
    batch: ObservedBatch,
    row: int,
    tokenizer: Tokenizer,
    source: Tokenizer | None,
    predicts: Prediction,
    *,
    probabilities: bool,
) -> ShownExample:
    length = int(batch.lengths[row])
    words = in_words(tokenizer, batch.tokens[row, :length])
    losses, targets = batch.losses[row], batch.targets[row]
    counts = np.isfinite(losses)
    names = predicts.names
    said = [
        ""
        if not counts[place]
        else percentage(float(np.exp(-losses[place])))
        if probabilities
        else (names[targets[place]] if names else visible(tokenizer.token(int(targets[place]))))
        for place in range(min(length, len(targets)))
    ]
    if predicts.per == "text":
        return ShownExample(words, label=said[0])
    if source is None or "source" not in batch.beside:
        return ShownExample(words, tags=tuple(said))
    read = batch.beside["source"][row, : int(batch.beside["source_lengths"][row])]
    if source.json == picture_tokenizer().json:
        return ShownExample(words, tags=tuple(said), pixels=tuple(bool(pixel) for pixel in read))
    return ShownExample(words, tags=tuple(said), target=in_words(source, read))


def in_words(tokenizer: Tokenizer, ids: np.ndarray) -> tuple[str, ...]:
    """Tokens with their white space made visible."""
    return tuple(visible(tokenizer.token(int(token))) for token in ids)
