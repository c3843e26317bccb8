"""What a page shows of each kind of result: `sections_of` gives sections for whatever lmviz computes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from lmviz.base.counting import numbered
from lmviz.base.errors import LmvizError
from lmviz.base.figures import number, percentage, signed_figure, whole_percentage
from lmviz.circuits.ablation import Ablation
from lmviz.circuits.attribution import Attribution
from lmviz.circuits.circuit import Circuit, CircuitPart
from lmviz.circuits.head_scores import SCORES, HeadScores
from lmviz.circuits.named_parts import named_parts
from lmviz.circuits.patching import Patches
from lmviz.circuits.result import Numbers
from lmviz.decoding.distribution import Distribution
from lmviz.decoding.options import SamplingOptions
from lmviz.inspection.logit_lens import LogitLens
from lmviz.inspection.names import number_of
from lmviz.inspection.scalar_words import scalar_in_words
from lmviz.inspection.trace import Trace
from lmviz.looks.columns import Column
from lmviz.looks.curve import PlotCurve
from lmviz.looks.ink import Ink
from lmviz.looks.live_parts import Frames, GraphEdge, GraphNode, PartsGraph, PollQuestion, WhatFollows
from lmviz.looks.look import Look
from lmviz.looks.parts import Bars, Curves, LookPart, Matrix, Table, Words
from lmviz.looks.shown import Shown
from lmviz.models.address import Address
from lmviz.pages.page import PageSection
from lmviz.pages.reading import (
    ALL,
    LIKELIEST,
    ChosenAttention,
    PartOfTrace,
    about_trace,
    lens_part,
    sections_of_part,
    trace_sections,
)
from lmviz.polls.poll import Poll
from lmviz.text.tokenizer import visible
from lmviz.training.run import Run

PATHS = 60
"""So many paths of a circuit are drawn."""

METRICS: dict[str, Ink] = {
    "loss": "training",
    "validation_loss": "validation",
    "own_loss": 2,
    "second_loss": 3,
}
"""The losses of a run, by the name of their metric, and the ink of each."""


@dataclass(frozen=True)
class ResultsBefore:
    """What stands beside a result on the same page: the `trace` that has its words, and how it is drawn."""

    trace: Trace | None = None
    chosen: ChosenAttention = ALL
    options: SamplingOptions | None = None
    about: Sequence[tuple[str, str]] = field(default_factory=tuple)

    def of(self, result: Any) -> Sequence[tuple[str, str]]:
        """Whose numbers a result has, as far as is known: those of the trace before it."""
        return self.about or (() if self.trace is None else about_trace(self.trace))

    def in_words(self, measure: str) -> str:
        """A number that is asked about, as the window says it: logit of “stone” − “bell”."""
        if self.trace is None:
            return measure
        names = self.trace.vocabulary if self.trace.predicts.continues else self.trace.predicts.names
        return scalar_in_words(measure, self.trace.tokens, set(names).__contains__)

    def token(self, position: int) -> str:
        """The token of the trace at a position; its number where there is none."""
        tokens = () if self.trace is None else self.trace.tokens
        return visible(tokens[position]) if position < len(tokens) else str(position + 1)


ALONE = ResultsBefore()


def page_sections(results: Iterable[Any], beside: ResultsBefore = ALONE) -> list[PageSection]:
    """The sections of several results in order; what has no words takes those of the trace before it."""
    found: list[PageSection] = []
    for result in results:
        if isinstance(result, Trace):
            beside = ResultsBefore(result, beside.chosen, beside.options, beside.about)
        found += sections_of(result, beside)
    return found


@singledispatch
def sections_of(result: Any, beside: ResultsBefore = ALONE) -> list[PageSection]:
    """The sections of one result; LmvizError for what a page cannot show."""
    if isinstance(result, dict) and result and all(isinstance(step, int) for step in result):
        return _of_steps(result, beside)
    if isinstance(result, list | tuple) and result:
        return page_sections(result, beside)
    if isinstance(result, Shown):
        return [PageSection(result.look(), beside.of(result))]
    if is_dataclass(result) and not isinstance(result, type):
        figures = _figures(result)
        if figures:
            return [PageSection(Look((figures,), title=_spaced(type(result).__name__)), beside.of(result))]
    raise LmvizError(
        f"A page cannot show {type(result).__name__}: give what lmviz has computed, such as a trace, a lens, "
        "patches or a run."
    )


@sections_of.register
def _(result: PageSection, beside: ResultsBefore = ALONE) -> list[PageSection]:
    return [result]


@sections_of.register
def _(result: Look, beside: ResultsBefore = ALONE) -> list[PageSection]:
    return [PageSection(result, beside.of(result))]


@sections_of.register
def _(result: Trace, beside: ResultsBefore = ALONE) -> list[PageSection]:
    return trace_sections(result, chosen=beside.chosen, options=beside.options)


@sections_of.register
def _(result: PartOfTrace, beside: ResultsBefore = ALONE) -> list[PageSection]:
    return sections_of_part(result, chosen=beside.chosen, options=beside.options)


@sections_of.register
def _(result: LogitLens, beside: ResultsBefore = ALONE) -> list[PageSection]:
    if beside.trace is None:
        raise LmvizError(
            "A lens has no words: give the trace that it was made of before it, as in [trace, lens]."
        )
    look = Look((lens_part(result, beside.trace),), title="If it stopped here", aside="likeliest word")
    return [PageSection(look, about_trace(beside.trace))]


@sections_of.register
def _(result: Distribution, beside: ResultsBefore = ALONE) -> list[PageSection]:
    ids = result.order[:LIKELIEST]
    words = [visible(result.token(id)) for id in range(len(result.logits))]
    weights = np.exp(result.logits - result.logits.max())
    options = result.options
    part = WhatFollows(
        tokens=("the text",),
        vocabulary=words,
        likeliest=ids[None],
        shares=(weights / weights.sum())[ids][None],
        places=(0,),
        logits=result.logits[None],
        options=(options.temperature, options.top_k, options.top_p, options.min_p),
        says="what follows",
    )
    return [PageSection(Look((part,), title="Next word"), beside.about)]


@sections_of.register
def _(result: Patches, beside: ResultsBefore = ALONE) -> list[PageSection]:
    into = "changed text" if result.into == "changed" else "text"

    measure = beside.in_words(result.measure)

    def said(cell: tuple[int, ...]) -> tuple[str, list[str]]:
        share = float(result.array[cell])
        if np.isnan(share):
            return "not measured", []
        lines = [
            f"{_cell_name(result, cell)}",
            f"{measure} = {signed_figure(float(result.measured[cell]), 3)}",
            f"from {signed_figure(result.changed)} in the changed text to {signed_figure(result.clean)}",
        ]
        if result.estimate is not None:
            lines.append(f"difference × gradient says {whole_percentage(float(result.estimate[cell]))}")
        return f"{percentage(share)} comes back", lines

    grid = _grid(result, result.array, said, limit=1.0, says="share of the answer that comes back")
    aside = f"share of {measure} that each state brings into the {into}"
    return [PageSection(Look((grid,), title="What brings the answer back", aside=aside), beside.of(result))]


@sections_of.register
def _(result: Ablation, beside: ResultsBefore = ALONE) -> list[PageSection]:
    measure = beside.in_words(result.measure)

    def said(cell: tuple[int, ...]) -> tuple[str, list[str]]:
        lines = [
            _cell_name(result, cell),
            f"{measure} of the whole model: {number(result.intact)}",
        ]
        if result.low is not None and result.high is not None:
            low, high = float(result.low[cell]), float(result.high[cell])
            lines.append(f"95 of 100 samples: {signed_figure(low, 3)} to {signed_figure(high, 3)}")
        return f"{signed_figure(float(result.array[cell]), 3)}", lines

    grid = _grid(result, result.array, said, says="change without each part")
    aside = f"change of {measure} where a part is set to {result.by}"
    return [PageSection(Look((grid,), title="What breaks without it", aside=aside), beside.of(result))]


@sections_of.register
def _(result: HeadScores, beside: ResultsBefore = ALONE) -> list[PageSection]:
    frames = [
        _heads(score_array, f"{score}: how much each head does it", 1.0)
        for score, score_array in zip(SCORES, result.array, strict=True)
    ]
    part = Frames(title="score", names=tuple(SCORES), parts=tuple(frames), chosen=SCORES.index("induction"))
    aside = f"over {len(result.ids)} texts of {result.words} random words said twice"
    return [PageSection(Look((part,), title="What each head does", aside=aside), beside.of(result))]


@sections_of.register
def _(result: Attribution, beside: ResultsBefore = ALONE) -> list[PageSection]:
    named = named_parts(result)
    texts = [signed_figure(part.share) for part in named]
    bars = Bars(
        labels=[part.name for part in named],
        values=[part.share for part in named],
        texts=texts,
        notes=[f"reads “{part.word}”" if part.word else "" for part in named],
        faded=[place for place, part in enumerate(named) if part.is_many],
        says="what each part adds",
    )
    value = signed_figure(result.value)
    parts: list[LookPart] = [
        Words(
            text=f"{beside.in_words(result.measure)} is {value}: the sum of {len(result.array)} components."
        ),
        bars,
    ]
    for kind in ("head", "cross head"):
        if kind in result.kinds and result.kinds[kind].array.ndim == 2:
            parts.append(_heads(result.kinds[kind].array, f"share of each {kind}", None))
    look = Look(tuple(parts), title="Who wrote it", aside=beside.in_words(result.measure))
    return [PageSection(look, beside.of(result))]


@sections_of.register
def _(result: Circuit, beside: ResultsBefore = ALONE) -> list[PageSection]:
    senders = [edge.sender for edge in result.edges if edge.sender not in result.parts]
    parts = (*result.parts, *dict.fromkeys(senders))
    shares = [*map(float, result.array), *(0.0 for _ in range(len(parts) - len(result.parts)))]
    layers = sorted({part.layer for part in parts if part.layer is not None})
    places = sorted({part.position for part in parts if part.position is not None}) or [0]
    nodes = [
        GraphNode(
            name=_part_name(part),
            column=places.index(part.position) if part.position is not None else 0,
            row=layers.index(part.layer) + 1 if part.layer is not None else 0,
            value=share,
            kind="word" if part.layer is None else "head" if part.number is not None else "layer",
            said=f"without it alone {whole_percentage(share)} is lost" if part in result.parts else "",
        )
        for part, share in zip(parts, shares, strict=True)
    ]
    answer = GraphNode("the answer", len(places) - 1, len(layers) + 1, 0.0, "word")
    numbers = {part: at for at, part in enumerate(parts)}
    edges = [
        GraphEdge(
            numbers[edge.sender], len(parts) if edge.receiver is None else numbers[edge.receiver], edge.share
        )
        for edge in result.edges[:PATHS]
    ]
    graph = PartsGraph(
        nodes=(*nodes, answer),
        edges=tuple(edges),
        columns=tuple(beside.token(place) for place in places),
        rows=("words", *(f"layer {numbered(layer)}" for layer in layers), "answer"),
        says="parts of the circuit and the paths between them",
    )
    rest = "as in the changed text" if result.rest == "changed" else "at its mean over both texts"
    said = (
        f"These {len(result.parts)} parts of {result.of} alone keep {whole_percentage(result.kept)} of the "
        f"difference; all else is {rest}."
    )
    kept = result.curve
    curve = Curves(
        curves=(PlotCurve("kept", _numbers_along(kept), 100 * np.asarray(kept.array)),),
        x_name="parts kept",
        y_name="% of the difference",
        says="how much so many of the strongest parts keep",
    )
    left = (
        [f"Of {len(result.edges):,} paths, the {PATHS} strongest were exported."]
        if len(result.edges) > PATHS
        else []
    )
    return [
        PageSection(
            Look(
                (Words(text=said), graph, curve), title="The circuit", aside=beside.in_words(result.measure)
            ),
            beside.of(result),
            left,
        )
    ]


@sections_of.register
def _(result: Run, beside: ResultsBefore = ALONE) -> list[PageSection]:
    return [loss_section(result)]


@sections_of.register
def _(result: Poll, beside: ResultsBefore = ALONE) -> list[PageSection]:
    if result.needs_model:
        part = PollQuestion(
            question=result.question,
            choices=[(one.letter, one.text) for one in result.filled],
            because=result.because,
        )
    else:
        right = result.find_right()
        part = PollQuestion(
            question=result.question,
            choices=[(one.letter, one.text) for one in result.filled],
            right=right.letter,
            computed=right.computed,
            because=result.because,
        )
    return [PageSection(Look((part,), title=result.title), ())]


def loss_section(run: Run, steps: Sequence[int] = ()) -> PageSection:
    """The losses of a training over its steps; the `steps` that are exported are marked."""
    lines = run.metrics()
    curves = []
    for name, ink in METRICS.items():
        known = [(line["step"], line[name]) for line in lines if line.get(name) is not None]
        if known:
            x, y = np.array(known, dtype=np.float64).T
            written = name.replace("_", " ").replace("loss", "loss").strip()
            curves.append(PlotCurve("training loss" if name == "loss" else written, x, y, ink))
    about = (
        ("model", run.description.name or run.folder.name),
        ("steps", ", ".join(f"{step:,}" for step in steps) or f"{len(lines):,} reported"),
    )
    if not curves:
        return PageSection(Look(instead="No losses were recorded in this training.", title="Loss"), about)
    part = Curves(
        curves=tuple(curves),
        y_name="nats per token",
        marks=tuple((float(step), f"{step:,}") for step in steps),
        says="losses over the steps of the training",
    )
    return PageSection(Look((part,), title="Loss", aside="nats per token"), about)


def _of_steps(results: dict[int, Any], beside: ResultsBefore) -> list[PageSection]:
    """Results at several steps of a training: each of their parts with a slider over the steps."""
    steps = sorted(results)
    by_step = [sections_of(results[step], beside) for step in steps]
    if len({len(sections) for sections in by_step}) != 1:
        raise LmvizError("These results differ in what they show at each step: give them one by one.")
    found = []
    for same in zip(*by_step, strict=True):
        counts = {len(section.look.parts) for section in same}
        if len(counts) != 1:
            raise LmvizError("These results differ in what they show at each step: give them one by one.")
        frames = tuple(
            Frames(
                title="step", names=tuple(f"{step:,}" for step in steps), parts=parts, chosen=len(steps) - 1
            )
            for parts in zip(*(section.look.parts for section in same), strict=True)
        )
        look, about = same[-1].look, [pair for pair in same[-1].about if pair[0] != "step"]
        about.append(("steps", ", ".join(f"{step:,}" for step in steps)))
        left = list(dict.fromkeys(sentence for section in same for sentence in section.left_out))
        found.append(PageSection(Look(frames, title=look.title, aside=look.aside), about, left))
    return found


def _grid(
    result: Numbers,
    array: np.ndarray,
    said: Any,
    *,
    limit: float | None = None,
    says: str,
) -> Matrix:
    """An array over its first axis, the last row on top as the last layer in the window, and all others."""
    flat = np.asarray(array, dtype=np.float64).reshape(len(array), -1)
    inner = list(itertools.product(*(range(size) for size in array.shape[1:])))
    rows = _row_names(result)

    def read_out(row: int, column: int) -> tuple[str, list[str]]:
        return said((len(rows) - 1 - row, *inner[column]))

    matrix = Matrix(
        values=flat[::-1],
        limit=limit,
        rows=rows[::-1],
        columns=[_column_name(result, cell) for cell in inner],
        says=says,
    )
    return matrix if said is None else replace(matrix, readout=read_out)


def _row_names(result: Numbers) -> list[str]:
    addresses = getattr(result, "addresses", ())
    if not addresses:
        return [visible(label) for label in result.labels(result.axes[0])]
    layers = [Address.parse(address).layer for address in addresses]
    return ["words" if layer is None else f"layer {numbered(layer)}" for layer in layers]


def _column_name(result: Numbers, cell: tuple[int, ...]) -> str:
    named = []
    for axis, at in zip(result.axes[1:], cell, strict=True):
        if axis in result.names:
            named.append(visible(result.names[axis][at]))
        else:
            named.append(f"{axis} {number_of(axis, at)}")
    return " · ".join(named)


def _cell_name(result: Numbers, cell: tuple[int, ...]) -> str:
    return ", ".join(part for part in (_row_names(result)[cell[0]], _column_name(result, cell[1:])) if part)


def _heads(values: np.ndarray, says: str, limit: float | None) -> Matrix:
    """Numbers (layer, head), the last layer on top."""
    layers, heads = values.shape
    return Matrix(
        values=np.asarray(values)[::-1],
        limit=limit,
        scale="share" if limit == 1.0 else "signed",
        rows=[f"layer {numbered(layer)}" for layer in reversed(range(layers))],
        columns=[str(numbered(head)) for head in range(heads)],
        says=says,
    )


def _part_name(part: CircuitPart) -> str:
    if part.layer is None:
        return "word"
    which = f"·{number_of(part.kind, part.number)}" if part.number is not None else ""
    return f"{part.kind} {numbered(part.layer)}{which}"


def _numbers_along(curve: Numbers) -> np.ndarray:
    """What stands along the one axis of a curve, as numbers."""
    return np.array([float(label) for label in curve.labels(curve.axes[0])])


def _figures(result: Any) -> Table | None:
    """The plain numbers of a value, a row for each; None where it has none."""
    names = [each.name for each in fields(result)]
    names += [
        name for name, one in vars(type(result)).items() if isinstance(one, property) and name[0] != "_"
    ]
    known = {name: getattr(result, name, None) for name in names}
    plain = {
        name: value
        for name, value in known.items()
        if isinstance(value, int | float | str) and not isinstance(value, bool)
    }
    if not any(isinstance(value, int | float) for value in plain.values()):
        return None
    written = [
        f"{value:,}" if isinstance(value, int) else value if isinstance(value, str) else number(value, 4)
        for value in plain.values()
    ]
    return Table(
        columns=(Column("", [_spaced(name) for name in plain]), Column("number", written)), says="figures"
    )


def _spaced(name: str) -> str:
    """A name of code in words: "NextWord" and "next_word" are "next word"."""
    return (
        "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
        .replace("_", " ")
        .strip()
    )
