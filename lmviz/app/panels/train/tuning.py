"""What to learn of the shown model by training it further, and what that takes, before it begins."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QPushButton, QSizePolicy

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.session.tuning import WAYS, Measured
from lmviz.app.widgets.base.building import STRETCH, column, named, row, sheet
from lmviz.app.widgets.base.figures import count, short, with_unit
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.app.widgets.controls.measured_cards import MeasuredBar, MeasuredCard, MeasuredCards
from lmviz.app.widgets.diagrams.thin_product import ThinProduct
from lmviz.base.durations import in_words
from lmviz.models.tuning_configuration import LORA, TuningConfiguration
from lmviz.training.options import TrainingOptions, used_options
from lmviz.training.tuning import RATES

UNKNOWN = "…"
CHOOSE, LEAVE_OUT = "Measure a second text, too…", "Leave it out"
TITLE = "Train further"


class TuningPanel(Panel):
    """Three ways as cards on common scales, the settings of the chosen one, and the button that begins."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        tuning = session.tuning
        self._what = Label(name="tuning_subject", wraps=True)
        self._text = named(MutedLine(), "tuning_text")
        self._ways = named(MeasuredCards(), "tuning_ways", "what is learned")
        self._thin = named(ThinProduct(), "thin_product")
        self._form = named(ConfigurationForm(tuning.chosen), "tuning_form")
        self._learning = named(ConfigurationForm(tuning.options), "tuning_learning_form")
        self._button = named(
            QPushButton(TITLE), "tune_button", "train the shown model further, as planned", role="primary"
        )
        self._button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._button.clicked.connect(lambda: tuning.start())
        self._how_long = named(MutedLine(), "tuning_duration")
        self._second_name = named(MutedLine(), "second_text")
        self._second = named(
            QPushButton(CHOOSE), "second_text_button", "a second text whose loss is measured", role="link"
        )
        self._second.clicked.connect(self._choose_second)
        self._card = self.add_card(TITLE)
        heading = sheet(row(Label("Learning", role="title")))
        body = sheet(
            column(
                self._what,
                self._text,
                self._ways,
                row(self._button, STRETCH),
                self._how_long,
                row(self._second_name, self._second),
                self._form,
                self._thin,
                heading,
                self._learning,
                STRETCH,
                margins=(0, 0, 6, 0),
            )
        )
        self._card.set_body(scrolling(body))
        self._ways.card_chosen.connect(tuning.choose)
        self._form.configuration_changed.connect(self._change)
        self._learning.configuration_changed.connect(self._change_learning)
        self.show_failures(tuning)
        self.follow(tuning.changed, session.training.changed, session.work.ready_changed)

    def refresh(self) -> None:
        tuning, active = self.session.tuning, self.session.training.is_taken
        obstacle = tuning.obstacle
        self._card.set_placeholder(obstacle)
        if obstacle:
            self._card.set_aside("")
            return
        if self._form.configuration != tuning.chosen:
            self._form.set_configuration(tuning.chosen)
        if self._learning.configuration != tuning.options:
            self._learning.set_configuration(tuning.options)
        self._form.set_shown(tuning.chosen.used() - {"adapter"})
        self._learning.set_shown(used_options(tuning.options, counts=False) - {"device", "precision"})
        for form in (self._form, self._learning):
            form.set_editable(() if active else None)
        second = tuning.second
        self._second_name.set_text("" if second is None else f"loss measured on {second.name}, too")
        self._second_name.setVisible(second is not None)
        self._second.setText(CHOOSE if second is None else LEAVE_OUT)
        self._second.setEnabled(not active)
        tuning.measure()
        known = tuning.known
        self._say_what(known)
        self._show_ways(known)
        self._ways.setEnabled(not active)
        self._thin.setVisible(tuning.chosen.adapter == LORA and known is not None and known.largest[0] > 0)
        if known is not None:
            self._thin.set_shape(*known.largest, tuning.chosen.rank)
        refused = "" if known is None else known.refused.get(tuning.chosen.adapter, "")
        complaint = self._form.complaint or self._learning.complaint
        self._button.setEnabled(not (active or refused or complaint))
        self._how_long.set_text(refused or complaint or self._duration(known))

    def _say_what(self, known: Measured | None) -> None:
        model, corpus = self.session.tuning.model, self.session.text.corpus
        if model is None or corpus is None:
            return
        self._what.setText(f"{model.name} goes on learning from {corpus.name}, in its own tokens")
        said = "being read in its tokens…"
        if known is not None:
            learned, held_out = len(known.corpus.training), len(known.corpus.validation)
            said = f"{count(learned)} tokens to learn from · {count(held_out)} held out"
            if known.corpus.answers_only:
                said = f"{said} · only the answers count"
        self._text.set_text(said)
        self._card.set_aside("measured here" if known is not None else "")

    def _show_ways(self, known: Measured | None) -> None:
        """Each way with its figures, as far as they are known, on the scale of the largest."""
        tuning = self.session.tuning
        model = tuning.model
        layers = 0 if model is None else int(model.description.configuration.get("layers", 0))
        plans = {} if known is None else known.plans
        most = max((plan.trained for plan in plans.values()), default=1)
        largest = max((plan.bytes for plan in plans.values()), default=1)
        slowest = max((plan.seconds or 0.0 for plan in plans.values()), default=0.0)
        cards = []
        for way in WAYS:
            chosen = TuningConfiguration.from_values({**tuning.chosen.to_values(), "adapter": way})
            own = way == tuning.chosen.adapter
            rate = tuning.options.learning_rate if own else RATES[way]
            plan = plans.get(way)
            if plan is None:
                bars = tuple(MeasuredBar(name, None, UNKNOWN) for name in ("trained", "memory", "each step"))
            else:
                seconds = plan.seconds
                share = None if seconds is None or not slowest else seconds / slowest
                bars = (
                    MeasuredBar("trained", plan.trained / most, short(plan.trained)),
                    MeasuredBar("memory", plan.bytes / largest, with_unit(plan.bytes, "B")),
                    MeasuredBar("each step", share, UNKNOWN if seconds is None else _seconds(seconds)),
                )
            refused = "" if known is None else known.refused.get(way, "")
            cards.append(MeasuredCard(way, chosen.in_words(layers), f"rate {rate:g}", bars, refused))
        self._ways.set_cards(cards, tuning.chosen.adapter)

    def _duration(self, known: Measured | None) -> str:
        """How long it will take here, as two steps have shown."""
        tuning, state = self.session.tuning, self.session.training.state
        if state.is_active:
            return f"training {state.subject}"
        plan = None if known is None else known.plans.get(tuning.chosen.adapter)
        if plan is None or plan.seconds is None:
            return "making two steps to see how long one takes…" if tuning.is_measuring else ""
        steps = tuning.options.steps
        return f"{in_words(plan.seconds * steps)} for {count(steps)} steps"

    def _choose_second(self) -> None:
        """A file, or none where there is one."""
        tuning = self.session.tuning
        if tuning.second is not None:
            tuning.choose_second(None)
            return
        name, _ = QFileDialog.getOpenFileName(self, "A second text to measure", self.session.text.folder)
        if name:
            tuning.choose_second(Path(name))

    def _change(self, chosen: TuningConfiguration) -> None:
        self.session.tuning.change(chosen=chosen)

    def _change_learning(self, options: TrainingOptions) -> None:
        self.session.tuning.change(options=options)


def _seconds(seconds: float) -> str:
    """The time of a step."""
    return f"{seconds:.1f} s" if seconds >= 0.95 else f"{seconds * 1000:.0f} ms"
