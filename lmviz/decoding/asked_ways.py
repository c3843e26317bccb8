"""One question asked three ways: as a chat by the model's template, alone as plain text, and with the
template's special tokens spelled out in letters. What is answered to each shows what those tokens do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.decoding.sampling import greedy

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.text.tokenizer import Tokenizer

AS_CHAT, AS_PLAIN_TEXT, AS_LETTERS = "as chat", "as plain text", "as letters"

LONGEST = 32
"""Tokens of an answer that does not end by itself."""

LEAST_REPEATED = 6
"""So many tokens at least are the same again before an answer is called repeating."""


@dataclass(frozen=True)
class WrittenAnswer:
    """What a model has answered so far, always the likeliest token.

    `ids` (token,) with what each is as displayed and its probability when it was chosen. `has_ended` says
    that the last one ends the text; `is_whole` that nothing more is written.
    """

    ids: tuple[int, ...] = ()
    tokens: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    has_ended: bool = False
    is_whole: bool = False

    @property
    def repeated(self) -> int | None:
        """How many tokens it says again and again in the end; None where it does not."""
        count = len(self.ids)
        for period in range(1, count // 2 + 1):
            same = next(
                (at for at in range(count - period) if self.ids[-1 - at] != self.ids[-1 - at - period]),
                count - period,
            )
            if same >= max(period, LEAST_REPEATED):
                return period
        return None


def asked_ways(tokenizer: Tokenizer, chat: str, question: str) -> dict[str, np.ndarray]:
    """The ids (position,) of each way by its name: of a chat as its template wrote it, and of its question.

    `tokenizer` reads special tokens as such. LmvizError where it cannot read a text.
    """
    return {
        AS_CHAT: tokenizer.encode_prefix(chat).ids,
        AS_PLAIN_TEXT: tokenizer.encode_prefix(question).ids,
        AS_LETTERS: tokenizer.literal.encode_prefix(chat).ids,
    }


def answers(
    model: Model, asked: Mapping[str, np.ndarray], longest: int = LONGEST
) -> Iterator[dict[str, WrittenAnswer]]:
    """What the model answers to each of some prompts (position,), by their names, one token more each time.

    An answer ends with the token that ends a text, or after `longest` tokens. LmvizError where a prompt
    cannot be read.
    """
    found = {name: WrittenAnswer() for name in asked}
    writing = {name: greedy(model, ids, longest) for name, ids in asked.items()}
    while not all(answer.is_whole for answer in found.values()):
        for name, before in found.items():
            if not before.is_whole:
                step = next(writing[name])
                found[name] = replace(
                    before,
                    ids=(*before.ids, step.id),
                    tokens=(*before.tokens, step.token),
                    probabilities=(*before.probabilities, step.probability),
                    has_ended=step.is_end,
                    is_whole=step.is_end or len(before.ids) + 1 == longest,
                )
        yield dict(found)
