"""Is the training healthy? How far each layer moves for its size, the gradient's norm, the learning rate.

While nothing is trained, the size of each layer's weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.session import Session
from lmviz.app.session.training_state import TrainingState
from lmviz.app.widgets.base.building import column, named, sheet
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.figures import number, plain
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.plots.sparkline import Sparkline
from lmviz.families import FAMILIES
from lmviz.inspection.names import title_of
from lmviz.inspection.recipes.run import curves_recipe

if TYPE_CHECKING:
    from lmviz.models.model import Model

WEIGHTS = Key("weight sizes")
UNTRAINED = "Train a model, or open one: how far each update moves its layers is shown here."
COUNTED = "An n-gram model is counted: there is no gradient and no learning rate to watch."
CURVES = {
    "gradient_norm": "The length of the gradient before it is clipped.",
    "learning_rate": "The learning rate of the last update, set by the schedule or by you. It can be changed "
    "while training, in the form on the left.",
}


UPDATE = (
    "How far the last update moved the weights of a layer, relative to their size: root mean squares. Often "
    "about 0.001; much more means that the rate is too high, much less that the layer hardly learns."
)


class HealthPanel(Panel):
    """Bars of update over weight for each layer, a rule of thumb being 1e-3; two curves below.

    Until an update has been measured, bars of the weights themselves, of the shown model.
    """

    gives_way = 66

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._bars = BarsView()
        self._sentence = named(EmptyText(), "health_sentence")
        self._curves = {name: (Label(), Sparkline()) for name in CURVES}
        self._drawn: dict[str, float] = {}
        self._measured, self._step = "", 0  # what the bars are, updates or weights, and of which step
        self._shown: TrainingState = session.training.shown  # whose curves are drawn
        body = column(self._bars, self._sentence)
        self._card = self.add_card("Health", "", body)
        self._card.layout_below.addWidget(sheet(self._lay_out_curves()))
        session.training.changed.connect(self.refresh_now_and_then)
        self.follow(session.library.model_changed)
        session.library.step_changed.connect(self.refresh_now_and_then)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The bars by layer, their step, and each curve, (point, 2): step and value."""
        arrays = {f"{self._measured}/{layer}": np.array([size]) for layer, size in self._drawn.items()}
        if arrays:
            arrays[f"step of {self._measured}"] = np.array([self._step])
        for name, curve in self._shown.history.curves.items():
            if name in CURVES:
                arrays[name] = np.stack([curve.steps, curve.values], axis=1)
        return arrays

    def recipe(self) -> str:
        folder = self._shown.folder
        return curves_recipe([str(folder)], tuple(CURVES)) if folder is not None else ""

    def _lay_out_curves(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        for row, (name, (label, curve)) in enumerate(self._curves.items()):
            label.setProperty("role", "muted")
            label.setObjectName(f"{name}_label")
            label.setToolTip(paragraph(CURVES[name]))
            curve.setAccessibleName(name.replace("_", " "))
            curve.setToolTip(paragraph(CURVES[name]))
            grid.addWidget(label, row, 0)
            grid.addWidget(curve, row, 1, Qt.AlignmentFlag.AlignRight)
        return grid

    def _show_curves(self, shown: TrainingState) -> None:
        self._shown, history = shown, shown.history
        for name, (label, curve) in self._curves.items():
            values = getattr(history, name).values
            has_any = len(values) > 0
            label.setText(f"{name.replace('_', ' ')} {_figure(values[-1])}" if has_any else "")
            label.setVisible(has_any)
            curve.setVisible(has_any)
            curve.set_values(values)

    def refresh(self) -> None:
        shown = self.session.training.shown
        history = shown.history
        ratios, step = history.update_ratios, history.ratios_step
        if ratios:
            self.silence(WEIGHTS)
            said = f"update / weight at step {step:,}, by layer"
            self._draw_bars("update_over_weight", step, dict(ratios), said)
            self._show_curves(shown)
        else:
            self._weigh(shown)

    def handle_failure(self, key: str) -> None:
        if key == WEIGHTS:
            self._draw_bars("weights", 0, {}, "")

    def _weigh(self, shown: TrainingState) -> None:
        """Have the weights of the shown model measured, where it has any."""
        moment, model = self.session.library.moment, self.session.library.model
        if moment is None or model is None or is_counted(model.family):
            self.silence(WEIGHTS)
            self._draw_bars("weights", 0, {}, "")
            self._sentence.set_text(UNTRAINED if model is None else COUNTED)
            self._show_curves(shown)
        else:

            def work(reader: Model) -> dict[str, float]:
                from lmviz.training.weight_sizes import weight_sizes

                return weight_sizes(reader)

            step = moment[1]
            said = f"{f'weights {model.when(step)}'.strip()}, root mean square"

            def take(sizes: dict[str, float]) -> None:
                self._draw_bars("weights", step, sizes, said)
                self._show_curves(shown)

            question = Question(WEIGHTS, moment, work)
            if self.must_ask(question):
                self.ask(question, take)
            elif self.has_drawn(question):
                self._show_curves(shown)

    def _draw_bars(self, measured: str, step: int, sizes: dict[str, float], said: str) -> None:
        """Draw one bar a layer; without any there is a sentence in their place."""
        self._card.set_aside(said, UPDATE if measured == "update_over_weight" else "")
        self._bars.setVisible(bool(sizes))
        self._sentence.setVisible(not sizes)
        self._sentence.set_text("")
        self._step = step
        self._bars.setAccessibleName(said)
        if (measured, sizes) == (self._measured, self._drawn):
            return
        self._measured, self._drawn = measured, sizes
        values = list(sizes.values())
        written = [plain(value, 2) if measured == "update_over_weight" else number(value) for value in values]
        self._bars.set_bars([title_of(layer) for layer in sizes], values, texts=written)


def is_counted(family: str) -> bool:
    """Whether a family learns by counting, without gradients."""
    return family in FAMILIES and FAMILIES[family].counts


def _figure(value: float) -> str:
    """Two figures that tell small numbers apart: "1.24", "0.0018", "3e−5"."""
    return number(value, 2) if value >= 0.1 else plain(value, 2)
