"""The loss over the steps: training and validation, beside simple models and other runs."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.session.training_state import History
from lmviz.app.widgets.base.building import named, picker, row
from lmviz.app.widgets.base.remark import Remark
from lmviz.app.widgets.kit.axes import LOSS, PERCENT
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.families import FAMILIES
from lmviz.inspection.recipes.run import curves_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.parts import Curves
from lmviz.tasks import NEXT_TOKEN, TASKS
from lmviz.training.description import RunDescription
from lmviz.training.forgetting import Forgetting
from lmviz.training.loss_remark import loss_remark
from lmviz.training.units import ACCURACY, BITS, LABEL_UNITS, UNITS, convert_loss, smooth

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

ROOMY = 560  # pixels at scale 1 from which on the controls have room beside the title
OWN, COMPARABLE, OTHER = 2.4, 1.2, 1.0  # widths of curves
NO_MODEL = "Train a model, or open one: its loss, step by step, is drawn here."
FLOOR = "floor"  # the loss below which no model can go
SCALES = ("linear", "logarithmic")
SMOOTHING = {"raw": 0.0, "smooth": 0.9, "smoother": 0.98}


NOTES = {
    "unigram": "the loss of each token's frequency, whatever stands before it",
    "bigram": "the loss of an n-gram model that sees one token, with Kneser-Ney smoothing",
    "5-gram Kneser-Ney": "the loss of an n-gram model that sees four tokens. Kneser-Ney smoothing takes a "
    "little from each count, and gives it to tokens by how many different ones they have followed",
}
"""What the references mean; models that count are trained in a moment, and a network should be better."""


class LossPanel(Panel):
    """Curves of the run that is shown and of those that are comparable; a click goes to that moment.

    Runs are comparable when they learned from the same text in the same tokens: only then do equal losses
    mean the same. The others are drawn faintly where a person wants them, and everything in bits per
    character then.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._plot = named(LinePlot(possible=LOSS, of_trainings=True), "loss_plot")
        self._unit = picker("", "unit of the loss", UNITS)
        self._scale = picker("", "scale of the loss", SCALES)
        self._smoothing = picker("", "smoothing", SMOOTHING)
        self._smoothing.setCurrentText("smooth")
        self.references: dict[str, float] = {}
        """What simple models reach on this corpus, in nats per token, by name."""
        self._reference_corpus: Callable[[], Corpus | None] = lambda: None  # a reference that keeps none
        self._others = named(QCheckBox("other texts"), "other_texts")
        self._others.setToolTip(
            "Runs on other texts or in other tokens, too, in grey and all in bits per character"
        )
        self._beside_title, self._below_title = _Row(), _Row()
        self._card = self.add_card("Loss", self._beside_title, self._plot)
        self._remark = Remark("loss_remark")
        self._card.layout_below.insertWidget(1, self._remark)
        self._card.layout_below.insertWidget(1, self._below_title)
        self._place_controls(roomy=True)
        self._plot.cursor_moved.connect(lambda step: session.library.choose_step(round(step)))
        for each in (self._unit, self._scale, self._smoothing):
            each.currentIndexChanged.connect(lambda _: self.refresh_soon())
        self._others.toggled.connect(lambda _: self.refresh_soon())
        for growing in (
            session.training.changed,
            session.library.models_changed,
            session.library.step_changed,
            session.series_changed,
        ):
            growing.connect(self.refresh_now_and_then)
        self.follow(session.library.model_changed, session.text.changed, session.work.ready_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return self._plot.points()

    def page_results(self) -> Sequence[Any]:
        curves = tuple(self._plot.curves.values())
        if not curves:
            return ()
        part = Curves(curves=curves, y_name=self._shown_unit, says="losses over the steps of the training")
        return (Look((part,), title=self._title),)

    def recipe(self) -> str:
        drawn = [model for model in self.session.library.models if self._is_drawn(model)]
        folders = [str(model.folder) for model in drawn]
        return curves_recipe(folders) if folders else ""

    def refresh(self) -> None:
        self._offer_units()
        self._ask_for_references()
        self._offer_others()
        self._card.set_title(self._title)
        # A perplexity, e to the loss, is never below 1.
        possible = {ACCURACY: PERCENT, "perplexity": (1.0, math.inf)}
        self._plot.set_possible(possible.get(self._shown_unit, LOSS))
        self._plot.set_logarithmic(self._scale.currentText() == "logarithmic")
        self._draw_runs()
        converted = ((name, self._convert(loss)) for name, loss in self._known_losses.items())
        lowest = 0.0 if self._scale.currentText() == "logarithmic" else -1.0  # no logarithm of a floor of 0
        drawn = [(name, float(loss)) for name, loss in converted if loss is not None and loss > lowest]
        self._plot.set_references(drawn, NOTES)
        self._plot.set_end(self._end())
        self._plot.set_cursor(self.session.library.step if self.session.library.model is not None else None)
        self._remark.say(" ".join(said for said in (self._found_remark(), self._origin()) if said))
        self._say_where_there_are_none()

    def _origin(self) -> str:
        """Whose the curves are where another program has measured them; empty for lmviz's own."""
        model = self.session.library.model
        if model is None or not model.run.recorded_by or not self.session.training.history_of(model).curves:
            return ""
        return f"Recorded by {model.run.recorded_by}, not measured here."

    def _found_remark(self) -> str:
        """What the curves of the shown run tell; empty for one that was counted, not trained."""
        model, training = self.session.library.model, self.session.training
        description = None if model is None else model.description
        family = training.state.family if description is None else description.family
        history = training.state.history if model is None else training.history_of(model)
        losses = self._convert(history.loss.values, description)
        validation = self._convert(history.validation_loss.values, description)
        if family not in FAMILIES or FAMILIES[family].counts or losses is None or validation is None:
            return ""
        held_out, own = history.validation_loss, history.own_loss
        forgetting = Forgetting.between((held_out.steps, held_out.values), (own.steps, own.values))
        if forgetting is not None and self._shown_unit == "nats":
            return forgetting.sentence
        named = {"perplexity": ("perplexity", ""), BITS: ("loss", BITS)}
        name, unit = named.get(self._shown_unit, ("loss", self._title.replace("Loss", "nats")))
        weight = SMOOTHING[self._smoothing.currentText()]
        smoothed = self._convert(smooth(history.loss.values, weight), description)
        drawn = float(smoothed[-1]) if smoothed is not None and len(smoothed) else None
        found = history.loss.steps, losses, history.validation_loss.steps, validation
        return loss_remark(*found, name, unit, drawn)

    def _say_where_there_are_none(self) -> None:
        """Before a training, and of a model of another program, an empty plot would not say so."""
        model, sentence = self.session.library.model, ""
        if not any(len(points) for points in self._plot.points().values()):
            if model is not None and model.run.was_trained_elsewhere:
                sentence = f"{model.name} was trained by another program, and its curves are not known."
            elif model is None and not self._known_losses:
                sentence = NO_MODEL
        self._card.set_placeholder(sentence)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_controls(event.size().width() >= ROOMY * current_theme().scale)

    def _place_controls(self, roomy: bool) -> None:
        """Beside the title, or the pickers below it where they have no room in one line with it."""
        row = self._beside_title if roomy else self._below_title
        self._beside_title.line.addWidget(self._others)
        for each in (self._unit, self._scale, self._smoothing):
            row.line.addWidget(each)
        self._below_title.setVisible(not roomy)

    def _convert(
        self, loss: np.ndarray | float, description: RunDescription | None = None
    ) -> np.ndarray | None:
        """A loss in the chosen unit; None if that needs the run's token length and it was not recorded."""
        if self._shown_unit == ACCURACY:
            return None
        corpus, characters = self.session.text.corpus, None
        if description is None or (corpus is not None and description.fingerprint == corpus.fingerprint):
            characters = corpus.characters_per_token if corpus is not None else None
        else:
            characters = description.characters_per_token
        unit = self._shown_unit
        if characters is None and unit == BITS:
            return None
        return convert_loss(loss, unit, characters or 1.0)

    @property
    def _task(self) -> str:
        """What the run that is shown was trained for; without one, what the open text asks."""
        model = self.session.library.model
        return self.session.plan.task if model is None else model.description.task

    @property
    def _title(self) -> str:
        unit, target = self._shown_unit, TASKS[self._task].target
        if target == "token" and self.session.reading.noun == "character":
            target = "character"
        if unit == ACCURACY:
            return "Accuracy, % of the validation text"
        return f"Loss per {target}" if unit == "nats" else f"Loss, {unit}"

    @property
    def _known_losses(self) -> dict[str, float]:
        """What simple models reach on the text of the run that is shown, and its floor, in nats, by name."""
        corpus, model = self.session.text.corpus, self.session.library.model
        if corpus is None or (model is not None and model.description.fingerprint != corpus.fingerprint):
            return {}
        known = dict(self.references) if corpus is self._reference_corpus() else {}
        return known if corpus.floor is None else known | {FLOOR: corpus.floor}

    def _offer_units(self) -> None:
        """Labels have accuracies and no perplexity; texts the reverse."""
        units = LABEL_UNITS if TASKS[self._task].has_labels else UNITS
        set_choices(self._unit, units)

    @property
    def _shown_unit(self) -> str:
        """The chosen unit; beside other texts only bits per character mean the same."""
        return BITS if self._shows_others else self._unit.currentText()

    @property
    def _shows_others(self) -> bool:
        return self._others.isChecked() and not self._others.isHidden()

    def _offer_others(self) -> None:
        """Offer to draw runs on other texts where some are open."""
        are_open = any(not self._is_comparable(model) for model in self.session.library.models)
        self._others.setVisible(are_open)
        self._unit.setEnabled(not self._shows_others)

    def _is_comparable(self, model: OpenedModel) -> bool:
        """Whether a run learned from the text and in the tokens of the one that is shown."""
        shown = self.session.library.model
        return shown is None or model.description.fingerprint == shown.description.fingerprint

    def _is_drawn(self, model: OpenedModel) -> bool:
        return self._shows_others or self._is_comparable(model)

    def _end(self) -> int | None:
        """How far the axis reaches: to the end of the shown run's training, while it lasts and after."""
        model, training = self.session.library.model, self.session.training.shown
        if training.progress is not None:
            return training.progress.steps
        if model is None:
            return None
        followed = self.session.followed
        planned = max(model.description.training.get("steps", 0), 0 if followed is None else followed.planned)
        return max(1, model.snapshots[-1], planned)

    def _draw_runs(self) -> None:
        training, library = self.session.training, self.session.library
        curves: list[PlotCurve] = []
        if library.model is None and training.state.folder is not None:
            curves += self._own_curves(training.state.history, None)
        elif library.model is not None:
            curves += self._own_curves(training.history_of(library.model), library.model.description)
        for model in library.models:
            if model != library.model and self._is_drawn(model):
                curves += self._other_curve(model)
        self._plot.set_curves(curves)

    def _own_curves(self, history: History, description: RunDescription | None) -> list[PlotCurve]:
        """Two strong curves for the run that is shown."""
        if self._shown_unit == ACCURACY:
            return _accuracy_curve("validation", history, "validation", OWN)
        weight = SMOOTHING[self._smoothing.currentText()]
        losses = self._convert(smooth(history.loss.values, weight), description)
        measured = self._convert(history.validation_loss.values, description)
        if losses is None or measured is None:
            return []
        model = self.session.library.model
        names = {} if model is None else model.run.curve_names
        training, validation = names.get("loss", "training"), names.get("validation_loss", "validation")
        return [
            PlotCurve(training, history.loss.steps, losses, "training", OWN),
            PlotCurve(validation, history.validation_loss.steps, measured, "validation", OWN),
            *self._curves_beside(history, description),
        ]

    def _curves_beside(self, history: History, description: RunDescription | None) -> list[PlotCurve]:
        """Those of texts that show what is forgotten, where an opened model is trained further.

        They are other texts than that of the run, so they are drawn in nats alone.
        """
        if self._shown_unit != "nats":
            return []
        named = {"its own, written before": history.own_loss, "second text": history.second_loss}
        roles = dict(zip(named, ("query", "value"), strict=True))
        return [
            PlotCurve(name, curve.steps, curve.values, roles[name], OWN)
            for name, curve in named.items()
            if len(curve)
        ]

    def _other_curve(self, model: OpenedModel) -> list[PlotCurve]:
        """A thin curve for another run: of its validation, where that was measured."""
        history = self.session.training.history_of(model)
        if self._shown_unit == ACCURACY:
            return _accuracy_curve(self._name_of(model), history, "muted_text", COMPARABLE)
        weight = SMOOTHING[self._smoothing.currentText()]
        curve = history.validation_loss if len(history.validation_loss) else history.loss
        values = curve.values if curve is history.validation_loss else smooth(curve.values, weight)
        converted = self._convert(values, model.description)
        if converted is None:
            return []
        comparable = self._is_comparable(model)
        name, role = self._name_of(model), "muted_text" if comparable else "faint_text"
        width = COMPARABLE if comparable else OTHER
        return [PlotCurve(name, curve.steps, converted, role, width, dashed=not comparable)]

    def _name_of(self, model: OpenedModel) -> str:
        """A name that no other open run has."""
        alike = sum(other.name == model.name for other in self.session.library.models)
        return model.name if alike == 1 else f"{model.folder.parent.name}/{model.folder.name}"

    def _ask_for_references(self) -> None:
        """Have simple models counted on this corpus, once, when there is time for it."""
        corpus = self.session.text.corpus
        if corpus is None or corpus is self._reference_corpus() or not self.session.work.is_ready:
            return
        self._reference_corpus, self.references = weakref.ref(corpus), {}
        if corpus.task != NEXT_TOKEN:
            return  # n-grams give no labels

        def work() -> Generator[float, None, dict[str, float]]:
            from lmviz.training.references import reference_losses

            yield 0.0
            start = corpus.tokenizer.start_id if corpus.marks_boundaries else None
            size = corpus.tokenizer.vocabulary_size
            return reference_losses(corpus.training, corpus.validation, size, ignored_target=start)

        def take(losses: dict[str, float]) -> None:
            if corpus is self._reference_corpus():
                self.references = losses
                self.refresh_soon()

        self.start_job("Counting n-grams to compare with", lambda report: work(), take)


class _Row(QWidget):
    """An empty row for controls."""

    def __init__(self) -> None:
        super().__init__()
        self.line = row(on=self, gap=4)
        self.line.setAlignment(Qt.AlignmentFlag.AlignLeft)


def _accuracy_curve(name: str, history: History, role: str, width: float) -> list[PlotCurve]:
    """The share of validation labels that a run gets right, in per cent, where it was measured."""
    curve = history.validation_accuracy
    return [PlotCurve(name, curve.steps, 100 * curve.values, role, width)] if len(curve) else []
