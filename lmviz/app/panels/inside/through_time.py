"""Backpropagation through time: how far a loss reaches back, in the shown model and in those beside it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.inside.losses_and_steps import LossesAndSteps, Sums
from lmviz.app.panels.inside.reach_curves import ReachCurves
from lmviz.app.panels.inside.step_stretch import StepStretch
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.comparison import ComparedModel, names_of_compared
from lmviz.app.session.gradients import LAST_LOSS
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, row, sheet
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.base.steady import SpinBox
from lmviz.app.widgets.controls.inline_spin import fit_width
from lmviz.app.widgets.diagrams.gradient_wave import GradientWave, WaveRow
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.base.errors import LmvizError
from lmviz.families import find_family
from lmviz.inspection.recipes.gradient import reach_recipe
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.losses_by_state import LossesByState
    from lmviz.inspection.parameter_over_time import ParameterOverTime
    from lmviz.inspection.reach import Reach
    from lmviz.inspection.scalar import Of
    from lmviz.models.model import Model

SCALED_REACH = Key("scaled")

STEPS = Key("steps")

LOSSES = Key("losses by states")

REACHES = Key("through time")

TRUNCATION = 20  # states, as is usual
WIDE, TALL, LOW = 520, 300, 150  # pixels at scale 1: what stands side by side, and heights where not
A_STEP = 90  # milliseconds from one step back to the next while it plays
ALONG = {"cell": "cell", "token": "embedding", "embedding": "embedding"}
"""What the gradient goes back along, by the tap that it is measured at."""


_Question = tuple["Reading", "Of", "tuple[ComparedModel, ...]"]
"""What is read, the number that goes back, and in which models."""


@dataclass(frozen=True, eq=False)
class _Reached:
    """What one model says: the tokens it reads, how far the gradient reaches, and the gradient itself."""

    tokens: tuple[str, ...]
    reach: Reach
    gradients: np.ndarray


class ThroughTimePanel(Panel):
    """A loss goes back to the left; below, every loss by every state, and the factor of each step."""

    draws = ("reading",)

    gives_way = 120

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._found: list[tuple[str, ComparedModel, _Reached]] = []
        self._asked: _Question | None = None
        self._question: _Question | None = None  # what is drawn is part of the answer to this
        self.wave = GradientWave()  # the picture of the wave
        self.sums = LossesAndSteps()  # the losses by states, and the steps
        self._curves = ReachCurves()
        self.stretch = StepStretch()  # how far each step of the recurrence can stretch a gradient
        self._card = self.add_card("Back through time", self._head(), self._body())
        self._playing = QTimer(self)
        self._playing.timeout.connect(self._play_on)
        self._connect(session)

    def _head(self) -> QWidget:
        self._truncation = named(SpinBox(), "truncation_spin", "truncate after so many states")
        self._truncation.setRange(1, 999)
        self._truncation.setValue(TRUNCATION)
        self._truncation.setPrefix("truncate at ")
        fit_width(self._truncation)
        self._play = named(QPushButton("play"), "through_time_play", role="link")
        self._play.setToolTip("Go back step by step; the arrow keys do so too.")
        return sheet(row(self._truncation, self._play))

    def _body(self) -> QWidget:
        right = column((self._curves, 1), self.stretch)
        self._below = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._below.setSpacing(18)
        self._below.addWidget(self.sums, 1)
        self._below.addLayout(right, 1)
        body = sheet(column((self.wave, 2), (self._below, 5)))
        return scrolling(body)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = self.width() >= WIDE * current_theme().scale
        directions = QBoxLayout.Direction
        self._below.setDirection(directions.LeftToRight if is_wide else directions.TopToBottom)
        self.sums.setMinimumHeight(round(0 if is_wide else TALL * current_theme().scale))
        self._curves.plot.setMinimumHeight(round(0 if is_wide else LOW * current_theme().scale))

    def _connect(self, session: Session) -> None:
        self.sums.loss_chosen.connect(lambda target: session.gradients.choose(f"loss@{target}"))
        self._truncation.valueChanged.connect(lambda _: self._draw())
        self._curves.factor_changed.connect(self._ask_scaled)
        self._play.clicked.connect(self._toggle)
        for picture in (self.wave, self.sums.parts, self.sums.held, self.stretch.curve):
            picture.part_hovered.connect(session.focus.hover_position)
            picture.part_clicked.connect(session.focus.choose_position)
        session.focus.position_changed.connect(self._mark)
        session.focus.hovered_position_changed.connect(self._mark)
        theme_switch().theme_changed.connect(self._draw)
        self.follow(session.reading.changed, session.comparison.changed, session.gradients.shown_changed)

    @property
    def plot(self) -> LinePlot:
        """How large the gradient is, over the steps back."""
        return self._curves.plot

    @property
    def said(self) -> str:
        """The line above the plot."""
        return self._curves.said

    @property
    def reaches(self) -> dict[str, Reach]:
        """How far the gradient reaches, by the name of each model."""
        return {name: found.reach for name, _, found in self._found}

    @property
    def losses(self) -> LossesByState | None:
        """Every loss by every state of the shown model."""
        return None if self.sums.sums is None else self.sums.sums.losses

    @property
    def parameter(self) -> ParameterOverTime | None:
        """What each step adds to the gradient of the recurrent weights; None without a recurrence."""
        return None if self.sums.sums is None else self.sums.sums.parameter

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The norms (position,) of each model, all losses by all states, and the parts of U's gradient."""
        arrays = {f"norms/{name}": found.norms for name, found in self.reaches.items()}
        if self.losses is not None:
            arrays |= {"losses by states": self.losses.norms, "losses": self.losses.values}
        if self.stretch.norms is not None:
            arrays["spectral norms"] = self.stretch.norms
        if self.parameter is not None:
            arrays[f"steps/{self.parameter.name}"] = self.parameter.along
        return arrays

    def recipe(self) -> str:
        if self._question is None or not self._found:
            return ""
        reading, of, _ = self._question
        subjects = {name: item.reads(reading.trace.text) for name, item, _ in self._found}
        return reach_recipe(subjects, of)

    def refresh(self) -> None:
        reading, models = self.session.reading.current, self.session.comparison.models
        self.session.gradients.keep_factors({}, ())
        if reading is None or not models:
            for key in (REACHES, LOSSES, SCALED_REACH, STEPS):
                self.silence(key)
            self.stretch.set_norms(None)
            self._found = []
            self._asked = self._question = None
            self._curves.set_scaled(None)
            self.sums.set_sums(None, None)
            self._draw()
            return
        self._asked = (reading, self._of(reading), models)
        self._ask_reaches(models, reading)
        self._ask_losses(reading)
        self._ask_steps(reading)

    def _begin(self, question: _Question | None) -> None:
        """The first part of a new answer is known: those of the one before are taken away."""
        if question != self._question:
            self._question, self._found = question, []
            self.stretch.set_norms(None)
            self._curves.set_scaled(None)
            self.sums.set_sums(None, None)

    def handle_failure(self, key: str) -> None:
        if key == STEPS:
            self.stretch.set_norms(None)
        elif key == SCALED_REACH:
            self._curves.set_scaled(None)

    def _of(self, reading: Reading) -> Of:
        """The number that goes back: the chosen one, if it is a loss or an answer."""
        of = self.session.gradients.of_reading(reading)
        return of if isinstance(of, str) or of[0] == "probabilities" else LAST_LOSS

    def _ask_reaches(self, models: tuple[ComparedModel, ...], reading: Reading) -> None:
        text, of, beside = reading.trace.text, self._of(reading), reading.trace.beside

        def reached(model: Model) -> _Reached | str:
            from lmviz.inspection.backpropagation import gradient
            from lmviz.inspection.reach import reach, state_address

            try:
                found, address = gradient(model, text, of, **beside), state_address(model)
            except LmvizError as sentence:
                return str(sentence)
            return _Reached(found.trace.tokens, reach(found, address), found[address].array)

        question = self._asked

        def take(found: list[_Reached | str]) -> None:
            self._begin(question)
            self._draw_reach(models, reading, found)

        self.ask(Question(REACHES, models, lambda found: list(map(reached, found))), take)

    def _draw_reach(
        self, models: tuple[ComparedModel, ...], reading: Reading, found: list[_Reached | str]
    ) -> None:
        named = zip(_short_names(models), models, found, strict=True)
        read = [(name, item, one) for name, item, one in named if isinstance(one, _Reached)]
        self._found = [row for row in read if row[2].tokens == reading.trace.tokens]
        factors = {name: one.reach.factor for name, _, one in self._found}
        self.session.gradients.keep_factors(factors, models)
        sentences = [one for one in found if isinstance(one, str)]
        self.complain("" if self._found or not sentences else sentences[0], "no gradient")
        self._draw()

    def _ask_losses(self, reading: Reading) -> None:
        trace, of, question = reading.trace, self._of(reading), self._asked

        def work(model: Model) -> Sums | None:
            from lmviz.inspection.losses_by_state import losses_by_state
            from lmviz.inspection.parameter_over_time import parameter_over_time
            from lmviz.inspection.reach import recurrent_weights, state_address

            losses: LossesByState | None = None
            parameter: ParameterOverTime | None = None
            changes, beside = trace.interventions, trace.beside
            names = recurrent_weights(model)
            with suppress(LmvizError):  # without gradients, which is said of the wave
                if names:
                    parameter = parameter_over_time(
                        model, trace.text, of, names[0], interventions=changes, **beside
                    )
            with suppress(LmvizError):  # or without losses, as a text has of labels
                address = state_address(model)
                losses = losses_by_state(model, trace.text, address, interventions=changes, **beside)
            return None if losses is None and parameter is None else Sums(losses, parameter)

        def take(found: Sums | None) -> None:
            self._begin(question)
            self.sums.set_sums(trace, found)
            self._ask_scaled()
            self._draw()

        self.ask(Question(LOSSES, reading, work), take)

    def _ask_steps(self, reading: Reading) -> None:
        """How far each step of the recurrence can stretch a gradient."""
        trace, question = reading.trace, self._asked

        def work(model: Model) -> np.ndarray | None:
            from lmviz.inspection.step_jacobians import can_be_listed, spectral_norms, step_jacobians

            if not can_be_listed(model, trace):
                return None
            return spectral_norms(step_jacobians(model, trace))

        def take(found: np.ndarray | None) -> None:
            self._begin(question)
            self.stretch.set_norms(found, [visible(word) for word in trace.tokens])
            self._mark()

        self.ask(Question(STEPS, reading, work), take)

    def _ask_scaled(self) -> None:
        """How far the gradient would reach with U as large as the slider says."""
        reading, factor = self.session.reading.current, self._curves.factor
        if reading is None or self.parameter is None or factor == 1:
            self.silence(SCALED_REACH)
            self._curves.set_scaled(None)
            return
        trace, of, question = reading.trace, self._of(reading), self._question

        def work(model: Model) -> Reach:
            from lmviz.inspection.reach import reach_with, recurrent_weights, state_address

            scales = dict.fromkeys(recurrent_weights(model), factor)
            return reach_with(
                model,
                trace.text,
                of,
                state_address(model),
                scales=scales,
                interventions=trace.interventions,
                **trace.beside,
            )

        self.ask(
            Question(SCALED_REACH, reading, work),
            lambda found: self._curves.set_scaled(found, factor, question),
        )

    def _draw(self) -> None:
        truncation = self._truncation.value()
        reading = self.session.reading.current
        tokens = [visible(token) for token in reading.trace.tokens] if reading is not None else []
        theme = current_theme()
        rows = [
            WaveRow(
                name,
                _note(found.reach),
                theme.series_color(item.model.color_index),
                found.gradients,
                found.reach.relative,
            )
            for name, item, found in self._found
        ]
        self.wave.set_rows(rows, tokens if rows else [])
        self.wave.set_truncation(truncation)
        self._curves.set_reaches(
            {name: (found.reach, item.model.color_index) for name, item, found in self._found},
            self._question,
        )
        self._curves.offer_factor(self.parameter is not None)
        self.sums.set_truncation(truncation)
        self._mark()

    def _mark(self) -> None:
        if self.awaits_answer or self._asked != self._question:
            return
        position = self.session.focus.shown_position
        self.wave.set_current(position)
        self.sums.set_position(position)
        self.stretch.set_position(position)

    def _toggle(self) -> None:
        if self._playing.isActive():
            self._stop()
        else:
            self.wave.set_reached(0)
            self._play.setText("pause")
            self._playing.start(A_STEP)

    def _play_on(self) -> None:
        self.wave.step_back()
        if self.wave.reached is None or not self.is_in_sight:
            self._stop()

    def _stop(self) -> None:
        self._playing.stop()
        self._play.setText("play")


def _note(reach: Reach) -> str:
    """What the gradient goes back along, and what a step multiplies it by."""
    along = ALONG.get(Address.parse(reach.address).name, "state")
    return f"{along} ×{number(reach.factor, 2)} a step" if np.isfinite(reach.factor) else along


def _short_names(models: tuple[ComparedModel, ...]) -> tuple[str, ...]:
    """The families where no two are alike, else the names."""
    families = [find_family(item.model.family).short_title for item in models]
    return tuple(families) if len(set(families)) == len(families) else names_of_compared(models)
