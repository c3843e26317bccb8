"""How traces, gradients and the logit lens look."""

from __future__ import annotations

from typing import Any

import numpy as np

from lmviz.base.figures import counted, plain
from lmviz.inspection.gradient import Gradient
from lmviz.inspection.logit_lens import LogitLens
from lmviz.inspection.tap_picture import TapPicture
from lmviz.inspection.trace import Trace
from lmviz.inspection.traced_array import TracedArray
from lmviz.looks.look import Look
from lmviz.looks.parts import LookPart, Matrix, OneLine, Table, Words
from lmviz.models.address import Address
from lmviz.showing.pieces import MOST, counts, likeliest, named, numbers, placed, shares, texts
from lmviz.showing.width import shortened

TEXT = 60
"""Columns that the text takes in a title."""

HEADS = 48
"""What the last word looks at is drawn for all heads where there are at most so many."""


def look_of_trace(trace: Trace) -> Look:
    """Each word with its surprisal and what was expected after it, and what the last one looked at."""
    changes = len(trace.interventions)
    aside = [counted(len(trace), "position"), counted(len(trace.arrays), "tap")]
    aside += [counted(changes, "intervention")] * (changes > 0)
    parts = [*_answers(trace), *_attention(trace)]
    if not parts:
        parts = [_taps(trace)]
    elif trace.arrays:
        parts.append(OneLine("taps", text=f"taps by address, such as {_sample(trace)}"))
    return Look(
        parts,
        title=f"Trace of {named(trace.name, trace.family, trace.step)}: {shortened(trace.text, TEXT)}",
        aside=", ".join(aside),
    )


def look_of_gradient(gradient: Gradient) -> Look:
    """How much the number hangs on each word, and on each parameter."""
    trace, scalar = gradient.trace, gradient.scalar
    by_word = next(
        (
            (address, at)
            for address, at in gradient.arrays.items()
            if len(at.axes) == 2 and at.axes[0] == "position" and at.shape[0] == len(trace)
        ),
        None,
    )
    parts: list[LookPart] = []
    if by_word is not None:
        address, at = by_word
        first = max(0, len(trace) - MOST)
        norms = np.linalg.norm(at.array[first:], axis=1)
        parts.append(
            Table(
                "words",
                columns=[
                    counts("position", range(first, len(trace))),
                    texts("token", trace.tokens[first:], tokens=True),
                    numbers(f"‖gradient‖ at {address}", norms, bar=True),
                ],
            )
        )
    sized = sorted(
        ((float(np.linalg.norm(array)), name) for name, array in gradient.parameters.items()), reverse=True
    )
    parts.append(
        Table(
            "parameters",
            columns=[
                texts("parameter", (name for _, name in sized), tokens=True),
                numbers("‖gradient‖", (norm for norm, _ in sized), bar=True),
            ],
        )
    )
    return Look(
        parts,
        title=f"Gradient of {scalar.name} = {plain(gradient.value, 4)} in "
        f"{named(trace.name, trace.family, trace.step)}: {shortened(trace.text, TEXT)}",
        aside=f"{counted(len(gradient.arrays), 'tap')}, {counted(len(gradient.parameters), 'parameter')}",
    )


def look_of_lens(lens: LogitLens) -> Look:
    """The likeliest word at each place, above the words that were read, coloured by its probability."""
    last = slice(max(0, len(lens.positions) - MOST), None)
    words = [[lens.name_of(int(id)) for id in row] for row in lens.ids[::-1, last, 0]]
    read = [f"{at} {lens.tokens[at]}" if lens.tokens else str(at) for at in lens.positions[last]]
    return Look(
        (
            Matrix(
                "lens",
                values=lens.probabilities[::-1, last, 0],
                scale="share",
                limit=1.0,
                rows=[_place(place) for place in lens.places[::-1]],
                columns=read,
                words=words,
                readout=lambda row, column: (
                    words[row][column],
                    [f"{float(lens.probabilities[::-1, last, 0][row, column]):.4f}"],
                ),
            ),
        ),
        title="The likeliest word if the model stopped early",
        aside="above each word that was read; the last place at the top",
    )


def look_of_tap(picture: TapPicture) -> Look:
    """The numbers of one tap, or of a part of it: a matrix for each index of the axes before the last two."""
    array, axes, trace = np.asarray(picture.array), picture.axes, picture.trace
    names = {axis: [*trace.names(axis)] for axis in axes}
    where = "".join(f", {axis} {index}" for axis, index in picture.at.items())
    kind = "Gradient of " if isinstance(picture.of, Gradient) else ""
    sizes = " × ".join(f"{axis} {size}" for axis, size in zip(axes, array.shape, strict=True))
    return Look(
        _matrices(array, axes, names, picture.traced.scale),
        title=f"{kind}{picture.address}{where} of {named(trace.name, trace.family, trace.step)}",
        aside=sizes or "one number",
        arrays={picture.address: array},
    )


def _matrices(
    array: np.ndarray, axes: tuple[str, ...], names: dict[str, list[str]], scale: str
) -> list[LookPart]:
    """A matrix of the last two axes for each index of those before, in their order."""
    if array.ndim == 0:
        return [Words("number", text=plain(float(array), 6))]
    if array.ndim == 1:
        array, axes = array[None], ("", *axes)
    rows, columns = (
        _labels(axis, size, names) for axis, size in zip(axes[-2:], array.shape[-2:], strict=True)
    )
    found: list[LookPart] = []
    leading = array.shape[:-2]
    for number, index in enumerate(np.ndindex(leading)):
        if number == MOST:
            found.append(
                OneLine("more", text=f"… {counted(int(np.prod(leading)) - MOST, 'more matrix')[:-1]}")
            )
            break
        if leading:
            said = ", ".join(f"{axis} {at}" for axis, at in zip(axes, index, strict=False))
            found.append(Words(f"title {number}", text=said, role="muted"))
        values = array[index].astype(np.float64)
        kind = "signed" if scale in ("score", "token") else scale
        values[~np.isfinite(values)] = np.nan  # what a mask keeps out
        found.append(Matrix(f"numbers {number}", values=values, scale=kind, rows=rows, columns=columns))
    return found


def _labels(axis: str, size: int, names: dict[str, list[str]]) -> list[str]:
    known = names.get(axis, [])
    if len(known) == size:
        return placed(known)
    return [""] if not axis else [f"{axis} {at}" for at in range(size)]


def _answers(trace: Trace) -> list[LookPart]:
    """What was expected after each word, or which label each has; of a label of the text, all of them."""
    if "logits" not in trace.arrays:
        return []
    logits = trace["logits"]
    labels = trace.predicts.names if "label" in logits.axes else trace.vocabulary

    def label(id: int) -> str:
        return str(labels[id]) if len(labels) > id else str(id)

    if logits.axes == ("label",):
        probabilities = np.exp(_log_shares(logits.array[None]))[0]
        order = np.argsort(-probabilities, kind="stable")
        return [likeliest([label(int(id)) for id in order], probabilities[order], "labels")]
    if len(logits.axes) != 2 or logits.axes[0] != "position":
        return []
    first = max(0, len(trace) - MOST)
    rows = list(range(max(0, first - 1), len(trace)))
    logs = _log_shares(logits.rows(rows))  # (position, token)
    best = logs.argmax(axis=-1)
    columns = [
        counts("position", range(first, len(trace))),
        texts("token", trace.tokens[first:], tokens=True),
    ]
    if trace.predicts.continues:
        bits = [
            np.nan if at == 0 else -logs[at - 1 - rows[0], trace.ids[at]] / np.log(2)
            for at in range(first, len(trace))
        ]
        columns.append(numbers("surprisal (bits)", bits, lambda value: f"{value:.2f}", bar=True))
    said = [at - rows[0] for at in range(first, len(trace))]
    columns.append(
        texts(
            "expected next" if trace.predicts.continues else "label",
            (label(int(best[at])) for at in said),
            tokens=True,
        )
    )
    columns.append(shares("probability", [np.exp(logs[at, best[at]]) for at in said], bar=True))
    return [Table("words", columns=columns)]


def _attention(trace: Trace) -> list[LookPart]:
    """What the last word looks at, a row for each head."""
    squares = [
        (address, traced)
        for address, traced in trace.arrays.items()
        if traced.axes == ("head", "query", "key") and traced.scale == "share"
    ]
    if not squares:
        return []
    if sum(traced.shape[0] for _, traced in squares) > HEADS:
        squares = squares[-1:]
    rows, values = [], []
    for address, traced in squares:
        at = Address.parse(address)
        for head in range(min(traced.shape[0], HEADS)):
            rows.append(f"{'' if at.layer is None else f'layer {at.layer}, '}head {head}")
            values.append(traced.at(head=head, query=traced.shape[1] - 1))
    names = trace.names("key")
    keys = placed(names) if len(names) == len(values[0]) else [str(at) for at in range(len(values[0]))]
    first = max(0, len(keys) - MOST)
    return [
        Words("attention title", text="What the last word looks at, by head", role="muted"),
        Matrix(
            "attention",
            values=np.array(values, dtype=np.float64)[:, first:],
            scale="share",
            rows=rows,
            columns=keys[first:],
        ),
    ]


def _taps(trace: Trace) -> LookPart:
    known = list(trace.arrays.items())
    return Table(
        "taps",
        columns=[
            texts("tap", (address for address, _ in known), tokens=True),
            texts("axes", (_sizes(traced) for _, traced in known)),
            texts("numbers", (traced.scale for _, traced in known)),
        ],
    )


def _sample(trace: Trace) -> str:
    address = next((each for each in reversed(list(trace.arrays)) if "/" in each), next(iter(trace.arrays)))
    return f'trace["{address}"]: {_sizes(trace[address])}'


def _sizes(traced: TracedArray) -> str:
    return " × ".join(f"{axis} {size}" for axis, size in zip(traced.axes, traced.shape, strict=True))


def _place(address: str) -> str:
    at = Address.parse(address)
    return address if at.layer is None else f"layer {at.layer} {at.name}"


def _log_shares(logits: Any) -> np.ndarray:
    """(position, token) natural logarithms of the softmax."""
    wide = np.asarray(logits, dtype=np.float64)
    highest = wide.max(axis=-1, keepdims=True)
    shifted = wide - np.where(np.isfinite(highest), highest, 0.0)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


LOOKS = {
    Trace: look_of_trace,
    Gradient: look_of_gradient,
    LogitLens: look_of_lens,
    TapPicture: look_of_tap,
}
"""How each kind of result looks, by its class."""
