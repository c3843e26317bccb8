"""Turns a text or token ids into the prefix that a model reads."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.sequences import SOURCE, TEXT

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.text.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class Prefix:
    """What a model is given to read.

    `ids` is (position,) int64; `tokens` are as displayed; `offsets` are the places (from, to) of the
    tokens in `text`, in characters, (0, 0) for START and for ids without a text. `dropped` counts the
    tokens left out at the front because the model's context is shorter; offsets still refer to the
    whole text.
    """

    text: str
    ids: np.ndarray
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    def last(self, count: int | None) -> Prefix:
        """The last `count` tokens; all of them where count is None."""
        if count is None or len(self) <= count:
            return self
        first = len(self) - count
        return Prefix(
            self.text, self.ids[first:], self.tokens[first:], self.offsets[first:], self.dropped + first
        )


def read_prefix(model: Model, text_or_ids: str | Sequence[int] | np.ndarray, sequence: str = TEXT) -> Prefix:
    """A prefix as the model's tokenizer sees it, whole; `Prefix.last(model.context)` fits it in.

    `sequence` is one of the model's `inputs`, the text or what it reads beside it; behind a source in words
    stands END, as behind those that were learned from. LmvizError when there
    is nothing to read, when a text meets a model without a tokenizer, when what is given instead of a
    text is no row of ids of the vocabulary, or where a source is longer than the model can read.
    """
    prefix = read_any_length(model, text_or_ids, sequence)
    if sequence == SOURCE:
        model.check_source(prefix.ids)
    return prefix


def read_any_length(
    model: Model, text_or_ids: str | Sequence[int] | np.ndarray, sequence: str = TEXT
) -> Prefix:
    """The same as `read_prefix` of what may be a source longer than the model can read."""
    tokenizer, vocabulary = model.tokenizer_of(sequence), model.vocabulary_of(sequence)
    if isinstance(text_or_ids, str):
        prefix = _from_text(tokenizer, text_or_ids, model.why_no_tokenizer)
        if sequence == SOURCE and tokenizer is not None and tokenizer.end_id is not None:
            prefix = _ended(prefix, tokenizer, tokenizer.end_id)
    else:
        prefix = _from_ids(tokenizer, _whole_numbers(text_or_ids))
    if not len(prefix):
        if isinstance(text_or_ids, str):
            raise LmvizError("The prefix is empty, and this model knows no START: type at least one token.")
        raise LmvizError("There is no token id to read: give at least one.")
    outside = prefix.ids[(prefix.ids < 0) | (prefix.ids >= vocabulary)]
    if len(outside):
        raise LmvizError(
            f"Token id {outside[0]} is not in the model's vocabulary of {vocabulary}: "
            "use the tokenizer that the model was trained with."
        )
    return prefix


def check_inputs(model: Model, given: Collection[str]) -> None:
    """LmvizError where a model is not given all that it reads beside the text, or something else."""
    wanted = [name for name in model.inputs if name != TEXT]
    for name in wanted:
        if name not in given:
            raise LmvizError(f"This model reads a {name} beside its text: give it, as in {name}=….")
    for name in given:
        if name not in wanted:
            raise LmvizError(f"This model reads no {name}: leave {name} out.")


def _from_text(tokenizer: Tokenizer | None, text: str, why_none: str) -> Prefix:
    if tokenizer is None:
        why = f"{why_none}, or" if why_none else "open it from a run, or"
        raise LmvizError(f"This model has no tokenizer: {why} give token ids instead of text.")
    encoding = tokenizer.encode_prefix(text)
    return Prefix(text, encoding.ids, encoding.tokens, encoding.offsets)


def _ended(prefix: Prefix, tokenizer: Tokenizer, end: int) -> Prefix:
    """The same with END behind it."""
    return Prefix(
        prefix.text,
        np.append(prefix.ids, end),
        (*prefix.tokens, tokenizer.token(end)),
        (*prefix.offsets, (0, 0)),
    )


def _whole_numbers(given: Sequence[int] | np.ndarray) -> np.ndarray:
    """What is given instead of a text, as int64 in any shape; LmvizError where it is not whole numbers."""
    try:
        numbers = np.array(given)
        if numbers.dtype.kind in "iu" or not numbers.size:
            return numbers.astype(np.int64)
    except ValueError:  # rows of different lengths
        pass
    raise LmvizError("A prefix is a text or a row of token ids, which are whole numbers below 2^63.")


def _from_ids(tokenizer: Tokenizer | None, ids: np.ndarray) -> Prefix:
    if ids.ndim != 1:
        raise LmvizError(f"A prefix is one row of token ids, but their shape is {ids.shape}.")
    given = ids.tolist()
    if tokenizer is not None and ((ids >= 0) & (ids < tokenizer.vocabulary_size)).all():
        text, tokens = tokenizer.decode(given), tokenizer.tokens_of(given)
    else:
        text, tokens = "", tuple(map(str, given))
    return Prefix(text, ids, tokens, ((0, 0),) * len(ids))
