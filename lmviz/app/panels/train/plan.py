"""What to train: the family, its configuration and how it learns, with what that will cost."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLineEdit, QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.train.statement import TrainingStatement
from lmviz.app.panels.train.steering import Steering
from lmviz.app.session.session import Session
from lmviz.app.session.training_plan import FIRST_FAMILY
from lmviz.app.widgets.base.building import STRETCH, column, named, row, sheet
from lmviz.app.widgets.base.figures import number, short, with_unit
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.app.widgets.controls.preset_cards import PresetCard, PresetCards
from lmviz.app.widgets.diagrams.family_cards import FamilyCard, FamilyCards
from lmviz.base.durations import briefly
from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, obstacle_to
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.training.cost import cost_on
from lmviz.training.options import TrainingOptions, check_length, used_options

MEASURING, UNKNOWN = "measuring…", "not measured"
WHILE_TRAINING = ("learning_rate",)
TYPING = 900  # milliseconds without a key before a training takes a rate; "3e-4" begins with a 3


WORK = (
    "A FLOP is one addition or multiplication of two numbers. A step takes one batch of the text forward "
    "through the model and back, and then changes the weights."
)


class PlanPanel(Panel):
    """Cards of families and two forms made from the fields of their configurations."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._cards = FamilyCards(
            [FamilyCard(row.name, row.short_title, row.sentence) for row in FAMILIES.values()]
        )
        self._cards.setObjectName("family_picker")
        plan = session.plan.current
        self._model_form = named(ConfigurationForm(plan.configuration), "model_form")
        self._learning_form = named(ConfigurationForm(plan.training_options), "learning_form")
        self._presets = named(PresetCards(), "preset_cards", "how long to train")
        self._how_long = MutedLine()
        self._work = MutedLine(right=True)
        self._statement = TrainingStatement(session)
        self._steering = Steering(session)
        self._steering.all_settings.toggled.connect(lambda _: self._fold())
        self._card = self.add_card("Model")
        for above in (self._statement, self._steering):
            above.setParent(self._card)  # before the forms, as it stands above them: Tab follows that
        self._card.set_body(self._lay_out())
        self._card.layout_below.insertWidget(1, self._statement)
        self._card.layout_below.insertWidget(2, self._steering)
        self._cards.family_chosen.connect(session.plan.choose_family)
        self._presets.card_chosen.connect(session.plan.choose_preset)
        self._model_form.configuration_changed.connect(self._change_model)
        self._learning_form.configuration_changed.connect(self._change_learning)
        for form in (self._model_form, self._learning_form):
            form.refused.connect(lambda _: self._tell_problem())
        self._how_long.set_text("how long: time, steps, passes over the text")
        self._was_active = False
        self._rate_begun_with = self._rate_applied = plan.training_options.learning_rate
        self._rate_settles = QTimer(self, singleShot=True, interval=TYPING)
        self._rate_settles.timeout.connect(self._apply_rate)
        rate = self._learning_form.field("learning_rate").control
        assert isinstance(rate, QLineEdit), "a rate is not a whole number"
        rate.editingFinished.connect(self._apply_rate)
        session.training.changed.connect(self._notice_training)
        self.follow(session.plan.changed, session.plan.timed, session.text.changed)
        self.follow(session.work.ready_changed)
        self.follow(session.work.job_started, session.work.job_finished)

    def refresh(self) -> None:
        plan, active = self.session.plan.current, self.session.training.state.is_active
        self._offer_families()
        self._cards.choose(plan.family)
        self._cards.setEnabled(not active)
        if self._model_form.configuration != plan.configuration:
            self._model_form.set_configuration(plan.configuration)
        if self._learning_form.configuration != plan.training_options:
            self._learning_form.set_configuration(plan.training_options)
        self._learning_form.set_known("steps", self.session.plan.knows_steps)
        self._model_form.set_editable(() if active else None)
        self._learning_form.set_editable(WHILE_TRAINING if active else None)
        self._leave_out_unused()
        self._check_together()
        self._show_cost()
        if not active:
            self.session.plan.want_time()
        self._show_presets()
        self._fold()
        self._statement.show_plan()

    def _fold(self) -> None:
        """While a model trains, leave of the settings those that can be changed, until all are wanted."""
        active = self.session.training.state.is_active
        folded = active and not self._steering.all_settings.isChecked()
        self._steering.setVisible(active)
        self._steering.show_state()
        for widget in (self._cards, self._model_form, self._heading):
            widget.setVisible(not folded)
        if folded:
            self._how_long.hide()
            self._presets.hide()
            self._learning_form.set_shown(WHILE_TRAINING)
        elif active:
            self._leave_out_unused()
            self._show_presets()

    def _offer_families(self) -> None:
        """Which families can do what the open text asks; while the planned one cannot, another is planned."""
        task, plan = self.session.plan.task, self.session.plan.current
        able = [name for name in FAMILIES if not obstacle_to(name, task)]
        self._cards.set_refused({name: obstacle_to(name, task) for name in FAMILIES if name not in able})
        if able and plan.family not in able and not self.session.training.state.is_active:
            self.session.plan.choose_family(FIRST_FAMILY if FIRST_FAMILY in able else able[-1])

    def _leave_out_unused(self) -> None:
        """Show what the family, and the choices made so far, have use for."""
        plan, task = self.session.plan.current, self.session.plan.task
        self._model_form.set_shown(plan.configuration.used_for(task))
        counts = FAMILIES[plan.family].counts
        self._learning_form.set_shown(used_options(plan.training_options, counts=counts, task=task))

    def _check_together(self) -> None:
        """What one form alone cannot know: whether the model takes windows of the length."""
        plan, sentence = self.session.plan.current, ""
        try:
            check_length(plan.training_options.length, getattr(plan.configuration, "context", None))
        except LmvizError as error:
            sentence = str(error)
        self._learning_form.complain("length", sentence)
        self._tell_problem()

    def _tell_problem(self) -> None:
        self.session.plan.refuse(self._model_form.complaint or self._learning_form.complaint)
        self._statement.show_plan()  # a value that is refused changes no plan

    def _notice_training(self) -> None:
        """What can be changed depends on whether it trains, not on how far it has got."""
        self._statement.show_plan()
        self._steering.show_state()
        if self.session.training.state.is_active != self._was_active:
            self._was_active = self.session.training.state.is_active
            self._rate_begun_with = self._rate_applied = (
                self.session.plan.current.training_options.learning_rate
            )
            self.refresh_soon()

    def _lay_out(self) -> QWidget:
        learning = Label("Learning", role="title")
        self._heading = sheet(row(learning, (self._work, 1)))
        above = (self._cards, self._how_long, self._presets, self._model_form)
        body = sheet(column(*above, self._heading, self._learning_form, STRETCH, margins=(0, 0, 6, 0)))
        return scrolling(body)

    def _show_presets(self) -> None:
        """The lengths one can choose, with the time each takes here as soon as it was measured."""
        plan, steps = self.session.plan, self.session.plan.current.training_options.steps
        presets = plan.presets
        unknown = MEASURING if plan.is_measuring else UNKNOWN
        self._presets.set_cards(
            [
                PresetCard(
                    preset.name,
                    (
                        unknown if preset.seconds is None else briefly(preset.seconds),
                        " " if preset.steps is None else f"{preset.steps:,} steps",
                        " " if preset.passes is None else _times(preset.passes),
                    ),
                )
                for preset in presets
            ],
            next((preset.name for preset in presets if preset.steps == steps), ""),
        )
        self._presets.setEnabled(not self.session.training.state.is_active)
        for widget in (self._how_long, self._presets):
            widget.setVisible(bool(presets))

    def _change_model(self, configuration: ModelConfiguration) -> None:
        self.session.plan.change(configuration)
        self._check_together()

    def _change_learning(self, options: TrainingOptions) -> None:
        if options.learning_rate != self._rate_applied:
            self._rate_settles.start()
        self.session.plan.change(training_options=options)
        self._check_together()

    def _apply_rate(self) -> None:
        """Continue the training with the form's learning rate; its first one restores the schedule."""
        self._rate_settles.stop()
        rate = self.session.plan.current.training_options.learning_rate
        if rate != self._rate_applied and not self._learning_form.complaint:
            self._rate_applied = rate
            self.session.training.set_learning_rate(None if rate == self._rate_begun_with else rate)

    def _show_cost(self) -> None:
        """Parameters, memory and work per step, as far as they are known before."""
        plan, corpus = self.session.plan.current, self.session.text.corpus
        counts = FAMILIES[plan.family].counts
        if counts or corpus is None:
            self._card.set_aside("parameters after counting" if counts else "open a text to see its size")
            self._work.set_text("")
            return
        cost = cost_on(plan.configuration, plan.training_options, corpus)
        parts = [f"{short(cost.parameters)} parameters", with_unit(cost.bytes, "B")]
        self._card.set_aside(" · ".join(parts))
        work = cost.operations_per_step
        self._work.set_text(f"{with_unit(work, 'FLOP')} a step" if work else "", WORK if work else "")


def _times(passes: float) -> str:
    """How often the text is read."""
    return f"{number(passes, 1 if passes < 9.95 else 0)} ×"
