"""The loss over the steps: training and validation, beside simple models and other runs."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.session.training_state import History
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.training.units import BITS, UNITS, convert_loss, smooth

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.session import Session
    from lmviz.text.corpus import Corpus
    from lmviz.training.description import RunDescription

ROOMY = 560  # pixels at scale 1 from which on the controls have room beside the title
LEGEND_LINE_FOR = 140  # pixels at scale 1 of the panel's height for each line of the legend
SCALES = ("linear", "logarithmic")
SMOOTHING = {"raw": 0.0, "smooth": 0.9, "smoother": 0.98}


class LossPanel(Panel):
    """Curves of the run that is shown and of every other that is open; a click goes to that moment."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("loss_view")
        self._plot = LinePlot()
        self._plot.setObjectName("loss_plot")
        self._unit = _picker("unit of the loss", UNITS)
        self._scale = _picker("scale of the loss", SCALES)
        self._smoothing = _picker("smoothing", SMOOTHING)
        self._smoothing.setCurrentText("smooth")
        self._references: dict[str, float] = {}
        self._reference_corpus: Corpus | None = None
        self._histories: dict[Path, History] = {}
        self._beside_title, self._below_title = _row(), _row()
        self._card = Card("Loss", self._beside_title, self._plot)
        self._card.layout_below.insertWidget(1, self._below_title)
        self._card.layout_below.insertWidget(2, self._plot.legend)
        self._place_controls(roomy=True)
        self.column.addWidget(self._card)
        self._plot.cursor_moved.connect(lambda step: session.library.choose_step(round(step)))
        for picker in (self._unit, self._scale, self._smoothing):
            picker.currentIndexChanged.connect(lambda _: self.refresh_soon())
        session.library.models_changed.connect(self._forget_closed)
        for growing in (
            session.training.changed,
            session.library.models_changed,
            session.library.step_changed,
        ):
            growing.connect(self.refresh_now_and_then)
        self.follow(session.library.model_changed, session.text.changed, session.work.ready_changed)

    @property
    def references(self) -> dict[str, float]:
        """What simple models reach on this corpus, in nats per token, by name."""
        return self._references

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return self._plot.points()

    def recipe(self) -> str:
        from lmviz.inspection.recipes.run import curves_recipe

        folders = [str(model.folder) for model in self.session.library.models]
        return curves_recipe(folders) if folders else ""

    def refresh(self) -> None:
        self._ask_for_references()
        unit = self._unit.currentText()
        token = "character" if self._kind == "characters" else "token"
        self._card.set_title(f"Loss per {token}" if unit == "nats" else f"Loss, {unit}")
        self._plot.set_logarithmic(self._scale.currentText() == "logarithmic")
        self._draw_runs()
        references = self._references.items() if self._references_apply else ()
        self._plot.set_references([(name, float(self._convert(loss))) for name, loss in references])
        progress = self.session.training.state.progress
        self._plot.set_end(progress.steps if self.session.training.state.is_active and progress else None)
        self._plot.set_cursor(self.session.library.step if self.session.library.model is not None else None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        scale = current_theme().scale
        self._place_controls(event.size().width() >= ROOMY * scale)
        self._plot.legend.set_most_lines(max(1, int(event.size().height() / scale) // LEGEND_LINE_FOR))

    def _place_controls(self, roomy: bool) -> None:
        """Beside the title, or below it where both have no room in one line."""
        row = self._beside_title if roomy else self._below_title
        for picker in (self._unit, self._scale, self._smoothing):
            row.layout().addWidget(picker)
        self._beside_title.setVisible(roomy)
        self._below_title.setVisible(not roomy)

    @property
    def _kind(self) -> str:
        tokenizer = self.session.reading.tokenizer
        return tokenizer.kind if tokenizer is not None else ""

    def _convert(self, loss: object, description: RunDescription | None = None) -> object | None:
        """A loss in the chosen unit; None where that takes a length of tokens which nobody wrote down."""
        corpus, characters = self.session.text.corpus, None
        if description is None or (corpus is not None and description.fingerprint == corpus.fingerprint):
            characters = corpus.characters_per_token if corpus is not None else None
        else:
            characters = description.characters_per_token
        unit = self._unit.currentText()
        if characters is None and unit == BITS:
            return None
        return convert_loss(loss, unit, characters or 1.0)

    @property
    def _references_apply(self) -> bool:
        """Whether the run that is shown was measured on the very text that the references are of."""
        corpus, model = self.session.text.corpus, self.session.library.model
        if corpus is None or corpus is not self._reference_corpus:
            return False
        return model is None or model.description.fingerprint == corpus.fingerprint

    def _draw_runs(self) -> None:
        training = self.session.training.state
        shown = set()
        for model in self.session.library.models:
            current = model == self.session.library.model
            history = training.history if model.folder == training.folder else self._history_of(model)
            shown |= self._draw_run(model, history, current)
        if training.folder is not None and not any(
            m.folder == training.folder for m in self.session.library.models
        ):
            shown |= self._draw_run(None, training.history, True)
        for name in set(self._plot.curve_names()) - shown:
            self._plot.remove_curve(name)

    def _draw_run(self, model: OpenedModel | None, history: History, current: bool) -> set[str]:
        """Two strong curves for the run that is shown; one thin validation curve for each other."""
        weight = SMOOTHING[self._smoothing.currentText()]
        loss, validation = history.loss, history.validation_loss
        description = model.description if model is not None else None
        losses = self._convert(smooth(loss.values, weight), description)
        measured = self._convert(validation.values, description)
        if losses is None or measured is None:
            return set()
        if current:
            self._plot.set_curve("training", loss.steps, losses, role="training", width=1.6)
            self._plot.set_curve("validation", validation.steps, measured, role="validation")
            return {"training", "validation"}
        color = current_theme().series_color(model.color_index)
        steps, values = (validation.steps, measured) if len(validation) else (loss.steps, losses)
        name = self._name_of(model)
        self._plot.set_curve(name, steps, values, role=color, width=1.2, dashed=True)
        return {name}

    def _name_of(self, model: OpenedModel) -> str:
        """What tells a run from all others that are open."""
        alike = sum(other.name == model.name for other in self.session.library.models)
        return model.name if alike == 1 else f"{model.folder.parent.name}/{model.name}"

    def _history_of(self, model: OpenedModel) -> History:
        if model.folder not in self._histories:
            self._histories[model.folder] = History.from_metrics(model.run.metrics())
        return self._histories[model.folder]

    def _forget_closed(self) -> None:
        """A run that grows is read again when it is looked at next."""
        open_folders = {model.folder for model in self.session.library.models}
        active = self.session.training.state.folder
        self._histories = {
            folder: history
            for folder, history in self._histories.items()
            if folder in open_folders and folder != active
        }

    def _ask_for_references(self) -> None:
        """Have simple models counted on this corpus, once, when there is time for it."""
        corpus = self.session.text.corpus
        if corpus is None or corpus is self._reference_corpus or not self.session.work.is_ready:
            return
        self._reference_corpus, self._references = corpus, {}

        def work() -> Generator[float, None, dict[str, float]]:
            from lmviz.training.references import reference_losses

            yield 0.0
            start = corpus.tokenizer.start_id if corpus.marks_boundaries else None
            size = corpus.tokenizer.vocabulary_size
            return reference_losses(corpus.training, corpus.validation, size, ignored_target=start)

        def take(losses: dict[str, float]) -> None:
            if corpus is self._reference_corpus:
                self._references = losses
                self.refresh_soon()

        self.start_job("Counting n-grams to compare with", lambda report: work(), take)


def _row() -> QWidget:
    """An empty row for controls."""
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(4)
    layout.setAlignment(Qt.AlignmentFlag.AlignLeft)
    return row


def _picker(name: str, choices: object) -> QComboBox:
    picker = QComboBox()
    picker.addItems(list(choices))
    picker.setAccessibleName(name)
    return picker
