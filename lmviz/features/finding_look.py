"""How the finding of features looks: what they explain so far, and what the model's loss is with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lmviz.base.figures import count, number, whole_percentage
from lmviz.features.dictionary import Dictionary
from lmviz.features.history import FeatureProgress
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.parts import Curves, LookPart, SideBySide, Words

EXPLAINED = Curves(
    "features_explained",
    says="share of the variance that the features explain, by step",
    y_name="variance explained",
    possible=((0.0, np.inf), (-np.inf, 1.0)),
    writes=(None, whole_percentage),
    share=1,
)
LOSS = Curves(
    "features_loss",
    says="loss with the features in place of the states, by step",
    y_name="nats a token",
    share=1,
)
ALIVE = Curves(
    "features_alive",
    says="features that are alive, by step",
    y_name="features alive",
    writes=(None, count),
    share=1,
)
ACTIVE = Curves(
    "features_active", says="features that are on at a token, by step", y_name="on at a token", share=1
)
SENTENCE = Words("finding_sentence")


def finding_look(
    progress: FeatureProgress | None,
    found: Dictionary | None,
    *,
    said: str = "",
    head: Sequence[LookPart] = (),
    size: int = 0,
    further: str = "",
) -> Look:
    """What was measured so far, in four plots; what they are worth in the end stands in the sentence.

    `said` stands there before anything was measured, and `further` behind it.
    """
    if progress is None:
        return Look(instead=said, head=head)
    history, steps = progress.history, progress.steps
    explained, loss = history.curve("explained"), history.curve("loss_reconstructed")
    alive, active = history.curve("alive"), history.curve("active")
    own, mean = history.curve("loss")[1], history.curve("loss_mean")[1]
    plots = SideBySide(
        first=_with(EXPLAINED, [PlotCurve("explained", *explained, "accent")]),
        second=_with(
            LOSS,
            [PlotCurve("with them", *loss, "accent", dots=True)],
            [("own", float(own[0])), ("mean", float(mean[0]))] if len(own) else [],
        ),
        share=1,
    )
    below = SideBySide(
        first=_with(ALIVE, [PlotCurve("alive", *alive, "value")], [("all", float(size))] if size else []),
        second=_with(ACTIVE, [PlotCurve("on", *active, "value")]),
        share=1,
    )
    return Look(
        (replace(SENTENCE, text=f"{_sentence(progress, found, said)} {further}".strip()), plots, below),
        aside=f"step {count(progress.step)} of {count(steps)}",
        head=head,
        arrays={
            "step": explained[0],
            "explained": explained[1],
            "alive": alive[1],
            "active": active[1],
            "judged_step": loss[0],
            "loss_reconstructed": loss[1],
            "loss": own,
            "loss_mean": mean,
        },
        units=dict.fromkeys(("loss_reconstructed", "loss", "loss_mean"), "nats"),
    )


def _with(plot: Curves, curves: list[PlotCurve], references: Sequence[tuple[str, float]] = ()) -> Curves:
    return replace(plot, curves=curves, references=tuple(references))


def _sentence(progress: FeatureProgress, found: Dictionary | None, said: str) -> str:
    if found is not None and found.worth is not None:
        worth = found.worth
        never = f"{count(worth.silent)} of {count(found.size)} never are on"
        on = f"{number(worth.active, 1)} are on at a token, {never} in {count(worth.tokens)} held-out tokens."
        return f"{worth.sentence} {on}"
    if progress.reading is not None and not progress.history.rows:
        return f"Reading the states: {whole_percentage(progress.reading)}."
    speed = progress.tokens_per_second
    told = "" if speed is None else f" {count(round(speed))} tokens a second."
    return f"{said}{told}".strip()
