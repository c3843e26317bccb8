"""One text of the turns of a chat, by the template that a stranger's folder has for it.

A template is a program in Jinja. It is run as transformers runs it, in a sandbox (`template_sandbox.py`) that
lets it neither import nor change anything nor grow without bound, and in a process of its own, which is ended
where that takes long or much memory all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmviz.base.errors import LmvizError
from lmviz.base.side_process import SideProcess
from lmviz.text.tokenizer import Tokenizer

TEMPLATES = SideProcess("lmviz.text.template_running")
"""Where templates run: those of published models take some milliseconds."""

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
    where there is no template, or where it cannot do that. It may take seconds: a window asks in a thread.
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
    messages = [{"role": turn.role, "content": turn.text} for turn in turns]
    values = {"messages": messages, "add_generation_prompt": answers, **named}
    try:
        return str(TEMPLATES.ask({"template": template, "values": values}))
    except LmvizError as error:
        raise LmvizError(
            f"The template for chats of this model cannot do that ({error}): type plain text."
        ) from None
