"""Public models and one's own runs by what they have read and how large they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.base.figures import plain
from lmviz.app.widgets.kit.picture import Spot
from lmviz.app.widgets.plots.size_plot import ComputeLine, SizePlot, SizePoint
from lmviz.looks.names import Names
from lmviz.scaling.compute import (
    BEST_TOKENS,
    DAY,
    HOUR,
    PETAFLOP_DAY,
    YEAR,
    amount_in_words,
    days_in_words,
    duration_in_words,
    petaflop_days,
    tokens_for,
    training_compute,
)
from lmviz.scaling.public_models import PUBLIC_MODELS

TIMES = (
    (HOUR, "an hour here"),
    (DAY, "a day here"),
    (YEAR, "a year here"),
    (1000 * YEAR, "1,000 years here"),
)
DAYS = ((1e-6, "1e−6 petaflop/s-days"), (1.0, "1 petaflop/s-day"), (1e4, "10,000 petaflop/s-days"))
PARAMETERS, TOKENS = (4, 13, 2), (4, 15, 2)
YOURS = "the calculator"


class ModelsBySizePanel(Panel):
    """The picture, in which a click puts a model into the calculator."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._plot = named(SizePlot(), "size_plot")
        self._card = self.add_card(
            "Models by size and reading", "each diagonal is one amount of compute", self._plot
        )
        self._plot.set_readout(self._read)
        self._plot.part_clicked.connect(lambda spot: session.scale.load(spot.key))
        scale = session.scale
        self.follow(scale.planned_changed, scale.pace_changed, scale.runs_changed)
        session.library.models_changed.connect(self._find_runs)
        session.work.ready_changed.connect(self._find_runs)
        self._has_looked = False

    def exported_arrays(self) -> dict[str, np.ndarray]:
        points = self._plot.points
        return {"parameters and tokens": np.array([(point.parameters, point.tokens) for point in points])}

    def exported_names(self) -> Names:
        return Names([point.name for point in self._plot.points], ["parameters", "tokens"])

    def recipe(self) -> str:
        """The public models from Python."""
        return (
            "from lmviz.scaling.public_models import PUBLIC_MODELS\n\n"
            "for model in PUBLIC_MODELS:\n"
            "    print(model.name, model.parameters, model.tokens, model.tokens_per_parameter)\n"
        )

    def refresh(self) -> None:
        if not self._has_looked:
            self._find_runs()
        self._plot.set_content(
            self._points(), self._lines(), (f"{BEST_TOKENS} tokens a parameter", BEST_TOKENS), _TICKS
        )

    def _find_runs(self) -> None:
        """See which runs there are, as soon as files may be read."""
        self._has_looked = self.session.work.is_ready and self.is_in_sight
        if self._has_looked:
            self.session.scale.look_for_runs()

    def _points(self) -> list[SizePoint]:
        scale = self.session.scale
        points = [
            SizePoint(model.name, model.parameters, model.tokens, is_chosen=model.name == scale.name)
            for model in PUBLIC_MODELS
        ]
        named = {run.name for run in scale.runs[:1]}
        points += [
            SizePoint(run.name, run.parameters, run.tokens, True, run.name == scale.name, run.name in named)
            for run in scale.runs
        ]
        if not any(point.is_chosen for point in points):
            planned = scale.planned
            points.append(SizePoint(scale.name or YOURS, planned.parameters, planned.tokens, True, True))
        return [point for point in points if _is_inside(point)]

    def _lines(self) -> list[ComputeLine]:
        """Named by time on this machine once its pace is known, and by petaflop/s-days until then."""
        scale = self.session.scale
        chosen = scale.compute
        if scale.pace is None:
            lines = [ComputeLine(name, tokens_for(days * PETAFLOP_DAY, 1)) for days, name in DAYS]
            name = f"{days_in_words(petaflop_days(chosen))} petaflop/s-days"
        else:
            pace = scale.pace.operations
            lines = [ComputeLine(name, tokens_for(seconds * pace, 1)) for seconds, name in TIMES]
            name = f"{duration_in_words(chosen / pace)} here"
        apart = [line for line in lines if not 0.2 < training_compute(line.product, 1) / chosen < 5]
        return [*apart, ComputeLine(name, tokens_for(chosen, 1), is_chosen=True)]

    def _read(self, spot: Spot) -> tuple[str, Sequence[str]]:
        point = next((point for point in self._plot.points if point.name == spot.key), None)
        if point is None:
            return "", ()
        operations, pace = training_compute(point.parameters, point.tokens), self.session.scale.pace
        lines = [
            f"{amount_in_words(point.parameters)} parameters, {amount_in_words(point.tokens)} tokens",
            f"{point.tokens / point.parameters:,.1f} tokens a parameter",
            f"{plain(operations)} FLOP, {days_in_words(petaflop_days(operations))} petaflop/s-days",
        ]
        if pace is not None:
            lines.append(f"{duration_in_words(operations / pace.operations)} on this machine")
        public = next((model for model in PUBLIC_MODELS if model.name == spot.key), None)
        if public is not None:
            lines += [part for part in (f"{public.source}", public.note) if part]
        return point.name if public is None else f"{public.name} ({public.year})", lines


_TICKS = (
    {exponent: amount_in_words(10.0**exponent) for exponent in range(*PARAMETERS)},
    {exponent: amount_in_words(10.0**exponent) for exponent in range(*TOKENS)},
)


def _is_inside(point: SizePoint) -> bool:
    """Whether it is on the axes: what a hand typed may be larger than any model."""
    across, up = _TICKS
    return 10.0 ** min(across) <= point.parameters <= 10.0 ** max(across) and 10.0 ** min(
        up
    ) <= point.tokens <= 10.0 ** max(up)
