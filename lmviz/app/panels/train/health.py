"""Is the training healthy? How far each layer moves for its size, the gradient's norm, the learning rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel

from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.plots.sparkline import Sparkline

if TYPE_CHECKING:
    from lmviz.app.session.session import Session
    from lmviz.app.session.training_state import History


CURVES = {
    "gradient_norm": "The length of the gradient before it is clipped.",
    "learning_rate": "What the schedule, or you, let the last update have. It can be changed while training, "
    "in the form on the left.",
}


class HealthPanel(Panel):
    """Bars of update over weight for each layer, a rule of thumb being 1e-3; two curves below."""

    gives_way = 66

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("health_view")
        self._bars = BarsView()
        self._bars.setAccessibleName("update over weight, by layer")
        self._curves = {name: (QLabel(), Sparkline()) for name in CURVES}
        self._drawn: dict[str, float] = {}
        self._card = Card("Health", "", self._bars)
        self._card.setToolTip("How far the last update moved each layer's weights, relative to their size.")
        self._card.layout_below.addLayout(self._lay_out_curves())
        self.column.addWidget(self._card)
        session.training.changed.connect(self.refresh_now_and_then)
        self.follow(session.library.model_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The ratios (layer,) under the layers' names, and each curve, (point, 2): step and value."""
        history = self.session.training.shown.history
        arrays = {f"update_over_weight/{layer}": np.array([ratio]) for layer, ratio in self._drawn.items()}
        for name in CURVES:
            curve = getattr(history, name)
            if len(curve):
                arrays[name] = np.stack([curve.steps, curve.values], axis=1)
        return arrays

    def recipe(self) -> str:
        from lmviz.inspection.recipes.run import curves_recipe

        folder = self.session.training.shown.folder
        return curves_recipe([str(folder)], tuple(CURVES)) if folder is not None else ""

    def _lay_out_curves(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        for row, (name, (label, curve)) in enumerate(self._curves.items()):
            label.setProperty("role", "muted")
            label.setObjectName(f"{name}_label")
            label.setToolTip(CURVES[name])
            curve.setAccessibleName(name.replace("_", " "))
            curve.setToolTip(CURVES[name])
            grid.addWidget(label, row, 0)
            grid.addWidget(curve, row, 1, Qt.AlignmentFlag.AlignRight)
        return grid

    def _show_curves(self, history: History) -> None:
        for name, (label, curve) in self._curves.items():
            values = getattr(history, name).values
            has_any = bool(len(values)) and bool(np.any(values))  # counting has neither gradient nor rate
            label.setText(f"{name.replace('_', ' ')} {_figure(values[-1])}" if has_any else "")
            label.setVisible(has_any)
            curve.setVisible(has_any)
            curve.set_values(values)

    def refresh(self) -> None:
        history = self.session.training.shown.history
        norms, ratios = history.gradient_norm.values, dict(history.update_ratios)
        self._show_curves(history)
        if not ratios:
            self._drawn = {}
            self._bars.set_bars([], [])
            self._card.set_aside(
                "more while it trains" if len(norms) else "measured while a neural model trains"
            )
            return
        self._card.set_aside("update / weight, by layer")
        if ratios == self._drawn:
            return
        self._drawn = ratios
        values = list(ratios.values())
        self._bars.set_bars(list(ratios), values, texts=[f"{value:.1e}" for value in values])


def _figure(value: float) -> str:
    """Two figures that tell small numbers apart: "1.24", "0.0018", "3.0e-05"."""
    return number(value, 2) if value >= 0.1 else f"{value:.2g}"
