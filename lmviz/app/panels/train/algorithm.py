"""The training algorithm, line by line, with the real numbers of a step that was made alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QPushButton

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.train.observed_details import ObservedDetails
from lmviz.app.panels.train.observed_lines import algorithm_lines, planned_lines
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.beside import Beside
from lmviz.app.widgets.base.building import named, stack
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.text.algorithm_lines import AlgorithmLines
from lmviz.families import FAMILIES
from lmviz.training.observation import Observed, ObservedUpdate

A_LINE = 450  # milliseconds for which a line is lit
NOTHING = "Make one step (Ctrl+.) to see what the training algorithm does, line by line, with its numbers."
OFFER = "One step of a new model"


class AlgorithmPanel(Panel):
    """The lines are lit one after the other once a step was made; a click on one keeps what it came to."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._lines = named(AlgorithmLines(), "algorithm_lines")
        self._planned = AlgorithmLines()  # of which nothing has come yet
        self._planned.setObjectName("planned_lines")
        self._details = ObservedDetails()
        self.observed: Observed | None = None  # the step that is drawn
        self._learner: OpenedModel | None = None  # which has made it
        self._chosen = ""
        self._shown: tuple[Observed, str] | None = None
        self._step = named(QPushButton("one step"), "observed_step_button")
        self._step.setToolTip("Make one training step, and see its parts (Ctrl+.).")
        self._step.clicked.connect(session.training.step)
        self._invitation = Invitation("new_model_step_button")
        self._invitation.accepted.connect(session.training.step_of_a_new_run)
        self._pages = stack(
            scrolling(Beside(self._planned, self._invitation, (5, 6))),
            Beside(scrolling(self._lines), self._details, (5, 6)),
        )
        self._card = self.add_card("Training algorithm", self._step, self._pages)
        self._light = QTimer(self, interval=A_LINE)
        self._light.timeout.connect(self._light_next)
        self._lines.part_clicked.connect(self._choose)
        self._seen: tuple[Path | None, bool] = (None, False)  # the run, and whether a step of it was observed
        session.training.changed.connect(self._notice)
        session.training.changed.connect(self.refresh_now_and_then)
        self.follow(
            session.library.models_changed,
            session.library.model_changed,
            session.text.changed,
            session.plan.changed,
        )

    @property
    def is_playing(self) -> bool:
        """Whether the lines are being lit one after the other."""
        return self._light.isActive()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The arrays of the step that was observed, such as the batch; empty before any was."""
        observed = self.observed
        if observed is None:
            return {}
        if not isinstance(observed, ObservedUpdate):
            return {"ids": observed.ids}
        norms = np.array([observed.norm, observed.clipped_norm])
        batch = observed.batch
        return {"tokens": batch.tokens, "targets": batch.targets, "losses": batch.losses, "norms": norms}

    def recipe(self) -> str:
        """None: a step depends on the state of the optimizer, which is in no file that Python could open."""
        return ""

    def refresh(self) -> None:
        state, model = self.session.training.state, self._model()
        self._invite()
        if state.observed is None or model is None:
            self.observed = self._shown = self._learner = None
            self._light.stop()
            self._show_planned()
            return
        if state.observed is not self.observed:
            self.observed, self._learner = state.observed, model
            steps = state.progress.steps if state.progress is not None else self.observed.step
            self._lines.set_lines(algorithm_lines(self.observed, steps))
            self._pages.setCurrentIndex(1)
            self._lines.set_lit(0)
            self._light.start()
        self._show_details()

    def _notice(self) -> None:
        """The first step of a training that is made alone is what the panel has been waiting for."""
        state = self.session.training.state
        before, self._seen = self._seen, (state.folder, state.observed is not None)
        if state.observed is not None and self._seen != before:
            self.begun.emit()

    def _invite(self) -> None:
        """Invite to one step of the shown model, or say why it makes none and offer one of a new model."""
        training = self.session.training
        can_begin = training.state.is_active or self.session.library.model is None
        obstacle = "" if can_begin else training.obstacle
        self._step.setEnabled(not obstacle)
        self._invitation.invite(obstacle or NOTHING, OFFER if obstacle else "")

    def _show_planned(self) -> None:
        """The algorithm of the step that could be made, without figures."""
        plan, model, training = self.session.plan.current, self.session.library.model, self.session.training
        family, options = plan.family, plan.training_options
        if model is not None and not training.obstacle:
            family, options = model.family, model.description.options
        self._planned.set_lines(planned_lines(options, counts=FAMILIES[family].counts))
        self._pages.setCurrentIndex(0)

    def _model(self) -> OpenedModel | None:
        """The model that is trained, whose tokens the batch has; None before it is open."""
        folder = self.session.training.state.folder
        return next((model for model in self.session.library.models if model.folder == folder), None)

    def _light_next(self) -> None:
        """Light the line after the lit one; after the last, all is shown."""
        following = self._lines.lit + 1
        self._lines.set_lit(following if following < len(self._lines.lines) else -1)
        if self._lines.lit < 0:
            self._light.stop()
        self._show_details()

    def _choose(self, index: int) -> None:
        """Keep the details of a line in sight; a second click on it lets them follow the light again."""
        name = self._lines.lines[index].name
        self._chosen = "" if name == self._chosen else name
        self._show_details()

    def _show_details(self) -> None:
        lines, model = self._lines.lines, self._learner
        if self.observed is None or model is None or not lines:
            return
        names = [line.name for line in lines]
        self._lines.set_current(names.index(self._chosen) if self._chosen in names else -1)
        name = self._chosen if self._chosen in names else names[self._lines.lit]  # −1 is the last
        if self._shown is None or self._shown[0] is not self.observed or self._shown[1] != name:
            self._shown = (self.observed, name)
            self._details.show_line(name, self.observed, model)
