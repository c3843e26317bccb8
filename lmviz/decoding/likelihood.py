"""The probability of a given text, word by word: the chain rule as a table.

p(w₁ … wₙ) = ∏ p(wₜ | w₁ … wₜ₋₁); surprisal is −log₂ p (Shannon 1951), and perplexity the inverse of the
geometric mean of the probabilities (Jelinek et al. 1977).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.prefix import Prefix, read_prefix
from lmviz.models.reading import evaluation, on_device

if TYPE_CHECKING:
    import torch

    from lmviz.models.model import Model

BLOCK = 256
"""How many positions are predicted at once where the model carries a state along."""


@dataclass(frozen=True)
class ScoredToken:
    """One token of a text under a model.

    `span` is its place (from, to) in the text, in characters. `log_probability` (nats) and `rank`, from
    1, are None where nothing stands before the token. `running` is the sum of the log-probabilities up
    to and including this token, and `count` how many they are.
    """

    position: int
    id: int
    token: str
    span: tuple[int, int]
    log_probability: float | None
    rank: int | None
    running: float
    count: int

    @property
    def probability(self) -> float | None:
        """p(token | all before it)."""
        return None if self.log_probability is None else math.exp(self.log_probability)

    @property
    def loss(self) -> float | None:
        """−ln p, in nats: what training lowers."""
        return None if self.log_probability is None else -self.log_probability

    @property
    def surprisal(self) -> float | None:
        """−log₂ p, in bits."""
        return None if self.log_probability is None else _bits(self.log_probability)

    @property
    def product(self) -> float:
        """The product of the probabilities so far; 0 where it is too small for a float."""
        return math.exp(self.running)

    @property
    def perplexity(self) -> float | None:
        """The perplexity of the text so far."""
        return perplexity_of(self.running, self.count)


@dataclass(frozen=True)
class Likelihood:
    """A text's tokens, each with its probability; START is not among them.

    `sight` is how many tokens before a token its probability can depend on, None where that has no limit.
    `differs` says that the model read other tokens than those of the text, because interventions put them
    there; `tokens` are those that it read, and spans the places that they took.
    """

    text: str
    tokens: tuple[ScoredToken, ...]
    differs: bool = False
    sight: int | None = None

    def forgotten(self, row: int) -> tuple[int, ...]:
        """The rows before one of `tokens` that make no difference to its probability."""
        if self.sight is None:
            return ()
        first = self.tokens[row].position - self.sight
        return tuple(before for before in range(row) if self.tokens[before].position < first)

    @property
    def log_probability(self) -> float:
        """The log-probability of all that has one, in nats."""
        return self.tokens[-1].running if self.tokens else 0.0

    @property
    def bits(self) -> float:
        """The surprisal of the whole text."""
        return _bits(self.log_probability)

    @property
    def perplexity(self) -> float | None:
        """Per token; None where no token has a probability."""
        return self.tokens[-1].perplexity if self.tokens else None

    @property
    def mean_loss(self) -> float | None:
        """The mean of the tokens' losses, in nats; None where no token has a probability."""
        count = self.tokens[-1].count if self.tokens else 0
        return -self.log_probability / count if count else None

    @property
    def bits_per_character(self) -> float | None:
        """Comparable across tokenizers; None where no character has been predicted.

        What stands before a token, such as a space between words, counts as its own, as in `evaluate`.
        """
        first, *others = [token.span for token in self.tokens] or [(0, 0)]
        unpredicted = 0
        if (
            self.tokens and self.tokens[0].log_probability is None
        ):  # a character that it begins is the next one's
            unpredicted = min(first[1], others[0][0]) if others else first[1]
        characters = (others or [first])[-1][1] - unpredicted
        return self.bits / characters if characters > 0 else None


def text_log_probabilities(
    model: Model, text_or_ids: str | Sequence[int] | np.ndarray, *, ends: bool = False
) -> Likelihood:
    """Each token of a text with its probability, surprisal and rank; if it `ends`, END after it too.

    The first token has none unless START stands before it. Where interventions put other tokens in
    places of the text, those are scored: what is given and what is predicted are one text, whose
    probability the product is. LmvizError when the text cannot be read, when the model predicts no
    tokens, or when the text is to end and the model has no END.
    """
    model.check_continues()
    typed = read_prefix(model, text_or_ids)
    if ends:
        typed = _ended(model, typed)
    prefix = _as_read(model, typed)
    rows = (row.cpu().numpy() for row in predictions(model, typed.ids))
    found = _likelihood(prefix, rows, model.tokenizer.start_id if model.tokenizer else None)
    return replace(found, differs=prefix is not typed, sight=model.sight)


def _ended(model: Model, typed: Prefix) -> Prefix:
    """A text with END after it; the same one where that stands there already."""
    tokenizer = model.tokenizer
    if tokenizer is None or tokenizer.end_id is None:
        raise LmvizError("This model has no END, so no text ends for it: score the text without one.")
    if len(typed) and int(typed.ids[-1]) in tokenizer.end_ids:
        return typed
    place = typed.offsets[-1][1] if typed.offsets else 0
    return replace(
        typed,
        ids=np.append(typed.ids, tokenizer.end_id),
        tokens=(*typed.tokens, tokenizer.token(tokenizer.end_id)),
        offsets=(*typed.offsets, (place, place)),
    )


def _as_read(model: Model, typed: Prefix) -> Prefix:
    """The prefix with the tokens that the model really reads; the same one where they are its own."""
    ids, _ = model.as_read(typed.ids)
    if np.array_equal(ids, typed.ids):
        return typed
    name = model.tokenizer.token if model.tokenizer else str
    pairs = zip(ids.tolist(), typed.ids.tolist(), typed.tokens, strict=True)
    tokens = tuple(token if new == old else name(new) for new, old, token in pairs)
    return replace(typed, ids=ids, tokens=tokens)


def _likelihood(prefix: Prefix, rows: Iterable[np.ndarray], start_id: int | None) -> Likelihood:
    """The table of a prefix from the log-probabilities (token,) that follow each of its positions."""
    starts = int(prefix.ids[0]) == start_id
    scores = [_score(row, id) for row, id in zip(rows, prefix.ids[1:], strict=False)]
    tokens, running, count = [], 0.0, 0
    for position, (log_probability, rank) in enumerate([(None, None), *scores]):
        if position == 0 and starts:
            continue
        if log_probability is not None:
            running, count = running + log_probability, count + 1
        tokens.append(
            ScoredToken(
                position=position,
                id=int(prefix.ids[position]),
                token=prefix.tokens[position],
                span=prefix.offsets[position],
                log_probability=log_probability,
                rank=rank,
                running=running,
                count=count,
            )
        )
    return Likelihood(prefix.text, tuple(tokens))


def predictions(model: Model, ids: np.ndarray) -> Iterator[torch.Tensor]:
    """After each of ids (position,), the log-probabilities (token,) of what follows, in nats.

    Beyond its context a model reads the text in windows that overlap by half, so that every prediction
    has at least half a context to stand on.
    """
    ids, model = model.as_read(ids)
    context = model.context
    blocks = _stream(model, ids) if context is None else _windows(model, ids, context)
    for block in blocks:
        yield from block.log_softmax(dim=-1)


def _windows(model: Model, ids: np.ndarray, context: int) -> Iterator[torch.Tensor]:
    """Logits in blocks (position, token), from as few windows of the model's context as possible."""
    stride = max(1, context // 2)
    done = 0
    while done < len(ids):
        first = 0 if done == 0 else min(done - (context - stride), len(ids) - context)
        logits = _logits(model, ids[first : first + context], None)[0]
        yield logits[done - first :]
        done = first + len(logits)


def _stream(model: Model, ids: np.ndarray) -> Iterator[torch.Tensor]:
    """Logits in blocks (position, token), the state carried over; all at once where there is none."""
    if not model.causal:
        yield _logits(model, ids, None)[0]
        return
    logits, state = _logits(model, ids[:BLOCK], None)
    yield logits
    if state is None and len(ids) > BLOCK:
        yield _logits(model, ids, None)[0][BLOCK:]
        return
    for first in range(BLOCK, len(ids), BLOCK):
        logits, state = _logits(model, ids[first : first + BLOCK], state)
        yield logits


def _logits(model: Model, ids: np.ndarray, state: object) -> tuple[torch.Tensor, object]:
    with evaluation(model) as reader:
        logits, state = reader.advance(on_device(model, ids), state)
    return logits[0], state


def _score(row: np.ndarray, id: int) -> tuple[float, int]:
    """A token's log-probability, and its rank among all, ties by id."""
    value = row[id]
    rank = 1 + int(np.count_nonzero(row > value)) + int(np.count_nonzero(row[:id] == value))
    return float(value), rank


def _bits(log_probability: float) -> float:
    return -log_probability / math.log(2)


def perplexity_of(log_probability: float, count: int) -> float | None:
    """The inverse of the geometric mean of `count` probabilities; None for none of them."""
    if not count:
        return None
    mean = -log_probability / count
    return math.exp(mean) if mean < 700 else math.inf
