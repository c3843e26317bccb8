"""Labels in place of words: what the probe of each layer reads at each position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.inside.lens_choice import (
    FORMULAS,
    NO_PROBE,
    PROBE,
    SHOW_PROBE,
    fitted_in_words,
    judged_in_words,
    probe_recipe,
)
from lmviz.app.widgets.base.figures import brief_percentage, percentage, signed_figure, whole_percentage
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.inspection.names import stop_name
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.parts import Button, LookPart, Matrix, Picker, Space, Words

if TYPE_CHECKING:
    from lmviz.app.session.probes import FittedProbes
    from lmviz.app.session.reading import Reading
    from lmviz.readouts.probe_reading import ProbeReading

TITLE = "What a probe reads here"
OTHERS_SHOWN = 3
SHOW = Button(
    "show_probe_panel", text=SHOW_PROBE, tip="It is a tab of the perspective Circuits.", shown=False
)
INVITATION = Words("no_probe_sentence", text=NO_PROBE, role="muted", centred=True, shown=False)


@dataclass(frozen=True, eq=False)
class ReadByProbes:
    """What probes read of a text, and which probes these are."""

    read: ProbeReading
    fitted: FittedProbes

    @property
    def places(self) -> tuple[str, ...]:
        """Where in the model states were read."""
        return self.read.places

    @property
    def positions(self) -> tuple[int, ...]:
        """Where in the text."""
        return self.read.positions


def no_probe_look(kind: Picker, hidden: Sequence[LookPart], show: Callable[[], object]) -> Look:
    """What is shown while no probe is fitted: what to do, and a button that shows where."""
    button = replace(SHOW, shown=True, clicked=show)
    return Look((Space(), replace(INVITATION, shown=True), button, Space(), *hidden), TITLE, head=(kind,))


def explained(found: ReadByProbes, row: int, column: int, label: int) -> tuple[str, list[str]]:
    """How a probe comes by the probability of a label at a place, down to what is added up."""
    read, probes = found.read, found.fitted.probes
    scores, bias = read.scores[row, column], float(read.biases[row, label])
    score, share = float(scores[label]), float(read.shares[row, column, label])
    others = [at for at in (-scores).argsort().tolist() if at != label][:OTHERS_SHOWN]
    beside = ", ".join(f"{read.names[at]} {signed_figure(float(scores[at]))}" for at in others)
    return f"{read.names[label]}  {percentage(share)}", [
        f"by the probe after {stop_name(read.places[row])}",
        f"w · h + b = {signed_figure(score - bias)} {signed_figure(bias)} = {signed_figure(score)}",
        f"other labels: {beside}; softmax of {len(scores)}",
        f"right in {whole_percentage(float(probes.accuracy[row]))} of the places held out, "
        f"the best control in {whole_percentage(float(probes.controls[row]))}",
    ]


def probe_look(
    reading: Reading,
    found: ReadByProbes,
    parts: tuple[Words, Matrix],
    rows: Sequence[str],
    columns: Sequence[str],
    position: int,
    go: Callable[[int, int], object],
) -> Look:
    """The labels as words in the cells of the grid, which are coloured by their probability."""
    read, fitted = found.read, found.fitted
    likeliest, shares, probes = read.likeliest, read.shares, fitted.probes
    names = [[read.names[label] for label in row] for row in likeliest.tolist()]
    strongest = shares.max(axis=-1)
    words = [
        [f"{name} {brief_percentage(share)}" for name, share in zip(*row, strict=True)]
        for row in zip(names, strongest.tolist(), strict=True)
    ]

    def read_out(row: int, column: int) -> tuple[str, list[str]]:
        return explained(found, row, column, int(likeliest[row, column]))

    sentence, grid = parts
    grid = replace(
        grid,
        values=strongest,
        scale="share",
        limit=1.0,
        rows=rows,
        columns=columns,
        words=words,
        readout=read_out,
        clicked=go,
        notes_title="held out",
        notes=[whole_percentage(float(share)) for share in probes.accuracy],
    )
    text: tuple[Inked, ...] = (Inked(judged_in_words(fitted)),)
    if position in read.positions:
        at = read.positions.index(position)
        grid = replace(grid, column=at)
        last = Inked(f"“{names[-1][at]}”", is_bold=True, ink="accent")
        said = f" is read here at {place_in_words(read.places[-1])}. {judged_in_words(fitted)}"
        text = (last, Inked(said))
    return Look(
        (replace(sentence, text=text, shown=True), grid),
        title=TITLE,
        aside=fitted_in_words(fitted),
        aside_tip=f"{FORMULAS[PROBE]}. Fitted {fitted.at}; elsewhere it was not told what is right.",
        arrays={
            "positions": np.array(read.positions),
            "labels": likeliest,
            "shares": shares,
            "scores": read.scores,
        },
        recipe=probe_recipe(reading, fitted, list(read.positions)),
    )
