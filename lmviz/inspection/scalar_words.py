"""The number that is asked about, in words: "logit of “stone” − “bell”" for "logit:stone-bell@25"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lmviz.text.tokenizer import visible

KINDS = ("logit", "probability", "loss")


def scalar_in_words(of: str, tokens: Sequence[str], is_answer: Callable[[str], bool]) -> str:
    """What a number is that is stated in one line; the line itself where that is of another kind.

    `tokens` are those of the text. `is_answer` says what the model can answer, which tells two words from one
    with a minus in it. The last token is not named, for that is what is meant where none is stated.
    """
    if of == "loss":
        return "all losses"
    stated, place = split_at_place(of)
    kind, _, words = stated.partition(":")
    at = _whole(place, len(tokens))
    if kind not in KINDS or not words:
        is_of_token = stated == "loss" and at is not None
        return f"loss of “{visible(tokens[at])}”" if is_of_token and at is not None else of
    named = answers_in(words, is_answer) or (words,)
    said = f"{kind} of {' − '.join(f'“{visible(word)}”' for word in named)}"
    return (
        said if at is None or at == len(tokens) - 1 else f"{said} at token {at + 1}, “{visible(tokens[at])}”"
    )


def split_at_place(of: str) -> tuple[str, str]:
    """What is meant, and after which token: the last where none is stated."""
    stated, at, place = of.rpartition("@")
    return (stated, place) if at and (":" in stated or stated == "loss") else (of, "-1")


def answers_in(words: str, is_answer: Callable[[str], bool]) -> tuple[str, ...]:
    """The one answer, or the two with a minus between them, that are named; a name may have a minus itself.

    None where they are none.
    """
    if is_answer(words):
        return (words,)
    pairs = ((words[:at], words[at + 1 :]) for at, sign in enumerate(words) if sign == "-")
    return next((pair for pair in pairs if all(map(is_answer, pair))), ())


def _whole(place: str, count: int) -> int | None:
    """A position from the beginning; None where there is no such token."""
    try:
        at = int(place)
    except ValueError:
        return None
    at += count if at < 0 else 0
    return at if 0 <= at < count else None
