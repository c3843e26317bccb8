"""Numbers at the places of texts, which a probe reads: the position, the depth of brackets, a count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.model import Model
from lmviz.models.prefix import read_prefix

MOST_TEXTS, LONGEST = 100, 256
"""So many texts are read at most, drawn by a seed, and of each so many tokens, the last ones."""

OPENING, CLOSING = "([{", ")]}"
POSITION, DEPTH, COUNT = "position", "depth", "count: "

NumberOf = str | Callable[[Sequence[str]], Sequence[float]]


@dataclass(frozen=True, eq=False)
class NumberedText:
    """A text as a model reads it, (token,) ids, with a number (token,) at each, and the `words` there."""

    ids: np.ndarray
    numbers: np.ndarray
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class NumberedTexts:
    """Texts with numbers, and what the number is."""

    texts: tuple[NumberedText, ...]
    what: str


def read_numbered(model: Model, texts: Sequence[str], of: NumberOf, *, seed: int = 0) -> NumberedTexts:
    """Texts with the number `of` each place, as a model reads them; a hundred at most, drawn by the seed.

    "position" is that of the token, from 1; "depth" how many brackets are open after it; "count: dog" how
    often a word has been said so far. A function is given the tokens and returns a number for each.
    LmvizError where it does not, where there is no such number, or where it is the same everywhere.
    """
    what = of if isinstance(of, str) else getattr(of, "__name__", "a function")
    found: list[NumberedText] = []
    for at in map(int, np.random.default_rng(seed).permutation(len(texts))):
        if len(found) == MOST_TEXTS:
            break
        if not texts[at].strip():
            continue
        prefix = read_prefix(model, texts[at]).last(min(model.context or LONGEST, LONGEST))
        words = tuple(token.strip().lower() for token in prefix.tokens)
        found.append(NumberedText(np.asarray(prefix.ids), _numbers(of, prefix.tokens), words))
    if not found or len({float(number) for text in found for number in text.numbers}) < 2:
        raise LmvizError(f"The number ({what}) is the same at all places of these texts: give others.")
    return NumberedTexts(tuple(found), what)


def _numbers(of: NumberOf, tokens: Sequence[str]) -> np.ndarray:
    if callable(of):
        return _checked(of(tuple(tokens)), len(tokens))
    if of == POSITION:
        return np.arange(1.0, len(tokens) + 1)
    if of == DEPTH:
        steps = [sum(map(token.count, OPENING)) - sum(map(token.count, CLOSING)) for token in tokens]
        return np.cumsum(steps).astype(np.float64)
    if isinstance(of, str) and of.startswith(COUNT) and of.removeprefix(COUNT).strip():
        word = of.removeprefix(COUNT).strip().lower()
        return np.cumsum([token.strip().lower() == word for token in tokens]).astype(np.float64)
    raise LmvizError(f"There is no number {of!r}: ask for 'position', 'depth', 'count: dog', or a function.")


def _checked(given: object, count: int) -> np.ndarray:
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise LmvizError(
            f"The function must return a number for each of the {count} tokens that it was given: see what "
            "it returns."
        )
    return numbers
