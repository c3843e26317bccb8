"""The game of guessing the next word, scored in bits against the models (after Shannon 1951).

The player names one word and a confidence. Scoring needs a probability for every word: the confidence goes
to the named word, and the rest is distributed in proportion to the words' frequencies in the corpus. The
score is the surprisal of the actual word, so that an honest confidence is the best strategy.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.decoding.comparison import surprisal_over
from lmviz.decoding.distribution import Distribution
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.text.spelling import SpellingModel
from lmviz.text.stretch import Stretches

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.text.stream import Stream
    from lmviz.text.tokenizer import Tokenizer

MOST_CONFIDENT = 0.99
"""Nobody may bet everything: a wrong guess would cost infinitely many bits."""


@dataclass(frozen=True)
class Round:
    """A passage whose next token is to be guessed.

    `text` is what is shown, `answer` the token that came, as written, `complete` the text with it, and
    `background` the token's share of the corpus.
    """

    text: str
    answer: str
    complete: str
    background: float

    def is_right(self, guess: str) -> bool:
        """Whether a guess names the answer, whatever its capitals and surrounding spaces."""
        return guess == self.answer or (guess.strip() or "\0").casefold() == self.answer.strip().casefold()

    def player_bits(self, guess: str, confidence: float) -> float:
        """The surprisal of the answer to someone who guessed with this confidence."""
        confidence = min(max(confidence, 0.0), MOST_CONFIDENT)
        probability = confidence * self.is_right(guess) + (1 - confidence) * self.background
        return -math.log2(probability)

    def model_bits(self, model: Model) -> float:
        """The surprisal of the answer to a model that `has_units` of the game.

        An answer that it does not know is spelled out.
        """
        likelihood = text_log_probabilities(model, self.complete)
        tokenizer, first = model.tokenizer, len(self.text)
        spelled = 0.0
        if tokenizer is not None and tokenizer.unknown_id is not None:
            spans = [
                token.span
                for token in likelihood.tokens
                if token.id == tokenizer.unknown_id and token.span[1] > first
            ]
            if spans:
                spelling = SpellingModel(tokenizer)
                nats = [spelling.nats(self.complete[start:end]) for start, end in spans]
                spelled = sum(nats) / math.log(2)
        # The gap before the answer counts with it, as it does where a token begins with its space.
        return float(surprisal_over(likelihood, [(0, first), (first, len(self.complete))])[1]) + spelled


@dataclass(frozen=True)
class PlayedRound:
    """A round as it was played; `bits` by player, the models by name."""

    round: Round
    guess: str
    is_right: bool
    bits: Mapping[str, float]


@dataclass(frozen=True)
class GuessingGame:
    """Some rounds, and the answers given so far."""

    rounds: tuple[Round, ...]
    answers: tuple[PlayedRound, ...] = ()

    @property
    def current(self) -> Round | None:
        """The round to be played next; None when the game is over."""
        return self.rounds[len(self.answers)] if len(self.answers) < len(self.rounds) else None

    def answered(
        self, guess: str, confidence: float, model_bits: Mapping[str, float], player: str = "you"
    ) -> GuessingGame:
        """The game after a guess; `model_bits` are the models' surprisals of the answer, by name."""
        if self.current is None:
            raise LmvizError("The game is over: start a new one.")
        bits = {player: self.current.player_bits(guess, confidence), **model_bits}
        answer = PlayedRound(self.current, guess, self.current.is_right(guess), bits)
        return dataclasses.replace(self, answers=(*self.answers, answer))

    @property
    def mean_bits(self) -> dict[str, float]:
        """Bits per round of everyone who played them all; fewer are better."""
        if not self.answers:
            return {}
        players = [
            name for name in self.answers[0].bits if all(name in answer.bits for answer in self.answers)
        ]
        return {name: float(np.mean([answer.bits[name] for answer in self.answers])) for name in players}


def has_units(tokenizer: Tokenizer, game: Tokenizer) -> bool:
    """Whether a model's tokens make up the units of a game, which are the tokens of another tokenizer.

    Characters make up everything, and pieces of words make up words; a word has no probability for one of
    its characters, nor has a piece for a different piece.
    """
    if tokenizer.kind == "characters" or tokenizer.spellings() == game.spellings():
        return True
    return game.kind == "words"


def choose_rounds(stream: Stream, count: int, *, before: int = 16, seed: int = 0) -> tuple[Round, ...]:
    """Rounds from places of held-out text, drawn without repetition.

    Each shows the text of up to `before` tokens of the same document, and asks for a token of the vocabulary
    that has letters or digits and is no mere part of a character. LmvizError when there is no such place.
    """
    ids, tokenizer, stretches = stream.ids, stream.tokenizer, Stretches(stream)
    shares = (np.bincount(ids) + 1.0) / (len(ids) + tokenizer.vocabulary_size)
    special = [id for id in (*tokenizer.special_ids, tokenizer.unknown_id) if id is not None]
    askable = np.array([any(map(str.isalnum, token)) for token in tokenizer.tokens()])
    askable[special] = False
    rounds: list[Round] = []
    for place in np.random.default_rng(seed).permutation(np.flatnonzero(askable[ids])):
        shown = ids[max(0, place - before) : place]
        boundaries = np.flatnonzero(np.isin(shown, [id for id in special if id != tokenizer.unknown_id]))
        shown = shown[boundaries[-1] + 1 :] if len(boundaries) else shown
        if len(shown) < before // 4 or not len(shown):
            continue
        found, answer = stretches.at(place - len(shown), place + 1), tokenizer.token(int(ids[place]))
        if found.tokens[-1] != answer:
            continue
        text = found.written(0, len(shown))
        rounds.append(Round(text, answer, found.written(0, len(shown) + 1), float(shares[ids[place]])))
        if len(rounds) == count:
            break
    if not rounds:
        raise LmvizError("The held-out text is too short to guess from: open a longer corpus.")
    return tuple(rounds)


def offered_words(round: Round, distribution: Distribution, count: int = 3, seed: int = 0) -> tuple[str, ...]:
    """The answer among the likeliest other tokens of a model, in random order."""
    likely = (row.token for row in distribution.top(4 * count) if any(map(str.isalnum, row.token)))
    others = [token for token in likely if not round.is_right(token)][: count - 1]
    words = [round.answer, *others]
    return tuple(words[place] for place in np.random.default_rng(seed).permutation(len(words)))


def common_words(
    round: Round, ids: np.ndarray, tokenizer: Tokenizer, count: int = 3, seed: int = 0
) -> tuple[str, ...]:
    """The answer among other tokens drawn from ids (position,), in random order.

    It is `offered_words` for where no model has the corpus's own tokens, such as words beside a model
    of characters.
    """
    generator = np.random.default_rng(seed)
    words = [round.answer]
    for id in generator.choice(np.asarray(ids), size=min(len(ids), 50 * count)):
        token = tokenizer.token(int(id))
        special = id in tokenizer.special_ids or id == tokenizer.unknown_id
        is_new = token not in words and not round.is_right(token)
        if is_new and not special and any(map(str.isalnum, token)):
            words.append(token)
        if len(words) == count:
            break
    return tuple(words[place] for place in generator.permutation(len(words)))
