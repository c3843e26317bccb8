"""The parts of Probe, and what stands beside its curves in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.widgets.base.figures import whole_percentage
from lmviz.base.counting import numbered
from lmviz.inspection.names import stop_name
from lmviz.looks.curve import PlotCurve
from lmviz.looks.parts import Button, Curves, Field, Picker, Space, Stacked, Words
from lmviz.models.address import Address

if TYPE_CHECKING:
    from lmviz.readouts.number_probe import NumberProbes
    from lmviz.readouts.probing import Probes

NO_MODEL = "Open a model to see what can be read off its states."
NO_LABELS = (
    "Open a text with tags or labels: a probe is fitted to say them from the states of the shown model, "
    "whatever that was trained for. Or mark words, or choose a number: these need a plain text."
)
NO_TEXT = "Open a plain text to read marked words or a number off the states of the shown model."
NO_MARKS = "Type words or phrases to mark, with commas between them, or mark the current word."
NO_WORD = "Type a text: the word that is counted is the current one."
LABELS, MARKED, POSITION, DEPTH, COUNT = range(5)
KINDS = (
    "labels of the text",
    "marked words",
    "position",
    "depth of brackets",
    "count of the current word",
)
SIDES = {"at": "at the word", "before": "one token before", "after": "one token after"}
SOURCE_TOO = "{} reads a source beside its text, and probes read models of one text: open another."
INVITATION = (
    "Can the labels, or the number, be read off the state after each layer? And is that more than the "
    "words, random labels or numbers, and the same network before its training give?"
)
SENTENCE = Words("probe_sentence")
KIND = Picker("probe_kind_picker", says="what is read off the states", choices=KINDS)
MARKS = Field("probe_marks_edit", says="words or phrases that are marked", hint="Words to mark, with commas")
MARK = Button(
    "probe_mark_button", text="mark current word", tip="Mark the word of the typed text that is looked at."
)
SIDE = Picker("probe_side_picker", says="where the state is read", choices=tuple(SIDES.values()))
LABEL = Picker("probe_label_picker", says="of which label the direction is kept", given=True)
PLACE = Picker("probe_place_picker", says="of which layer the direction is kept")
PLOT = Curves(
    "probe_plot",
    says="how often a probe is right, by layer, and its controls",
    x_name="layer",
    y_name="right of those held out",
    possible=((-1.0, np.inf), (0.0, 1.0)),
    writes=(None, whole_percentage),
    share=1,
)
NUMBER_PLOT = Curves(
    "probe_number_plot",
    says="how much of a number a probe explains, by layer, and its controls",
    x_name="layer",
    y_name="R² on texts held out",
    possible=((-1.0, np.inf), (-np.inf, 1.0)),
    share=1,
)

CONTROL_TASK = (
    "Designing and Interpreting Probes with Control Tasks: a probe that learns random labels by heart says "
    "little about the states it reads."
)


def curves_of(probes: Probes | NumberProbes, found: np.ndarray, at_random: str) -> list[PlotCurve]:
    """What is read at each layer, with its band, above what an untrained network and chance give."""
    layers = np.array([place_of(address) for address in probes.addresses])
    curves = [
        PlotCurve("read here", layers, found, "accent", dots=True, band=(probes.low, probes.high)),
        PlotCurve(at_random, layers, probes.shuffled, "muted_text", dashed=True),
    ]
    if probes.untrained is not None:
        curves.insert(1, PlotCurve("before training", layers, probes.untrained, "value", dots=True))
    return curves


def told_beside(sentence: str, told: str) -> Stacked:
    """What may be claimed, and what it was measured on."""
    return Stacked(
        parts=(
            Space(),
            replace(SENTENCE, text=sentence),
            Words(text=told, role="muted"),
            Space(),
            Words(text="Hewitt & Liang 2019", role="muted", tip=CONTROL_TASK),
        )
    )


def place_of(address: str) -> int:
    """Where a state stands along the axis: at the number of its layer, or one before the first."""
    layer = Address.parse(address).layer
    return int(numbered(0)) - 1 if layer is None else int(numbered(layer))


def name_of(address: str) -> str:
    """The number of a layer, or what stands before all layers."""
    layer = Address.parse(address).layer
    return stop_name(address) if layer is None else str(numbered(layer))
