"""Is the training healthy? How far each layer moves in relation to its size, and the gradient's norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.app.panels.panel import Panel
from lmviz.app.sparkline import Sparkline
from lmviz.app.widgets.bars import BarsView
from lmviz.app.widgets.card import Card
from lmviz.app.widgets.figures import number

if TYPE_CHECKING:
    from lmviz.app.session import Session


class HealthPanel(Panel):
    """Bars of update over weight for each layer, a rule of thumb being 1e-3; the gradient norm beside."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("health_view")
        self._bars = BarsView()
        self._bars.setAccessibleName("update over weight, by layer")
        self._norm = Sparkline()
        self._norm.setAccessibleName("gradient norm")
        self._drawn: dict[str, float] = {}
        self._card = Card("Health", "", self._bars)
        self._card.setToolTip("How far the last update moved each layer's weights, relative to their size.")
        self._card.layout_below.addWidget(self._norm)
        self.column.addWidget(self._card)
        self.follow(session.training_changed)

    def refresh(self) -> None:
        history = self.session.training.history
        norms, ratios = history.gradient_norm.values, dict(history.update_ratios)
        self._norm.set_values(norms)
        self._norm.setVisible(len(norms) > 0)
        if not ratios:
            self._drawn = {}
            self._bars.set_bars([], [])
            waits = "measured while a neural model trains"
            self._card.set_aside(f"gradient norm {number(norms[-1])}" if len(norms) else waits)
            return
        self._card.set_aside(f"update / weight · gradient norm {number(norms[-1], 2)}")
        if ratios == self._drawn:
            return
        self._drawn = ratios
        values = list(ratios.values())
        self._bars.set_bars(list(ratios), values, texts=[f"{value:.1e}" for value in values])
