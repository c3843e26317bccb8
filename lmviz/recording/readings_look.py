"""How readings look: what a module answered to a prefix at a step, and how surprised it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmviz.base.figures import number, percentage
from lmviz.looks.columns import Column
from lmviz.looks.look import Look
from lmviz.looks.parts import Bars, LookPart, Matrix, Picker, Readout, SideBySide, SliderLine, Table, Words
from lmviz.recording.readings import Readings, RecordedReading

MOST_WORDS = 10
"""Next words that are drawn."""

LONGEST_PREFIX = 60
"""Letters of a prefix in a list of them."""

WHY_NO_PANELS = (
    "Recorded while {by} trained {module}, not recomputed: lmviz does not compute this module, so no panel "
    "can explain these numbers, or change one and show what follows."
)


@dataclass(frozen=True)
class LookedAt:
    """What is looked at: the place of a step among those that were kept, the prefix, a position in it, and
    which of its matrices.
    """

    place: int = 0
    prefix: int = 0
    position: int = -1
    matrix: int = 0


def readings_look(
    readings: Readings,
    steps: Sequence[int],
    reading: RecordedReading,
    at: LookedAt,
    go: Callable[[LookedAt], object],
) -> Look:
    """The reading of a step; `go` is told what a person wants to look at instead."""
    position = at.position if 0 <= at.position < len(reading.ids) else len(reading.ids) - 1
    surprisal = np.concatenate(([np.nan], reading.surprisal))
    best = reading.logits.argmax(axis=-1)
    names = _Names(readings)
    shares = reading.probabilities
    table = Table(
        "readings_table",
        columns=(
            Column("token", reading.tokens, tokens=True),
            Column("surprisal, nats", surprisal, write=_surprise),
            Column("likeliest next", [names.of(each) for each in best], tokens=True),
            Column("probability", shares.max(axis=-1), write=percentage),
        ),
        clicked=lambda row: go(replace(at, position=row)),
        says="the tokens of the prefix",
        share=1,
    )
    order = np.argsort(-reading.logits[position], kind="stable")[:MOST_WORDS]
    bars = Bars(
        "readings_next",
        labels=[names.of(each) for each in order],
        values=shares[position, order],
        says=f"the next token after position {position + 1}",
        share=1,
    )
    slider = SliderLine(
        "readings_step",
        title="step",
        count=max(2, len(steps)),
        place=at.place,
        written=f"{reading.step:,}",
        moved=lambda place: go(replace(at, place=min(place, len(steps) - 1))),
    )
    prefixes = Picker(
        "readings_prefix",
        choices=[text[:LONGEST_PREFIX] for text in readings.prefixes],
        chosen=at.prefix,
        chose=lambda chosen: go(LookedAt(at.place, chosen)),
        says="which prefix was read",
        shown=len(readings.prefixes) > 1,
    )
    answers = SideBySide(first=table, second=bars, shares=(3, 2), share=1)
    said = Words(text=WHY_NO_PANELS.format(**_recorded(readings)), role="muted")
    arrays = {"logits": reading.logits, "surprisal": surprisal, **reading.activations}
    return Look(
        (
            said,
            slider,
            answers,
            *_matrices(reading, at, go),
        ),
        title=f"Recorded at step {reading.step:,}",
        head=(prefixes,),
        arrays=arrays,
    )


def _matrices(reading: RecordedReading, at: LookedAt, go: Callable[[LookedAt], object]) -> Sequence[LookPart]:
    """Weights of attention and outputs of modules, of which one is drawn."""
    tokens = list(reading.tokens)
    found: list[tuple[str, np.ndarray, str, list[str]]] = [
        (f"attention {call}, head {head}", square, "share", tokens)
        for call, heads in enumerate(reading.attention, start=1)
        if heads.ndim == 3
        for head, square in enumerate(heads, start=1)
    ]
    found += [(name, value, "signed", []) for name, value in reading.activations.items() if value.ndim == 2]
    found = [each for each in found if len(each[1]) == len(tokens)]
    if not found:
        return ()
    chosen = min(at.matrix, len(found) - 1)
    name, values, scale, columns = found[chosen]

    def readout(row: int, column: int) -> Readout:
        of = f"from {tokens[row]} to {tokens[column]}" if columns else f"{tokens[row]}, {column + 1}"
        return name, (of, number(float(values[row, column])))

    picker = Picker(
        "readings_matrix",
        choices=[each[0] for each in found],
        chosen=chosen,
        chose=lambda place: go(replace(at, matrix=place)),
        says="which matrix is drawn",
    )
    matrix = Matrix(
        "readings_cells",
        values=values,
        scale=scale,
        rows=tokens,
        columns=columns,
        readout=readout,
        says=name,
        share=1,
    )
    return picker, matrix


def _surprise(nats: float) -> str:
    return "" if np.isnan(nats) else number(nats, 2)  # nothing came before the first token


class _Names:
    """How tokens are displayed; numbers where the tokenizer cannot be read any more."""

    def __init__(self, readings: Readings) -> None:
        self._tokens = readings.displayed

    def of(self, index: int) -> str:
        return self._tokens[index] if index < len(self._tokens) else f"⟨{index}⟩"


def _recorded(readings: Readings) -> dict[str, str]:
    said = readings.recorded
    return {"by": str(said.get("by", "another program")), "module": str(said.get("module", "a module"))}
