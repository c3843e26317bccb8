"""The rows of texts in which features are looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.features.texts import LENGTH, SHORTEST, read_feature_texts
from lmviz.models.model import Model
from lmviz.models.prefix import read_prefix
from lmviz.models.sequences import TEXT
from lmviz.text.corpus import Corpus

TOKENS = 60_000
"""So many tokens are read where nobody says how many."""

HELD_OUT = 16_384


def reading_rows(
    model: Model, texts: Corpus | Sequence[str], *, tokens: int = TOKENS, seed: int = 0
) -> list[np.ndarray]:
    """Rows of ids (token,) with about so many tokens: of a corpus what is held out first.

    LmvizError for a model that reads a source, and where no text has three tokens.
    """
    if model.inputs != (TEXT,):
        raise LmvizError(
            f"{model.name or 'This model'} reads a source beside its text: open a language model to look at "
            "its features."
        )
    if isinstance(texts, Corpus):
        held_out = min(HELD_OUT, max(tokens // 2, 1))
        read = read_feature_texts(
            model, texts, tokens=max(tokens - held_out, 1), held_out=held_out, seed=seed
        )
        return [row.ids for row in (*read.held_out, *read.learned)]
    length = LENGTH if model.context is None else min(LENGTH, model.context)
    rows: list[np.ndarray] = []
    whole = 0
    for text in texts:
        ids = np.asarray(read_prefix(model, text).ids[:length]) if text.strip() else np.zeros(0, dtype=int)
        if len(ids) >= SHORTEST and whole < tokens:
            rows.append(ids)
            whole += len(ids)
    if not rows:
        raise LmvizError(f"There is no text of {SHORTEST} tokens to read features in: give some texts.")
    return rows
