"""One text of the turns of a chat, by the template that a stranger's folder has for it.

A template is a program in Jinja. It is run as transformers runs it, in a sandbox (`template_sandbox.py`) that
lets it neither import nor change anything nor grow without bound. What takes long is stopped as well.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.text.tokenizer import Tokenizer

LONGEST_TIME = 2.0
"""Seconds that a template may take: those of published models take some milliseconds."""

SYSTEM, USER, ASSISTANT = "system", "user", "assistant"

_MARK = "\ue0f7the system's words\ue0f7"


@dataclass(frozen=True)
class Turn:
    """What somebody says: `role` is "system", "user" or "assistant"."""

    role: str
    text: str


def chat_text(tokenizer: Tokenizer, turns: Sequence[Turn], *, answers: bool = True) -> str:
    """The text of these turns, ready for the tokenizer; with `answers` the assistant's next turn is begun.

    A START at its beginning is left out where the tokenizer itself puts one in front of each text. LmvizError
    where there is no template, or where it cannot do that.
    """
    template = tokenizer.chat_template
    if template is None:
        raise LmvizError("This model has no template for chats: type plain text.")
    named = tokenizer.named_tokens
    text = _render(template, turns, answers, named)
    return text.removeprefix(named["bos_token"]) if tokenizer.marks_boundaries else text


def system_text(tokenizer: Tokenizer) -> str | None:
    """What the template says as the system where nobody does; None where there is no system to speak."""
    asked = Turn(USER, "?")
    try:
        with_mark = chat_text(tokenizer, [Turn(SYSTEM, _MARK), asked])
        without = chat_text(tokenizer, [asked])
    except LmvizError:
        return None
    before, mark, after = with_mark.partition(_MARK)
    if not mark:
        return None
    is_around = without.startswith(before) and without.endswith(after) and len(without) >= len(before + after)
    return without[len(before) : len(without) - len(after)] if is_around else ""


def places_of_turns(tokenizer: Tokenizer, turns: Sequence[Turn], text: str) -> list[tuple[int, int]]:
    """Where in the text that the template made of turns each stands, from a character up to another.

    A template may take the spaces around a turn away; a turn that it leaves out has no length.
    """
    marks = [f"\ue0f7{at}\ue0f8" for at in range(len(turns))]
    try:
        marked = chat_text(
            tokenizer, [Turn(turn.role, mark) for turn, mark in zip(turns, marks, strict=True)]
        )
    except LmvizError:
        marked = ""
    places, end = [], 0
    for turn, mark in zip(turns, marks, strict=True):
        before, found, after = marked.partition(mark)
        # What stands before it tells a turn from the same words in what the template writes.
        for said in (turn.text, turn.text.strip()) if found else ():
            begun = text.find(f"{before}{said}", end)
            if begun >= 0:
                end, marked = begun + len(before) + len(said), after
                places.append((end - len(said), end))
                break
        else:
            places.append((end, end))
    return places


def _render(template: str, turns: Sequence[Turn], answers: bool, named: dict[str, str]) -> str:
    import jinja2  # only where somebody chats

    from lmviz.text.template_sandbox import LONGEST_TEXT, TemplateSandbox

    pieces: list[str] = []

    def write() -> None:
        made = TemplateSandbox().from_string(template)
        messages = [{"role": turn.role, "content": turn.text} for turn in turns]
        length = 0
        for piece in made.generate(messages=messages, add_generation_prompt=answers, **named):
            length += len(piece)
            if length > LONGEST_TEXT:
                raise LmvizError("it writes without end")
            pieces.append(piece)

    try:
        _within(LONGEST_TIME, write)
    except LmvizError as error:
        raise _refusal(error) from None
    except (jinja2.TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise _refusal(error) from None
    except (AttributeError, RecursionError, MemoryError, AssertionError) as error:
        raise _refusal(error) from None
    return "".join(pieces)


def _refusal(error: Exception) -> LmvizError:
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return LmvizError(f"The template for chats of this model cannot do that ({reason}): type plain text.")


def _within(seconds: float, work: Callable[[], None]) -> None:
    """Do some work of plain Python, and raise LmvizError in it once it has taken so long."""
    end = time.monotonic() + seconds

    def look(*_: Any) -> Any:
        if time.monotonic() > end:
            raise LmvizError(f"it takes longer than {seconds:g} seconds")
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        work()
    finally:
        sys.settrace(before)
