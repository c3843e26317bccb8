"""The curves of all lanes in one plot, and a sentence about what makes them differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.race.sentences import race_in_words
from lmviz.app.session.race_lane import RaceLane
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, picker
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.plain import InkedLabel
from lmviz.app.widgets.kit.axes import LOSS
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.inspection.recipes.run import curves_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.tasks import TASKS
from lmviz.training.units import smooth

EMPTY = (
    "Several models train side by side here, a step each in turn. Write several values of a setting on the "
    "right, press Add lanes, then Start: each value becomes a curve."
)
WAITING = "Nothing is trained yet: press Start."
NOT_MEASURED = "This loss has not been measured: choose the other one, or wait."
NO_TOKENS = "These lanes read whole sentences, which differ in length: choose steps or seconds."
TRAINING, VALIDATION = "training", "validation"
SCALES = ("linear", "logarithmic")
SMOOTHING = {"raw": 0.0, "smooth": 0.9, "smoother": 0.98}
STEPS, TOKENS, SECONDS = "over steps", "over tokens", "over seconds"
COUNTED = {STEPS: "step", TOKENS: "tokens", SECONDS: "seconds"}
WIDTH = 2.2


class RacePanel(Panel):
    """A curve for each lane; a click on its name hides it everywhere, one on the plot goes to that moment."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._race = session.race
        self._loss = picker("race_loss_picker", "which loss", (TRAINING, VALIDATION))
        self._smoothing = picker("race_smoothing_picker", "smoothing", SMOOTHING)
        self._smoothing.setCurrentText("smooth")
        self._over = picker("race_over_picker", "what the curves are drawn over", COUNTED)
        self._scale = picker("race_scale_picker", "scale of the loss", SCALES)
        self._said = InkedLabel(name="race_sentence", wraps=True)
        self._plot = named(LinePlot(possible=LOSS, of_trainings=True), "race_plot", "losses of the lanes")
        pickers = (self._loss, self._smoothing, self._over, self._scale)
        self._card = self.add_card(
            "Race", FittingRow(pickers, (self._scale, self._smoothing, self._over)), self._plot
        )
        self._card.layout_below.insertWidget(1, self._said)
        for each in pickers:
            each.currentIndexChanged.connect(lambda _: self.refresh_soon())
        self._plot.cursor_moved.connect(self._go_to)
        self._plot.hidden_changed.connect(self._hide)
        for growing in (self._race.changed, session.library.step_changed):
            growing.connect(self.refresh_now_and_then)
        self.follow(session.library.model_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return self._plot.points()

    def recipe(self) -> str:
        folders = [str(lane.folder) for lane in self._race.lanes if lane.folder is not None]
        return curves_recipe(folders) if folders else ""

    def refresh(self) -> None:
        lanes = self._race.lanes
        begun = [lane for lane in lanes if lane.step or lane.history.seconds.steps.size]
        self._said.setVisible(bool(lanes))
        self._said.set_pieces(race_in_words(lanes))
        target = TASKS[self.session.plan.task].target
        self._card.set_title(f"{self._loss.currentText().capitalize()} loss per {target}")
        self._smoothing.setEnabled(self._loss.currentText() == TRAINING)
        self._plot.set_x_name(COUNTED[self._over.currentText()])
        self._plot.set_logarithmic(self._scale.currentText() == SCALES[1])
        curves = [curve for lane in begun if (curve := self._curve(lane)) is not None]
        self._plot.set_curves(curves)
        is_drawn = any(len(curve.x) for curve in curves)
        self._card.set_placeholder("" if is_drawn else self._why_none(lanes, begun))
        self._plot.set_hidden([lane.label for lane in lanes if lane.name in self._race.hidden])
        ends = [end for lane in lanes if (end := self._end(lane)) is not None]
        self._plot.set_end(max(ends, default=None) if self._over.currentText() != SECONDS else None)
        self._plot.set_cursor(self._cursor)

    def _why_none(self, lanes: Sequence[RaceLane], begun: Sequence[RaceLane]) -> str:
        """Why no curve is drawn."""
        if not lanes:
            return EMPTY
        if not begun:
            return WAITING
        is_known = any(self._places(lane, lane.history.loss.steps) is not None for lane in begun)
        return NOT_MEASURED if is_known else NO_TOKENS

    def _curve(self, lane: RaceLane) -> PlotCurve | None:
        """Of a fork only what follows its departure."""
        history = lane.history
        if self._loss.currentText() == TRAINING:
            steps, values = history.loss.steps, history.loss.values
            values = smooth(values, SMOOTHING[self._smoothing.currentText()]) if len(values) else values
        else:
            steps, values = history.validation_loss.steps, history.validation_loss.values
        own = steps >= lane.left_at
        x = self._places(lane, steps[own])
        if x is None:
            return None
        return PlotCurve(
            lane.label, x, values[own], lane.color, WIDTH, dashed=bool(lane.parent), ring=bool(lane.parent)
        )

    def _places(self, lane: RaceLane, steps: np.ndarray) -> np.ndarray | None:
        """Where steps stand along x; None where that is not known of a lane."""
        over = self._over.currentText()
        if over == STEPS:
            return steps.astype(np.float64)
        if over == TOKENS:
            return None if lane.tokens_a_step is None else steps * float(lane.tokens_a_step)
        seconds = lane.history.seconds
        return np.interp(steps, seconds.steps, seconds.values) if len(seconds) else None

    def _end(self, lane: RaceLane) -> float | None:
        end = self._places(lane, np.array([lane.planned.options.steps]))
        return None if end is None else float(end[0])

    @property
    def _cursor(self) -> float | None:
        """Where the moment stands at which the shown lane is looked into."""
        lane = self._shown
        place = None if lane is None else self._places(lane, np.array([self.session.library.step]))
        return None if place is None else float(place[0])

    @property
    def _shown(self) -> RaceLane | None:
        model = self.session.library.model
        return next((lane for lane in self._race.lanes if model and lane.folder == model.folder), None)

    def _go_to(self, x: float) -> None:
        """Take all lanes to the step of the shown one that stands at x."""
        lane = self._shown
        steps = None if lane is None else lane.history.seconds.steps
        if lane is not None and steps is not None and len(steps):
            places = self._places(lane, steps)
            if places is not None:
                self.session.library.choose_step(int(steps[np.abs(places - x).argmin()]))

    def _hide(self) -> None:
        hidden = self._plot.hidden
        self._race.hide([lane.name for lane in self._race.lanes if lane.label in hidden])
