"""The loss over the steps: training and validation, beside simple models and other runs."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.theme import current_theme
from lmviz.app.training_state import History
from lmviz.app.widgets.card import Card
from lmviz.app.widgets.line_plot import LinePlot
from lmviz.training.units import UNITS, convert_loss, smooth

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from lmviz.app.opened_models import OpenedModel
    from lmviz.app.session import Session
    from lmviz.text.corpus import Corpus

ROOMY = 480  # pixels at scale 1 from which on the legend has room beside the controls
SHOWN_OF_UNIT = 7  # characters; the title says it in full
SCALES = ("linear", "logarithmic")
SMOOTHING = {"as measured": 0.0, "smooth": 0.9, "smoother": 0.98}


class LossPanel(Panel):
    """Curves of the run that is shown and of every other that is open; a click goes to that moment."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("loss_view")
        self._plot = LinePlot()
        self._plot.setObjectName("loss_plot")
        self._unit = _picker("unit of the loss", UNITS)
        self._unit.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._unit.setMinimumContentsLength(SHOWN_OF_UNIT)
        self._scale = _picker("scale of the loss", SCALES)
        self._smoothing = _picker("smoothing", SMOOTHING)
        self._smoothing.setCurrentText("smooth")
        self._references: dict[str, float] = {}
        self._reference_corpus: Corpus | None = None
        self._histories: dict[Path, History] = {}
        self._card = Card("Loss", self._head(), self._plot)
        self.column.addWidget(self._card)
        self._plot.cursor_moved.connect(lambda step: session.choose_step(round(step)))
        for picker in (self._unit, self._scale, self._smoothing):
            picker.currentIndexChanged.connect(lambda _: self.refresh_soon())
        session.models_changed.connect(self._forget_closed)
        self.follow(
            session.training_changed,
            session.models_changed,
            session.model_changed,
            session.step_changed,
            session.corpus_changed,
            session.ready_changed,
        )

    @property
    def references(self) -> dict[str, float]:
        """What simple models reach on this corpus, in nats per token, by name."""
        return self._references

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return self._plot.points()

    def refresh(self) -> None:
        self._ask_for_references()
        unit = self._unit.currentText()
        token = "character" if self._kind == "characters" else "token"
        self._card.set_title(f"Loss per {token}" if unit == "nats" else f"Loss, {unit}")
        self._plot.set_logarithmic(self._scale.currentText() == "logarithmic")
        self._draw_runs()
        references = self._references.items() if self._reference_corpus is self.session.corpus else ()
        self._plot.set_references([(name, float(self._convert(loss))) for name, loss in references])
        progress = self.session.training.progress
        self._plot.set_end(progress.steps if self.session.training.is_active and progress else None)
        self._plot.set_cursor(self.session.step if self.session.model is not None else None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._plot.legend.setVisible(event.size().width() >= ROOMY * current_theme().scale)

    def _head(self) -> QWidget:
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for widget in (self._plot.legend, self._unit, self._scale, self._smoothing):
            row.addWidget(widget)
        return head

    @property
    def _kind(self) -> str:
        tokenizer = self.session.tokenizer
        return tokenizer.kind if tokenizer is not None else ""

    def _convert(self, loss: object) -> object:
        corpus = self.session.corpus
        characters = corpus.characters_per_token if corpus is not None else 1.0
        return convert_loss(loss, self._unit.currentText(), characters)

    def _draw_runs(self) -> None:
        training = self.session.training
        shown = set()
        for model in self.session.models:
            current = model == self.session.model
            history = training.history if model.folder == training.folder else self._history_of(model)
            shown |= self._draw_run(model, history, current)
        if training.folder is not None and not any(m.folder == training.folder for m in self.session.models):
            shown |= self._draw_run(None, training.history, True)
        for name in set(self._plot.curve_names()) - shown:
            self._plot.remove_curve(name)

    def _draw_run(self, model: OpenedModel | None, history: History, current: bool) -> set[str]:
        """Two strong curves for the run that is shown; one thin validation curve for each other."""
        weight = SMOOTHING[self._smoothing.currentText()]
        validation = history.validation_loss
        if not current and model is not None:
            color = current_theme().series[model.color_index % len(current_theme().series)]
            curve = validation if len(validation) else history.loss
            values = self._convert(smooth(curve.values, 0.0 if len(validation) else weight))
            self._plot.set_curve(model.name, curve.steps, values, role=color, width=1.2)
            return {model.name}
        losses = self._convert(smooth(history.loss.values, weight))
        self._plot.set_curve("training", history.loss.steps, losses, role="training", width=1.6)
        self._plot.set_curve(
            "validation", validation.steps, self._convert(validation.values), role="validation"
        )
        return {"training", "validation"}

    def _history_of(self, model: OpenedModel) -> History:
        if model.folder not in self._histories:
            self._histories[model.folder] = History.from_metrics(model.run.metrics())
        return self._histories[model.folder]

    def _forget_closed(self) -> None:
        """A run that grows is read again when it is looked at next."""
        open_folders = {model.folder for model in self.session.models}
        active = self.session.training.folder
        self._histories = {
            folder: history
            for folder, history in self._histories.items()
            if folder in open_folders and folder != active
        }

    def _ask_for_references(self) -> None:
        """Have simple models counted on this corpus, once, when there is time for it."""
        corpus = self.session.corpus
        if corpus is None or corpus is self._reference_corpus or not self.session.is_ready:
            return
        self._reference_corpus, self._references = corpus, {}

        def work() -> Generator[float, None, dict[str, float]]:
            from lmviz.training.references import reference_perplexities

            yield 0.0
            start = corpus.tokenizer.start_id if corpus.marks_boundaries else None
            size = corpus.tokenizer.vocabulary_size
            return reference_perplexities(corpus.training, corpus.validation, size, ignored_target=start)

        def take(losses: dict[str, float]) -> None:
            if corpus is self._reference_corpus:
                self._references = losses
                self.refresh_soon()

        self.session.start_job("Counting n-grams to compare with", work, take)


def _picker(name: str, choices: object) -> QComboBox:
    picker = QComboBox()
    picker.addItems(list(choices))
    picker.setAccessibleName(name)
    return picker
