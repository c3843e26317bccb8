"""The public function that makes a text of a chat: `lmviz.chat`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmviz.api.given import opened_model
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.api.given import Given
    from lmviz.text.chat import Turn


def chat(model: Given, turns: Sequence[tuple[str, str] | Turn], *, answers: bool = True) -> str:
    """The text that the model's template for chats makes of turns such as ("user", "What is it?"), ready to
    be read, traced or continued; with `answers` the assistant's next turn is begun.

    LmvizError where the model has no template, or where the template has no such turns.
    """
    from lmviz.text.chat import Turn, chat_text

    if isinstance(turns, str) or not isinstance(turns, Sequence):
        raise LmvizError(
            'Turns are a list of pairs of who speaks and what is said, such as ("user", "Hello").'
        )
    said = []
    for each in turns:
        pair = (each.role, each.text) if isinstance(each, Turn) else each
        if not isinstance(pair, tuple | list) or [type(words) for words in pair] != [str, str]:
            raise LmvizError(
                f'{each!r} is not a turn: give who speaks and what is said, such as ("user", "Hello").'
            )
        said.append(Turn(*pair))
    if not said:
        raise LmvizError('Nobody speaks: give at least one turn, such as ("user", "Hello").')
    tokenizer = opened_model(model).tokenizer
    if tokenizer is None:
        raise LmvizError(
            "This model has no tokenizer, so it has no template for chats: open it from its folder."
        )
    if not isinstance(answers, bool):
        raise LmvizError(f"answers is {answers!r}, which is neither True nor False: give one of them.")
    return chat_text(tokenizer, said, answers=answers)
