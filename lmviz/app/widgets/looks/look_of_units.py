"""A look that speaks of words, as it is said of what a model reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from lmviz.looks.columns import Column
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.parts import LookPart, Readout
from lmviz.text.tokenizer import of_units

SAID = {
    "Answers": (),
    "Bars": (),
    "Button": ("text", "tip"),
    "CurveNames": (),
    "Curves": ("x_name", "y_name", "marks", "references"),
    "Dots": ("readout",),
    "Field": ("hint",),
    "Firings": (),
    "Labels": (),
    "Matrix": ("stairs_mean", "notes_title", "readout"),
    "Occurrences": (),
    "OneLine": ("text",),
    "Picker": ("choices", "tips"),
    "Points": ("x_name", "y_name"),
    "PushedLines": ("heads",),
    "Shifts": (),
    "SideBySide": ("first", "second"),
    "Sized": ("names", "readout"),
    "SliderLine": ("title", "written"),
    "Space": (),
    "Stacked": ("parts",),
    "Table": ("columns",),
    "WordBars": ("readout",),
    "WordCurves": (),
    "Words": ("text", "tip"),
}
"""By the kind of a part its fields that hold sentences of the program, or parts. The others name words of a
text, models, features and what else a person has, as what is said aloud of any part does not."""
GIVEN = {"Picker": ("choices",), "Words": ("text",)}
"""Those that hold none where a part is `given`."""
BETWEEN = "\0"
"""Stands between the pieces of a sentence while it is put in other words: a quotation may go over several."""


def look_of_units(look: Look, title: str, noun: str) -> Look:
    """A look as it is said of tokens of a noun: the look itself where that is as it is.

    `title` is the title where the look has none. Tokens, numbers, code and what is exported stay.
    """
    if noun != "character":
        return look
    told = of_units(title, noun)
    return replace(
        look,
        parts=[part_of_units(part, noun) for part in look.parts],
        title=_told(look.title, noun) if look.title or told == title else told,
        aside=_told(look.aside, noun),
        aside_tip=_told(look.aside_tip, noun),
        head=[part_of_units(part, noun) for part in look.head],
        instead=_told(look.instead, noun),
    )


def part_of_units(part: LookPart, noun: str) -> LookPart:
    """A part of a look, with those within it, as it is said of tokens of a noun."""
    kind = type(part).__name__
    given = GIVEN.get(kind, ()) if getattr(part, "given", False) else ()
    said = {name: getattr(part, name) for name in ("says", *SAID[kind]) if name not in given}
    told = {name: _told(value, noun) for name, value in said.items()}
    changed = {name: value for name, value in told.items() if value is not said[name]}
    return replace(part, **changed) if changed else part


def _told(said: Any, noun: str) -> Any:
    """A value of a field, itself where nothing in it is said otherwise."""
    match said:
        case str():
            told = _sentence(said, noun)
            return said if told == said else told
        case LookPart():
            return part_of_units(said, noun)
        case Column():
            title = _sentence(said.title, noun)
            return said if title == said.title else replace(said, title=title)
        case Inked():
            return said._replace(text=_sentence(said.text, noun))
        case _ if callable(said):
            return _told_readout(said, noun)
        case [Inked(), *_]:
            return _pieces(said, noun)
        case tuple() | list():
            anew = [_told(each, noun) for each in said]
            return said if all(new is old for new, old in zip(anew, said, strict=True)) else type(said)(anew)
        case _:
            return said


@lru_cache(maxsize=2048)
def _sentence(said: str, noun: str) -> str:
    """A sentence of units: most looks say the same again."""
    return of_units(said, noun)


def _pieces(said: Sequence[Inked], noun: str) -> Sequence[Inked]:
    whole = BETWEEN.join(piece.text for piece in said)
    told = of_units(whole, noun)
    if told == whole:
        return said
    texts = told.split(BETWEEN)
    return [piece._replace(text=text) for piece, text in zip(said, texts, strict=True)]


def _told_readout(readout: Callable[..., Readout], noun: str) -> Callable[..., Readout]:
    def told(*place: int) -> Readout:
        title, lines = readout(*place)
        return of_units(title, noun), [of_units(line, noun) for line in lines]

    return told
