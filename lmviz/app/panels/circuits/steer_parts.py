"""The parts of Steer, and what it says in words: what a direction does, and what a strength of 1 is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.looks.curve import PlotCurve
from lmviz.looks.parts import Bars, Button, Curves, Picker, SliderLine, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.decoding.distribution import Candidate
    from lmviz.readouts.direction import StateDirection
    from lmviz.readouts.direction_use import DirectionUse
    from lmviz.readouts.steering import SteeredMeasure, SteeredText

LEAST, MOST, STEP = -2.0, 2.0, 0.1
PLACES = round((MOST - LEAST) / STEP) + 1
MARKED_FROM = 0.3
"""From so far on, the mark of a direction's own length does not lie on that of 0."""
NO_PAIR = (
    "Type a changed text beside the first: what the model's state is in one and not in the other is the "
    "direction that is added here. Or choose one in Directions."
)
ONE_LANGUAGE_MODEL = "{} does not predict the next token of one text: open a language model."

SLIDER = SliderLine("steer_slider", says="strength of the direction", title="strength", count=PLACES)
PLACE = Picker("steer_place_picker", says="after which layer the direction is used")
SOURCE = Picker("steer_direction_picker", says="which direction is used", given=True)
HOW = Picker("steer_how_picker", says="what is done along the direction")
LAYERS = Picker(
    "steer_layers_picker", says="at one layer or at all", choices=("at this layer", "at every layer")
)
WORDS_PICKER = Picker(
    "steer_words_picker", says="at which words", choices=("at every word", "from the current word on")
)
APPLY = Button(
    "steer_apply_button", text="add to surgery", role="link", tip="Put it into surgery, as the slider stands."
)
BETWEEN = "between the two texts"
SENTENCE = Words("steer_sentence")
UNIT = Words("steer_unit", says="what a strength of 1 is", role="muted")
SAMPLE = Words("steer_sample", says="what the steered model writes", given=True)
BARS = Bars("steer_words", says="what it expects next", share=1)
PLOT = Curves(
    "steer_plot",
    says="the measure by the strength, beside a random direction",
    x_name="strength",
    y_name="the measure",
    possible=((LEAST, MOST), (-np.inf, np.inf)),
    share=1,
)
LOSS = Curves(
    "steer_loss",
    says="the loss on other text by the strength",
    x_name="strength",
    y_name="nats per token",
    possible=((LEAST, MOST), (0.0, np.inf)),
    share=1,
)


@dataclass(frozen=True, eq=False)
class SteerFound:
    """The places there are, what is done along which direction, and what the text becomes with it.

    `direction` is as it was given, with a length of its own; that of `use` is as long as states of the text
    lie from their mean, so that a strength means the same for directions of all kinds.
    """

    places: tuple[str, ...]
    direction: StateDirection
    use: DirectionUse
    text: str
    steered: SteeredText

    @property
    def is_scaled(self) -> bool:
        """Whether that is known; of two words it is not."""
        return self.use.direction is not self.direction

    @property
    def own_length(self) -> float:
        """The length of the direction as it was given, as a strength; NaN where that is not known."""
        return self.direction.length / self.use.direction.length if self.is_scaled else float("nan")


def curves_of(curve: SteeredMeasure, found: SteerFound) -> tuple[Curves, ...]:
    """The measure by the strength, and below it the loss on other text, where there is one."""
    marks = [(0.0, "as it is")]
    if found.use.how == "add" and MARKED_FROM <= found.own_length <= MOST:
        marks.append((found.own_length, "its own length"))
    own = PlotCurve("this direction", curve.strengths, curve.array, "accent", dots=True)
    random = PlotCurve("random ones", curve.strengths, curve.random, "muted_text", dashed=True)
    plot = replace(PLOT, curves=[own, random], marks=marks)
    if curve.loss is None or curve.random_loss is None:
        return (plot,)
    own = PlotCurve("loss, this direction", curve.strengths, curve.loss, "validation", dots=True)
    random = PlotCurve("random", curve.strengths, curve.random_loss, "muted_text", dashed=True)
    says = f"the loss on {count(curve.tokens)} tokens of the open text"
    return plot, replace(LOSS, says=says, curves=[own, random])


def unit_in_words(use: DirectionUse, own: float) -> str:
    """What a strength of 1 is, for directions of all kinds; `own` is the length of this one."""
    if use.how != "add":
        return f"1 {'removes' if use.how == 'remove' else 'swaps'} all that states have along it."
    if not np.isfinite(own):
        return "1 is the direction's own length: the text is too short to say how far its states lie apart."
    where = place_in_words(use.direction.address)
    return (
        f"1 is as far as states of the text lie from their mean after {where}, on average; this direction's "
        f"own length is {number(own, 2)} of it."
    )


def effect_in_words(
    likeliest: Candidate, strength: float, use: DirectionUse, what: str, curve: SteeredMeasure | None
) -> str:
    """What the direction does, beside what a random one does."""
    where, by = place_in_words(use.direction.address), number(strength, 1)
    done = {"add": f"Moved by {by} along {what}", "remove": f"With {by} × {what} removed"}
    done["swap"] = f"With {by} × {what} swapped"
    text = (
        f"{done[use.how]} after {where}, “{visible(likeliest.token)}” is likeliest, "
        f"{percentage(likeliest.probability)}."
    )
    if curve is not None and curve.is_complete:
        own, random = (float(np.ptp(values)) for values in (curve.array, curve.random))
        ratio = own / random if random > 0 else np.inf
        text += (
            f" Over all strengths it moves the number {number(ratio, 1)} times as far as a random "
            "direction of the same length does."
        )
    return text
