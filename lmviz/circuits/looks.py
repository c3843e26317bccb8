"""How what is found about circuits looks: patches, attributions, ablations, scores of heads, circuits."""

from __future__ import annotations

import numpy as np

from lmviz.base.figures import cell_figure, counted, percentage, plain, share_or_none, signed_figure
from lmviz.circuits.ablation import Ablation
from lmviz.circuits.attribution import Attribution
from lmviz.circuits.by_row import Means
from lmviz.circuits.circuit import Circuit
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.head_kernels import HeadKernels
from lmviz.circuits.head_scores import HeadScores
from lmviz.circuits.heads_over_time import HeadsOverTime
from lmviz.circuits.patching import Patches
from lmviz.circuits.replaced_states import ReplacedStates
from lmviz.circuits.result import Numbers
from lmviz.circuits.set_questions import SetQuestions
from lmviz.circuits.weights import Weights
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.parts import Bars, Curves, LookPart, Matrix, OneLine, Table, Words
from lmviz.models.sequences import ALONG
from lmviz.showing.pieces import MOST, counts, figures, numbers, placed, shares, signed_share, texts


def look_of_numbers(found: Numbers) -> Look:
    """The numbers along their axes, and nothing more."""
    sizes = " × ".join(f"{axis} {size}" for axis, size in zip(found.axes, found.array.shape, strict=True))
    return Look(number_parts(found), title=type(found).__name__, aside=sizes or "one number")


def number_parts(found: Numbers, scale: str = "signed", limit: float | None = None) -> list[LookPart]:
    """One number in words, a row of them as bars, and more as matrices of the last two axes."""
    array = np.asarray(found.array, dtype=np.float64)
    if array.ndim == 0:
        return [Words("number", text=plain(float(array), 4))]
    labels = [_labels(found, axis) for axis in found.axes]
    if array.ndim == 1:
        kept = np.flatnonzero(~np.isnan(array))
        order = kept[np.argsort(-np.abs(array[kept]), kind="stable")][:MOST]
        write = signed_share if scale == "share" else _signed
        return [
            Bars(
                "numbers",
                labels=[labels[0][at] for at in order],
                values=array[order],
                texts=[write(float(array[at])) for at in order],
                limit=limit,
            )
        ]
    parts: list[LookPart] = []
    for number, index in enumerate(np.ndindex(array.shape[:-2])):
        if number == MOST:
            parts.append(OneLine("more", text="… and more, in .array"))
            break
        if index:
            said = ", ".join(names[at] for names, at in zip(labels, index, strict=False))
            parts.append(Words(f"title {number}", text=said, role="muted"))
        parts.append(
            Matrix(
                f"numbers {number}",
                values=array[index],
                scale=scale,
                limit=limit,
                rows=labels[-2],
                columns=labels[-1],
            )
        )
    return parts


def look_of_patches(found: Patches) -> Look:
    """The share of the measure that each state brings, as a grid."""
    base, other = ("changed text", "text") if found.into == "changed" else ("text", "changed text")
    aside = f"in the text {plain(found.clean)}, in the changed text {plain(found.changed)}"
    parts = [
        Words(
            "sentence",
            text=f"How far each state, carried over alone, goes from the {base} to the {other}.",
            role="muted",
        ),
        *number_parts(found),
    ]
    if found.estimate is not None:
        agreement = "–" if np.isnan(found.agreement) else plain(found.agreement)
        parts.append(OneLine("agreement", text=f"agreement with the estimate: correlation {agreement}"))
    return Look(parts, title=f"Patching of {found.measure}", aside=aside, arrays={"share": found.array})


def look_of_means(found: Means) -> Look:
    """The mean of each number over texts, with its band where it is a row of numbers."""
    title, aside = "Means", f"over {counted(len(found.rows), 'text')}"
    return Look(_with_band(found, found.low, found.high, found.agreeing), title=title, aside=aside)


def look_of_ablation(found: Ablation) -> Look:
    """By how much the measure changes without each part, with its band."""
    said = {"zero": "set to zero", "mean": "set to its mean", "lower": "left to the order below"}
    unit = " nats per token" if found.measure == "loss" else ""
    return Look(
        _with_band(found, found.low, found.high, found.agreeing),
        title=f"Change of {found.measure} when a part is {said.get(found.by, found.by)}",
        aside=f"{plain(found.intact, 4)}{unit} with all parts, {counted(found.tokens, 'token')}",
        arrays={"change": found.array},
    )


def look_of_attribution(found: Attribution) -> Look:
    """What the strongest components add to the measure, and the heads as a grid."""
    strongest = found.strongest(20)
    parts: list[LookPart] = [
        Bars(
            "strongest",
            labels=[name for name, _ in strongest],
            values=[value for _, value in strongest],
            texts=[_signed(value) for _, value in strongest],
        ),
        OneLine(
            "sum", text=f"all {counted(len(found.array), 'component')} together: {plain(found.total, 4)}"
        ),
    ]
    if "head" in found and found["head"].array.ndim == 2:
        parts += number_parts(found["head"])
    return Look(
        parts,
        title=f"Attribution of {found.measure} = {plain(found.value, 4)}",
        aside="what each component adds",
        arrays={"share": found.array},
    )


def look_of_scores(found: HeadScores) -> Look:
    """Each head with what it does, and its scores."""
    from lmviz.circuits.head_scores import SCORES

    roles = found.roles
    places = [(layer, head) for layer in range(roles.shape[0]) for head in range(roles.shape[1])]
    order = sorted(places, key=lambda at: (roles[at] == "", at))
    return Look(
        (
            Table(
                "heads",
                columns=[
                    texts("head", (f"layer {layer}, head {head}" for layer, head in order)),
                    texts("role", (roles[at] or "–" for at in order)),
                    *(shares(score, (found[score][at] for at in order), bar=True) for score in SCORES),
                ],
            ),
        ),
        title="Scores of heads on random words said twice",
        aside=f"loss {plain(found.loss_new)} nats the first time, {plain(found.loss_again)} the second",
    )


def look_of_kernels(found: HeadKernels) -> Look:
    """The mean weight of each head at each offset, and how much such a kernel gives back of each."""
    heads = [f"head {head}" for head in range(len(found.array))]
    missed = plain(found.difference)
    return Look(
        (
            Matrix(
                "kernels",
                values=found.array,
                scale="share",
                rows=heads,
                columns=list(map(str, found.offsets)),
            ),
            Words(
                "given back title", text="how much fixed weights give back of what it writes", role="muted"
            ),
            Bars(
                "given back",
                labels=heads,
                values=found.shares,
                texts=[share_or_none(float(share)) for share in found.shares],
                limit=1.0,
            ),
            OneLine("exact", text=f"all heads and offsets together miss the layer's output by {missed}"),
        ),
        title=f"Layer {found.layer}: heads as channels of a convolution",
        aside="mean weight at each offset",
        arrays={"weight": found.array, "share": found.shares},
    )


def look_of_heads(found: HeadsOverTime) -> Look:
    """The losses of the two sayings over the training, and when each head took its role."""
    if not found:
        return Look(title="Scores of heads over a training", instead="No step was asked about: give some.")
    turns, steps, losses = found.turns(), found.steps, found.losses
    jump = found.jump()
    return Look(
        (
            Curves(
                "losses",
                curves=[
                    PlotCurve("said for the first time", steps, losses[:, 0], role="muted_text"),
                    PlotCurve("said again", steps, losses[:, 1], role="accent"),
                ],
                y_name="nats per word",
            ),
            Table(
                "turns",
                columns=[
                    texts("head", (f"layer {turn.layer}, head {turn.head}" for turn in turns)),
                    texts("role", (turn.role for turn in turns)),
                    counts("from step", (None if turn.jump is None else turn.jump.begin for turn in turns)),
                    counts("to step", (None if turn.jump is None else turn.jump.end for turn in turns)),
                ],
            ),
        ),
        title=f"Scores of heads at {counted(len(found), 'step')}",
        aside="" if jump is None else f"the jump: steps {jump.begin:,} to {jump.end:,}",
    )


def look_of_circuit(found: Circuit) -> Look:
    """The strongest parts and paths, and what so many parts keep."""
    edges = found.edges[:MOST]
    parts: list[LookPart] = [
        Table(
            "parts",
            columns=[
                texts("part", map(str, found.parts)),
                shares("lost without it", found.array, bar=True),
            ],
        )
    ]
    if edges:
        parts.append(
            Table(
                "paths",
                columns=[
                    texts("from", (str(edge.sender) for edge in edges)),
                    texts(
                        "to",
                        ("the answer" if edge.receiver is None else str(edge.receiver) for edge in edges),
                    ),
                    shares("lost without it", (edge.share for edge in edges), bar=True),
                ],
            )
        )
    kept = found.curve
    if kept.array.size > 1:
        many = [float(name) for name in kept.labels(kept.axes[0])]
        parts.append(
            Curves(
                "kept",
                curves=[PlotCurve("share kept", many, kept.array, role="accent")],
                x_name="parts",
                writes=(None, signed_share),
            )
        )
    return Look(
        parts,
        title=f"Circuit of {found.measure}: {len(found.parts)} of {found.of} parts keep "
        f"{percentage(found.kept)}",
        aside=f"in the text {plain(found.clean)}, in the changed text {plain(found.changed)}",
    )


def look_of_weights(found: Weights) -> Look:
    """The matrices that there are, with their axes."""
    axes = {
        "query": "layer, head, width, channel",
        "key": "layer, head, width, channel",
        "value": "layer, head, width, channel",
        "output": "layer, head, channel, width",
        "read": "layer, width, unit",
        "gate": "layer, width, unit",
        "write": "layer, unit, width",
        "embedding": "token, width",
        "unembedding": "width, token",
    }
    return Look(
        (Table("matrices", columns=[texts("matrix", axes, tokens=True), texts("axes", axes.values())]),),
        title=f"Weights of {found.name}",
        aside=counted(found.layers, "layer"),
    )


def look_of_contrast(found: Contrast) -> Look:
    """The texts and the number that is asked about."""
    said = [
        ("text", _read(found.text)),
        ("changed text", _read(found.changed)),
        ("source", _read(found.source)),
        ("changed source", _read(found.changed_source)),
        ("measure", str(found.measure) if found.measure else "the likeliest word of each text"),
    ]
    return Look((figures(said, "contrast"),), title="Contrast")


def look_of_questions(found: SetQuestions) -> Look:
    """The rows with their measure, and why others are left out."""
    rows = range(min(len(found.values), MOST))
    asked = dict(zip(found.rows, found.contrasts, strict=True))
    return Look(
        (
            Table(
                "rows",
                columns=[
                    counts("row", rows),
                    texts("text", (_read(asked[row].text) or "" if row in asked else "–" for row in rows)),
                    numbers("measure", (found.values[row] for row in rows)),
                    texts("left out because", (found.troubles.get(row, "") for row in rows)),
                ],
            ),
        ),
        title=f"{counted(len(found.contrasts), 'contrast')} of {counted(len(found.values), 'row')}",
    )


def look_of_replaced(found: ReplacedStates) -> Look:
    """What is lost with the states of other places, after each word."""
    return Look(
        (
            Table(
                "words",
                columns=[
                    counts("position", range(len(found.tokens))),
                    texts("token", found.tokens, tokens=True),
                    numbers("lost on average", found.lost, _signed, bar=True),
                    numbers("with their mean", found.by_mean, _signed),
                ],
            ),
        ),
        title=f"Loss of {found.measure} = {plain(found.value)} where a state gives way to others",
        aside=counted(found.array.shape[1], "place"),
    )


def _with_band(
    found: Numbers, low: np.ndarray | None, high: np.ndarray | None, agreeing: np.ndarray
) -> list[LookPart]:
    if found.array.ndim != 1 or low is None or high is None:
        return number_parts(found)
    order = np.argsort(-np.abs(found.array), kind="stable")[:MOST]
    labels = _labels(found, found.axes[0])
    return [
        Table(
            "numbers",
            columns=[
                texts(found.axes[0], (labels[at] for at in order)),
                numbers("change", found.array[order], _signed, bar=True),
                numbers("from", low[order], _signed),
                numbers("to (95 %)", high[order], _signed),
                shares("of one sign", agreeing[order]),
            ],
        )
    ]


def _labels(found: Numbers, axis: str) -> list[str]:
    """What stands along an axis, with its place: "3 made", "layer 2"."""
    size = found.array.shape[found.axes.index(axis)]
    known = found.names.get(axis)
    if not known:
        return [f"{axis} {at}" for at in range(size)]
    if axis in ALONG:
        return placed(known)
    return [f"{axis} {name}" if name.isdecimal() else name for name in known]


def _signed(value: float) -> str:
    return cell_figure(value) if abs(value) >= 1000 else signed_figure(value, 3)


def _read(text: object) -> str | None:
    return None if text is None else text if isinstance(text, str) else f"ids {text}"


LOOKS = {
    Numbers: look_of_numbers,
    Patches: look_of_patches,
    Means: look_of_means,
    Ablation: look_of_ablation,
    Attribution: look_of_attribution,
    HeadKernels: look_of_kernels,
    HeadScores: look_of_scores,
    HeadsOverTime: look_of_heads,
    Circuit: look_of_circuit,
    Weights: look_of_weights,
    Contrast: look_of_contrast,
    SetQuestions: look_of_questions,
    ReplacedStates: look_of_replaced,
}
"""How each kind of result looks, by its class."""
