"""How the difference of two models looks: on a text, in their states, heads and matrices."""

from __future__ import annotations

import numpy as np

from lmviz.base.figures import counted, percentage, plain, signed_figure
from lmviz.circuits.looks import number_parts
from lmviz.differences.before_after import BeforeAfter
from lmviz.differences.difference import ModelDifference
from lmviz.differences.matrices import MatrixChange
from lmviz.differences.moved_heads import MovedHeads
from lmviz.differences.states import StateDistance, StateSimilarity
from lmviz.differences.text_difference import TextDifference
from lmviz.differences.transplant import Transplant
from lmviz.looks.look import Look
from lmviz.looks.parts import Bars, LookPart, OneLine, Table, Words
from lmviz.showing.pieces import MOST, counts, figures, numbers, shares, texts

LARGEST = 12


def look_of_difference(found: ModelDifference) -> Look:
    """What is different, as far as it was compared: text, states, heads, matrices."""
    parts: list[LookPart] = []
    if found.text is not None:
        parts += _words(found.text)
    for title, numbers_of in (
        ("How far the states are apart", found.stream),
        ("The share of its attention that each head moved", found.heads),
    ):
        if numbers_of is not None:
            parts += [Words(title, text=title, role="muted"), *number_parts(numbers_of, "share")]
    if found.matrices:
        parts.append(_matrices(found.matrices))
    if found.why_not:
        parts.append(Words("why not", text=found.why_not, role="muted"))
    text = found.text
    aside = "without a text" if text is None else f"{signed_figure(text.total, 4)} nats per {_unit(text)}"
    return Look(parts, title=f"From {found.names[0]} to {found.names[1]}", aside=aside)


def look_of_text(found: TextDifference) -> Look:
    """Losses before and after, and the tokens that changed most."""
    return Look(
        _words(found),
        title=f"From {found.names[0]} to {found.names[1]}: {signed_figure(found.total, 4)} nats per "
        f"{_unit(found)}",
        aside=counted(len(found), found.unit),
    )


def look_of_distance(found: StateDistance) -> Look:
    """The distance of the two states, by place and position."""
    return Look(number_parts(found, "share"), title="How far the states are apart, ‖B − A‖ / ‖A‖")


def look_of_similarity(found: StateSimilarity) -> Look:
    """Linear CKA of the states of layers."""
    parts = number_parts(found, "share", limit=1.0)
    return Look(parts, title="Similarity of states (linear CKA)", aside=counted(found.positions, "position"))


def look_of_moved(found: MovedHeads) -> Look:
    """The share of its attention that each head moved."""
    return Look(number_parts(found, "share"), title="The share of its attention that each head moved")


def look_of_matrix(found: MatrixChange) -> Look:
    """One parameter: by how much it changed, and in how many directions."""
    directions = found.directions
    said = [
        ("shape", " × ".join(map(str, found.shape))),
        ("change", f"{percentage(found.relative)} of its norm" if np.isfinite(found.relative) else "–"),
        ("directions that hold 90 %", None if directions is None else str(directions)),
    ]
    return Look((figures(said),), title=f"Change of {found.label}")


def look_of_transplant(found: Transplant) -> Look:
    """What each part brings alone, and all parts from below."""
    order = [at for at in range(len(found.parts)) if not np.isnan(found.array[at])]
    columns = [
        texts("part", (found.parts[at] for at in order), tokens=True),
        shares("alone", found.array[order], bar=True),
    ]
    for title, along in (("from below", found.from_below), ("from above", found.from_above)):
        if along is not None:
            columns.append(shares(title, along[order]))
    return Look(
        (Table("parts", columns=columns),),
        title=f"Parts of {found.models[1]} in {found.models[0]}: {found.measure}",
        aside=f"from {plain(found.before)} to {plain(found.after)}",
    )


def look_of_before_after(found: BeforeAfter) -> Look:
    """What was expected after each beginning, and how likely it is before and after."""
    return Look(
        (
            Table(
                "prompts",
                columns=[
                    texts("after", found.prompts),
                    texts("expected before", found.words, tokens=True),
                    shares("before", found.before, bar=True),
                    shares("after", found.after, bar=True),
                    texts("expected now", found.expected[-1], tokens=True),
                ],
            ),
            *(Words(f"text {at}", text=text) for at, text in enumerate(found.texts)),
        ),
        title=f"Before and after: {counted(len(found.prompts), 'beginning')}",
    )


def _words(text: TextDifference) -> list[LookPart]:
    before, after = text.losses
    band = (
        ""
        if text.low is None or text.high is None
        else (f" (95 %: {signed_figure(text.low, 4)} to {signed_figure(text.high, 4)})")
    )
    order = np.argsort(-np.abs(text.changes), kind="stable")[:MOST]
    parts: list[LookPart] = [
        OneLine(
            "losses",
            text=f"{plain(before, 4)} nats per {_unit(text)} before, {plain(after, 4)} after{band}",
        ),
        Table(
            "changes",
            columns=[
                counts("place", order),
                texts(text.unit, (text.tokens[at] for at in order), tokens=True),
                numbers("before (nats)", text.before[order]),
                numbers("after (nats)", text.after[order]),
                numbers(
                    "change (nats)", text.changes[order], lambda value: signed_figure(value, 3), bar=True
                ),
            ],
        ),
    ]
    rose, fell = text.words(LARGEST // 2), text.words(LARGEST // 2, rose=False)
    if rose or fell:
        words = [*rose, *reversed(fell)]
        parts.append(
            Bars(
                "words",
                labels=[word.word for word in words],
                values=[word.change for word in words],
                texts=[("+" if word.change > 0 else "−") + percentage(abs(word.change)) for word in words],
            )
        )
    return parts


def _matrices(matrices: tuple[MatrixChange, ...]) -> LookPart:
    order = sorted(matrices, key=lambda one: -one.relative if np.isfinite(one.relative) else 0.0)[:MOST]
    return Table(
        "matrices",
        columns=[
            texts("matrix", (one.label for one in order), tokens=True),
            shares("change", (one.relative for one in order), bar=True),
            counts("directions", (one.directions for one in order)),
        ],
    )


def _unit(text: TextDifference) -> str:
    return "byte" if text.bytes is not None else "token"


LOOKS = {
    ModelDifference: look_of_difference,
    TextDifference: look_of_text,
    StateDistance: look_of_distance,
    StateSimilarity: look_of_similarity,
    MovedHeads: look_of_moved,
    MatrixChange: look_of_matrix,
    Transplant: look_of_transplant,
    BeforeAfter: look_of_before_after,
}
"""How each kind of result looks, by its class."""
