"""The form in which a lane is forked: from a snapshot of another or of the shown run, with other settings."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QLineEdit, QWidget

from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.base.steady import SpinBox
from lmviz.base.plain_text import on_one_line
from lmviz.runs.race_labels import value_in_words
from lmviz.training.options import LARGEST_STEPS
from lmviz.training.race import MOST_LANES

NOTHING = "nothing changed"
NO_RUN = "no run is open to fork from"


class ForkingForm(QWidget):
    """`ForkingForm(session)`: `show_race()` brings it up to date."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session, self._race = session, session.race
        self._from = picker("fork_run_picker", "the run to fork from", least=12)
        self._step = named(SpinBox(), "fork_step_spin", "the step to fork at")
        self._step.setRange(0, LARGEST_STEPS)
        self._setting = picker("fork_setting_picker", "the setting that changes", least=12)
        self._before = Label(role="muted")
        self._value = named(QLineEdit(), "fork_value_edit", "its new value")
        self._fork = QuietButton("fork_button", "Fork", "primary")
        self._reason = named(MutedLine(), "fork_reason")
        self._looked_at: Path | None = None
        self._offered: tuple[tuple[Path, str], ...] = ()
        self._from.currentIndexChanged.connect(lambda _: self._show_run())
        self._setting.currentIndexChanged.connect(lambda _: self._show_value())
        self._step.valueChanged.connect(lambda _: self._show_reason())
        self._value.textChanged.connect(lambda _: self._show_reason())
        self._value.returnPressed.connect(self._begin)
        self._fork.clicked.connect(self._begin)
        source = row(Label("from"), (self._from, 1), Label("at step"), self._step, gap=8)
        changed = row((self._setting, 1), self._before, (self._value, 1), gap=8)
        column(source, changed, row(self._fork, (self._reason, 1), gap=8), STRETCH, on=self, gap=6)

    def show_race(self) -> None:
        """Offer the lanes and the shown run."""
        lanes = {lane.folder: lane.label for lane in self._race.lanes if self._race.opened(lane) is not None}
        shown = self._session.library.model
        names = {folder: label for folder, label in lanes.items() if folder is not None}
        if shown is not None and shown.folder not in names and not shown.run.was_trained_elsewhere:
            names[shown.folder] = shown.name
        if tuple(names.items()) != self._offered:
            self._offered = tuple(names.items())
            chosen = self._from.currentData()
            set_choices(self._from, {folder: on_one_line(name) for folder, name in names.items()})
            if self._from.currentData() != chosen:  # or what a person has written would be lost
                self._show_run()
        looked_at = self._race.chosen
        if looked_at is not None and looked_at.folder != self._looked_at:
            self._looked_at = looked_at.folder
            self._from.setCurrentIndex(max(0, self._from.findData(looked_at.folder)))
        if self._model is not None:
            self._step.setMaximum(max(self._model.snapshots))
        self._show_reason()

    @property
    def _model(self) -> OpenedModel | None:
        folder = self._from.currentData()
        return next((model for model in self._session.library.models if model.folder == folder), None)

    def _show_run(self) -> None:
        """Offer the settings of the chosen run, and its step that is shown."""
        model = self._model
        if model is None:
            self._setting.clear()
            return
        settings: dict[str | None, str] = {None: NOTHING}
        settings |= {each.name: each.label for each in model.description.options.settings()}
        settings |= {name: name.replace("_", " ").capitalize() for name in model.description.configuration}
        set_choices(self._setting, settings, self._setting.currentData() or "learning_rate")
        self._step.setMaximum(max(model.snapshots))
        self._step.setValue(model.nearest_snapshot(self._session.library.step))
        self._show_value()

    def _show_value(self) -> None:
        model, name = self._model, self._setting.currentData()
        self._value.setEnabled(name is not None)
        before = None if model is None or name is None else self._value_before(model, name)
        self._before.setText("" if before is None else f"{value_in_words(before)} →")
        self._show_reason()

    @staticmethod
    def _value_before(model: OpenedModel, name: str) -> object:
        return {**model.description.configuration, **model.description.options.to_values()}[name]

    def _show_reason(self) -> None:
        """Why no fork can begin now, or from which snapshot it would."""
        model, typed = self._model, self._value.text().strip()
        reason = NO_RUN if model is None else ""
        if len(self._race.lanes) >= MOST_LANES:
            reason = f"there are {MOST_LANES} lanes: make a new race first"
        elif self._setting.currentData() is not None and not typed:
            reason = "write the new value"
        elif self._session.training.state.is_active:
            reason = "another model is being trained"
        self._fork.setEnabled(not reason)
        if model is not None and not reason:
            nearest = model.nearest_snapshot(self._step.value())
            reason = f"goes on from the snapshot of step {nearest:,}"
        self._reason.set_text(reason)

    def _begin(self) -> None:
        model, name = self._model, self._setting.currentData()
        if model is not None and self._fork.isEnabled():
            changes = {} if name is None else {name: self._value.text().strip().replace(",", ".")}
            self._race.fork(model.folder, model.nearest_snapshot(self._step.value()), changes)
