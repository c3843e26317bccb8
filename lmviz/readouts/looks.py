"""How lenses, probes, directions and steering look."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lmviz.base.figures import counted, percentage, plain
from lmviz.looks.columns import Column
from lmviz.looks.curve import PlotCurve
from lmviz.looks.firing import FiringLine
from lmviz.looks.look import Look
from lmviz.looks.parts import Bars, Curves, Firings, LookPart, Table, Words
from lmviz.readouts.direction import StateDirection
from lmviz.readouts.direction_places import DirectionPlaces
from lmviz.readouts.fitted_lens import FittedLens
from lmviz.readouts.lens import Lens
from lmviz.readouts.lens_over_time import LensOverTime
from lmviz.readouts.number_probe import NumberProbes
from lmviz.readouts.probing import Probes
from lmviz.readouts.steering import SteeredMeasure
from lmviz.showing.pieces import MOST, counts, named, numbers, shares, texts
from lmviz.text.tokenizer import visible

MOST_DEVIATIONS = 4.0
"""From so many standard deviations on, a word is of the strongest colour."""


def look_of_lens(lens: Lens) -> Look:
    """How good the lens is at each place, beside the logit lens."""
    model = named(lens.model.name, lens.model.family, lens.model.step)
    title = f"Lens of the kind “{lens.kind}” over {model}"
    if lens.fitted is None:
        return Look((Words("sentence", text="It is fitted to nothing: call it with a trace."),), title=title)
    return Look(_fitted(lens.fitted), title=title, aside=_fitted_on(lens.fitted))


def look_of_lens_over_time(found: LensOverTime) -> Look:
    """The rank of the word at each place, by step."""
    steps = found.steps[:MOST]
    ranks = found.ranks if found else np.zeros((0, 0))
    places = found.places if found else ()
    return Look(
        (
            Table(
                "ranks",
                columns=[
                    counts("step", steps),
                    *(counts(place, ranks[: len(steps), at]) for at, place in enumerate(places)),
                ],
            ),
        ),
        title=f"The rank of a word at each place, at {counted(len(found), 'step')}",
    )


def look_of_fitted(fitted: FittedLens) -> Look:
    """The same without the model."""
    return Look(_fitted(fitted), title=f"Fitted lens of the kind “{fitted.kind}”", aside=_fitted_on(fitted))


def look_of_probes(found: Probes) -> Look:
    """The accuracy of each tap beside its controls, and what may be claimed."""
    return Look(
        _by_tap(found, "accuracy", found.accuracy, "labels at random", shares),
        title=f"Probe for {counted(len(found.names), 'label')}: {', '.join(found.names[:6])}",
        aside=f"the words alone {percentage(found.words)}, the commonest label {percentage(found.majority)}",
    )


def look_of_number_probes(found: NumberProbes) -> Look:
    """What each tap explains of the number beside its controls, and what may be claimed."""
    beside = "" if found.position is None else f", the position {plain(round(found.position, 3))}"
    return Look(
        _by_tap(found, "R²", found.explained, "numbers at random", numbers),
        title=f"Probe for a number: {found.what}",
        aside=f"the words alone {plain(round(found.words, 3))}{beside}",
    )


def _by_tap(
    found: Probes | NumberProbes,
    title: str,
    read: np.ndarray,
    at_random: str,
    column: Callable[..., Column],
) -> list[LookPart]:
    """What may be claimed, and what is read at each tap with its band and its controls."""
    columns = [
        texts("tap", found.addresses, tokens=True),
        column(title, read, bar=True),
        column("from", found.low, spare=True),
        column("to", found.high, spare=True),
        column(at_random, found.shuffled),
    ]
    if found.untrained is not None:
        columns.append(column("untrained", found.untrained))
    columns.append(column("above controls", found.gap))
    return [Words("sentence", text=found.sentence), Table("taps", columns=columns)]


def look_of_direction(found: StateDirection) -> Look:
    """Where it comes from, and its largest channels."""
    order = np.argsort(-np.abs(found.vector), kind="stable")[:12]
    return Look(
        (
            Bars(
                "channels",
                labels=[f"channel {at}" for at in order],
                values=found.vector[order],
                texts=[plain(float(found.vector[at])) for at in order],
            ),
        ),
        title=f"Direction at {found.address}: {found.origin}",
        aside=f"{counted(len(found.vector), 'channel')}, made from a vector of length {plain(found.length)}",
    )


def look_of_direction_places(found: DirectionPlaces) -> Look:
    """The lines in which states lie farthest along a direction, coloured."""
    lines = [
        FiringLine(
            tuple(map(visible, place.tokens)),
            place.at,
            np.clip(place.deviations / MOST_DEVIATIONS, 0, 1),
            plain(place.value),
        )
        for place in found.strongest
    ]
    return Look(
        (Firings("places", lines=lines, share=1),),
        title=f"Where it is strong: {found.direction.called} at {found.direction.address}",
        aside=f"{counted(found.tokens, 'token')}, mean {plain(found.mean)}, standard deviation "
        f"{plain(found.deviation)}",
    )


def look_of_steering(found: SteeredMeasure) -> Look:
    """The measure by strength, beside random directions, and the loss on another text."""
    parts: list[LookPart] = [
        Curves(
            "measure",
            curves=[
                PlotCurve("direction", found.strengths, found.array, role="accent"),
                PlotCurve("random directions", found.strengths, found.random, role="muted_text"),
            ],
            x_name="strength",
            y_name=found.measure,
            possible=((-np.inf, np.inf), (-np.inf, np.inf)),
            writes=(plain, None),
        )
    ]
    if found.loss is not None and found.random_loss is not None:
        parts.append(
            Curves(
                "loss",
                curves=[
                    PlotCurve("loss along the direction", found.strengths, found.loss, role="accent"),
                    PlotCurve("along a random one", found.strengths, found.random_loss, role="muted_text"),
                ],
                x_name="strength",
                y_name="nats per token",
                possible=((-np.inf, np.inf), (-np.inf, np.inf)),
                writes=(plain, None),
            )
        )
    return Look(parts, title=f"{found.measure} as a direction is added")


def _fitted(fitted: FittedLens) -> list[LookPart]:
    places = fitted.places
    unfitted = fitted.divergence_unfitted
    errors = fitted.errors or {}
    return [
        Table(
            "places",
            columns=[
                texts("place", places, tokens=True),
                numbers("from the end (bits)", (fitted.divergence.get(place) for place in places), bar=True),
                numbers("of the logit lens", (unfitted.get(place) for place in places)),
                shares("error of the map", (errors.get(place) for place in places)),
            ],
        )
    ]


def _fitted_on(fitted: FittedLens) -> str:
    return "" if fitted.passages is None else f"fitted on {counted(fitted.passages, 'passage')}"


LOOKS = {
    Lens: look_of_lens,
    LensOverTime: look_of_lens_over_time,
    FittedLens: look_of_fitted,
    Probes: look_of_probes,
    NumberProbes: look_of_number_probes,
    StateDirection: look_of_direction,
    DirectionPlaces: look_of_direction_places,
    SteeredMeasure: look_of_steering,
}
"""How each kind of result looks, by its class."""
