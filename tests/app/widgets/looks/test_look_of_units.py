"""A look speaks of what the shown model reads, and leaves what a text, a model and a person say as it is."""

from __future__ import annotations

import re
from dataclasses import fields

import numpy as np
import pytest

from lmviz.app.widgets.looks.look_of_units import GIVEN, SAID, look_of_units
from lmviz.app.widgets.looks.part_drawing import DRAWN_BY
from lmviz.looks import parts
from lmviz.looks.columns import Column
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.parts import Curves, LookPart, Matrix, Picker, SideBySide, Stacked, Table, Words

NAMES = {
    "Answers": {"columns", "prompts", "words"},
    "Bars": {"labels", "notes", "texts"},
    "Button": {"role"},
    "CurveNames": {"curves"},
    "Curves": {"curves", "writes"},
    "Dots": {"rows"},
    "Field": {"text"},
    "Firings": {"lines"},
    "Labels": {"gold", "rows", "words"},
    "Matrix": {"columns", "notes", "rows", "scale", "words"},
    "Occurrences": {"lines"},
    "Points": {"inks", "readout"},
    "PushedLines": {"rows"},
    "Shifts": {"labels"},
    "Sized": {"columns", "rows"},
    "Table": {"holding"},
    "WordBars": {"below", "words"},
    "WordCurves": {"curves", "words"},
    "Words": {"role"},
}
"""By the kind of a part what names words of a text, models, features, roles and what a person typed."""


QUIET = {"bool", "int", "float", "np", "ndarray", "None", "Range", "tuple", "Sequence", "Collection"}
"""Of what the types of fields are made in which nothing is said."""


def speaks(annotation: str) -> bool:
    """Whether something can be said in a field of a type; of what a click does, nothing is."""
    if annotation.startswith("Callable") and "Readout" not in annotation:
        return False
    return not set(re.findall(r"\w+", annotation)) <= QUIET


def kinds() -> list[type[LookPart]]:
    return [kind for kind in vars(parts).values() if isinstance(kind, type) and issubclass(kind, LookPart)]


@pytest.mark.parametrize(
    "kind", [kind for kind in kinds() if kind is not LookPart], ids=lambda kind: kind.__name__
)
def test_of_every_field_of_a_part_it_is_known_whether_the_program_speaks_there(kind: type[LookPart]) -> None:
    known = {*SAID[kind.__name__], *NAMES.get(kind.__name__, ()), "name", "says"}
    speaking = {each.name for each in fields(kind) if speaks(str(each.type))}
    assert speaking <= known, "say in SAID or here what it holds"
    assert SAID.keys() == DRAWN_BY.keys()
    assert {*SAID[kind.__name__], *GIVEN.get(kind.__name__, ())} <= {each.name for each in fields(kind)}


def test_sentences_are_said_of_characters_and_what_is_named_or_quoted_stays() -> None:
    def readout(row: int, column: int) -> tuple[str, list[str]]:
        return "one word back", ["of “the word”"]

    look = Look(
        (
            Words(text="Each word counts", tip="a word's tip", says="words aloud"),
            Words(text="…and the word was", says="what each word adds", given=True),
            Words(text=[Inked("Where it is “"), Inked("word"), Inked("”, a word")]),
            SideBySide(
                first=Stacked(parts=[Matrix(rows=["word"], stairs_mean="words", readout=readout)]),
                second=Table(columns=[Column("Word", ["word"])]),
            ),
            Curves(x_name="words", references=[("words alone", 0.5)]),
        ),
        aside="by word-lstm, by word",
        head=(Picker(choices=("next word", "loss")), Picker(choices=("word",), tips=("a word",), given=True)),
        arrays={"word": np.ones(1)},
        recipe="word = 1",
    )
    told = look_of_units(look, "Words", "character")
    assert told == Look(
        (
            Words(text="Each character counts", tip="a character's tip", says="characters aloud"),
            Words(text="…and the word was", says="what each character adds", given=True),
            Words(text=[Inked("Where it is “"), Inked("word"), Inked("”, a character")]),
            SideBySide(
                first=Stacked(parts=[Matrix(rows=["word"], stairs_mean="characters")]),
                second=Table(columns=[Column("Character", ["word"])]),
            ),
            Curves(x_name="characters", references=[("characters alone", 0.5)]),
        ),
        title="Characters",
        aside="by word-lstm, by character",
        head=(
            Picker(choices=("next character", "loss")),
            Picker(choices=("word",), tips=("a character",), given=True),
        ),
        arrays={"word": np.ones(1)},
        recipe="word = 1",
    )
    matrix = told.parts[3].inner[0].inner[0]
    assert isinstance(matrix, Matrix)
    assert matrix.readout(0, 0) == ("one character back", ["of “the word”"])
    assert look_of_units(look, "Words", "token") is look, "pieces are read as words"
