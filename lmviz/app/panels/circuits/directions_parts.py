"""The parts of Directions, and what it says of the chosen one in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.widgets.base.figures import count, number
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.looks.firing import FiringLine
from lmviz.looks.parts import Button, Field, Firings, Picker, Table, WordBars, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.readouts.direction import StateDirection
    from lmviz.readouts.direction_places import DirectionPlaces

DEVIATIONS = 4.0
"""From so many standard deviations on, a word is of the strongest colour."""

NO_MODEL = "Open or train a language model to collect directions of its states."
NOT_THIS = "{} does not predict the next token of one text: open a language model."
EMPTY = (
    "No direction yet. Type a word below, take the means of the set that is open in Texts, open a file, or "
    "press “keep direction” in Probe, Steer, Heads as words, Weights or Turn it."
)
NO_TEXT = "Open a text to see where in it the chosen direction is strong."
OF = {"unembedding": "what raises it (unembedding)", "embedding": "what it is (embedding)"}

SENTENCE = Words("directions_sentence")
TABLE = Table("directions_list", says="the directions of this model", share=4)
LINES_PART = Firings("direction_places", says="where in the text the direction is strong", share=4)
BARS = WordBars("direction_values", says="how far each word of the prefix lies along the direction", share=3)
NAME = Field("direction_name_edit", says="a name for the chosen direction", hint="A name for the chosen one")
WORD = Field(
    "direction_word_edit",
    says="a word whose direction is added",
    hint="Add the direction of a word",
    keeps=False,
)
OF_PICKER = Picker("direction_of_picker", says="which row of a word is taken", choices=tuple(OF.values()))
PLACE = Picker("direction_place_picker", says="after which layer a new direction is")
MEANS = Button(
    "direction_means_button",
    text="means of the set",
    role="link",
    tip="Add the difference of means of the set that is open in Texts: its texts less their changed texts, "
    "or the two commonest wanted words or labels, at the last word.",
)
OPEN = Button("open_directions_button", text="Open …", role="link", tip="Add the directions of a file.")
SAVE = Button(
    "save_directions_button",
    text="Save …",
    role="link",
    tip="Save the list as safetensors, or as a control vector of llama.cpp where the name ends in .gguf.",
)
REMOVE = Button(
    "remove_direction_button", text="remove", role="link", tip="Take the chosen one off the list."
)
KINDS = "Directions (*.safetensors *.gguf)"


@dataclass(frozen=True, eq=False)
class DirectionsFound:
    """The taps where directions can be, and of each direction its words and its cosines (n, n)."""

    taps: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    cosines: np.ndarray


def said_of(found: DirectionsFound, listed: Sequence[StateDirection], at: int) -> str:
    """What the chosen one reads and writes, and which of the others is most alike."""
    if at < 0:
        return "Choose one to see where it is strong, and in Steer what it does."
    said = f"{listed[at].called} stands at {place_in_words(listed[at].address)}"
    told = [f"reads {found.reads[at]}"] if found.reads[at] else []
    told += [f"writes {found.writes[at]}"] if found.writes[at] else []
    said += f"; it {' and '.join(told)}." if told else "."
    alike = np.abs(np.nan_to_num(np.delete(found.cosines[at], at)))
    if len(alike):
        most = int(alike.argmax()) + (int(alike.argmax()) >= at)
        cosine = two_digits(found.cosines[at, most])
        said += f" Of the others, {listed[most].called} is most alike, cosine {cosine}."
    return said


def told_of_places(found: DirectionPlaces) -> str:
    """What the lines below are, and what their colour is."""
    return (
        f"Where it is strong in {count(found.tokens)} tokens of the open text; colour: standard "
        f"deviations above the mean, up to {number(DEVIATIONS, 0)}"
    )


def lines_of(found: DirectionPlaces) -> list[FiringLine]:
    """The places where the direction is strong, each with the words around it."""
    return [
        FiringLine(
            tuple(map(visible, place.tokens)),
            place.at,
            np.clip(place.deviations / DEVIATIONS, 0, 1),
            number(place.value, 2),
            (
                f"{number(float(place.deviations[place.at]), 1)} standard deviations above the mean",
                f"text {place.text + 1:,} of those read, token {place.position + 1}",
            ),
        )
        for place in found.strongest
    ]


def two_digits(value: float) -> str:
    """A cosine; nothing where there is none."""
    return number(float(value), 2) if np.isfinite(value) else ""
