"""How runs, races, evaluations and loss maps look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lmviz.base.figures import counted, percentage, plain
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.parts import Curves, LookPart, Matrix, Table, Words
from lmviz.showing.pieces import MOST, counts, figures, named, numbers, shares, texts
from lmviz.training.evaluation import Evaluation
from lmviz.training.label_evaluation import LabelEvaluation
from lmviz.training.loss_map import Division, LossMap, RowLosses
from lmviz.training.race import Race
from lmviz.training.run import Run


def look_of_run(run: Run) -> Look:
    """What was trained, how far, and its curves of the loss."""
    from lmviz.base.errors import LmvizError

    described, steps = run.description, run.snapshots()
    try:
        lines = run.metrics()
    except LmvizError:
        lines = []
    reached = f"trained to step {steps[-1]:,}" if steps else "not trained yet"
    settings = ", ".join(f"{name} {value}" for name, value in list(described.configuration.items())[:8])
    parts: list[LookPart] = [
        figures(
            [
                ("folder", str(run.folder)),
                ("text", str(described.corpus.get("name", "")) or None),
                ("settings", settings or None),
                ("snapshots", f"{len(steps)}, at steps {steps[0]:,} to {steps[-1]:,}" if steps else None),
                *[(name.replace("_", " "), _last(lines, name)) for name in ("loss", "validation_loss")],
            ]
        )
    ]
    curves = _losses(lines)
    if curves:
        parts.append(Curves("losses", curves=curves, y_name="nats per token", writes=(None, _four)))
    return Look(parts, title=f"Run {described.name}", aside=f"{described.family}, {reached}")


def look_of_race(race: Race) -> Look:
    """Each lane with where it is, and the curves of all of them."""
    lanes = race.lanes
    last = [lane.last for lane in lanes]
    states = [
        lane.trouble or ("done" if lane.is_over else "paused" if lane.is_paused else "training")
        for lane in lanes
    ]
    return Look(
        (
            Table(
                "lanes",
                columns=[
                    texts("lane", (lane.name for lane in lanes)),
                    counts("step", (None if one is None else one.step for one in last)),
                    numbers("loss (nats)", (None if one is None else one.loss for one in last), _four),
                    numbers(
                        "validation loss (nats)",
                        (None if one is None else one.validation_loss for one in last),
                        _four,
                    ),
                    texts("state", states),
                ],
            ),
        ),
        title=f"Race of {counted(len(lanes), 'lane')}",
    )


def look_of_evaluation(found: Evaluation) -> Look:
    """The loss and what is computed from it."""
    known = found.known_negative_log_likelihood
    bits = found.bits_per_character
    said = [
        ("loss", f"{_four(found.negative_log_likelihood)} nats per token"),
        ("perplexity", _four(found.perplexity)),
        ("bits per character", None if bits is None else _four(bits)),
        ("unknown words", f"{found.unknown:,}, {percentage(found.unknown_share)}" if found.unknown else None),
        (
            "loss of known words",
            None if known is None or not found.unknown else f"{_four(known)} nats per token",
        ),
    ]
    return Look((figures(said),), title=f"Evaluation on {counted(found.tokens, 'token')}")


def look_of_labels(found: LabelEvaluation) -> Look:
    """How well labels are found: over all, by label, and what is taken for what."""
    names = list(found.by_label)
    scores = list(found.by_label.values())
    parts: list[LookPart] = [
        figures(
            [
                ("accuracy", percentage(found.accuracy)),
                ("loss", f"{_four(found.negative_log_likelihood)} nats per label"),
                ("macro F1", plain(found.macro_f1)),
                ("F1 of spans", None if found.spans is None else plain(found.spans.f1 or 0.0)),
            ]
        ),
        Table(
            "labels",
            columns=[
                texts("label", names),
                counts("count", (one.count for one in scores)),
                shares("recall", (one.accuracy for one in scores), bar=True),
                shares("precision", (one.precision for one in scores)),
                numbers("F1", (one.f1 for one in scores)),
            ],
        ),
    ]
    if len(found.labels) <= MOST:
        parts += [
            Words("confusion title", text="Right labels in rows, given labels in columns", role="muted"),
            Matrix(
                "confusion", values=found.confusion, scale="count", rows=found.labels, columns=found.labels
            ),
        ]
    return Look(parts, title=f"Evaluation of {counted(found.tokens, 'label')}")


def look_of_loss_map(found: LossMap) -> Look:
    """Where a text is hard: by kind of token, the words that cost most, and the hardest passages."""
    kinds = found.by_kind()
    words = found.words()[:MOST]
    passages = found.passages(5)
    return Look(
        (
            _divided(kinds),
            Table(
                "words",
                columns=[
                    texts("token", (word for word, _, _ in words), tokens=True),
                    numbers("sum (nats)", (cost for _, cost, _ in words), bar=True),
                    counts("times", (often for _, _, often in words)),
                ],
            ),
            Table(
                "passages",
                columns=[
                    numbers("mean (nats)", (one.mean for one in passages)),
                    texts("hardest passage", (found.text_of(one.start, one.end) for one in passages)),
                ],
            ),
        ),
        title=f"Loss map of {named(found.name, 'language', found.step)}: {_four(found.mean)} nats per token",
        aside=f"{counted(found.judged, 'token')} of {counted(len(found.starts), 'document')}",
    )


def look_of_division(found: Division) -> Look:
    """Each part with its tokens, its mean and its share."""
    return Look((_divided(found),), title=f"Loss by {found.by}")


def look_of_rows(found: RowLosses) -> Look:
    """Each row with its loss, the largest first."""
    order = np.argsort(np.where(np.isnan(found.array), np.inf, -found.array), kind="stable")[:MOST]
    return Look(
        (
            Table(
                "rows",
                columns=[
                    counts("row", order),
                    numbers("loss (nats per token)", found.array[order], _four, bar=True),
                    counts("tokens", found.tokens[order]),
                ],
            ),
        ),
        title=f"Losses of {counted(len(found.array), 'row')}, largest first",
    )


def _divided(found: Division) -> Table:
    there = np.flatnonzero(found.tokens)
    return Table(
        found.by,
        columns=[
            texts(found.by, (found.names[at] for at in there)),
            counts("tokens", found.tokens[there]),
            numbers("mean (nats)", found.means[there]),
            shares("share of the loss", found.shares[there], bar=True),
        ],
    )


def _losses(lines: list[dict[str, Any]]) -> list[PlotCurve]:
    """The curves of the losses that were measured."""
    found = []
    for name, title in (("loss", "training"), ("validation_loss", "validation")):
        points = [(line["step"], line[name]) for line in lines if _is_number(line, name)]
        if len(points) > 1:
            xs, ys = zip(*points, strict=True)
            found.append(PlotCurve(title, np.array(xs, float), np.array(ys, float), role=title))
    return found


def _last(lines: list[dict[str, Any]], name: str) -> str | None:
    found = next((line[name] for line in reversed(lines) if _is_number(line, name)), None)
    return None if found is None else f"{_four(found)} nats per token"


def _is_number(line: Mapping[str, Any], name: str) -> bool:
    return isinstance(line.get(name), int | float) and isinstance(line.get("step"), int)


def _four(value: float) -> str:
    return plain(value, 4)


LOOKS = {
    Run: look_of_run,
    Race: look_of_race,
    Evaluation: look_of_evaluation,
    LabelEvaluation: look_of_labels,
    LossMap: look_of_loss_map,
    Division: look_of_division,
    RowLosses: look_of_rows,
}
"""How each kind of result looks, by its class."""
