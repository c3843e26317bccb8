"""How large a gradient still is, over the steps back, and what larger recurrent weights would make of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.building import column, named
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.looks.curve import PlotCurve
from lmviz.looks.ink import Ink

if TYPE_CHECKING:
    from lmviz.inspection.reach import Reach

TWENTIETHS = 60  # of the slider: U from 0 to 3 times as large
SCALED = "with U scaled"


class ReachCurves(QWidget):
    """`ReachCurves()`: `set_reaches({name: (reach, colour)})`, the first of them the shown model's.

    `set_scaled(reach, factor, question)` draws the shown model once more, as it would be with U times a
    factor, beside reaches that are of the same question, and not beside others.
    A slider sets `factor`; `offer_factor` shows it where there are recurrent weights.
    Signal: `factor_changed()`.
    """

    factor_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._said = MutedLine()
        self.plot = named(LinePlot("steps back"), description="how far the gradient reaches")
        """How large the gradient is, over the steps back."""
        self.plot.set_logarithmic(True)
        self._slider = SliderRow("scale U", "factor of the recurrent weights")
        self._slider.set_range(TWENTIETHS, 20)
        self._reaches: dict[str, tuple[Reach, Ink]] = {}
        self._question: object = None  # of what the reaches are
        self._scaled: tuple[float, Reach, object] | None = None
        column(self._said, (self.plot, 1), self._slider, on=self)
        self._slider.value_changed.connect(lambda _: self._show_factor())
        self._slider.value_changed.connect(lambda _: self.factor_changed.emit())
        self._show_factor()

    @property
    def said(self) -> str:
        """The line above the plot."""
        return self._said.text

    @property
    def factor(self) -> float:
        """By what the recurrent weights are to be multiplied."""
        return self._slider.value / 20

    def offer_factor(self, offered: bool) -> None:
        """Show the slider or not."""
        self._slider.setVisible(offered)

    def set_reaches(self, reaches: Mapping[str, tuple[Reach, Ink]], question: object = None) -> None:
        """Draw how far the gradient of each model reaches."""
        self._reaches, self._question = dict(reaches), question
        self._draw()

    def set_scaled(self, reach: Reach | None, factor: float = 1.0, question: object = None) -> None:
        """Draw how far it reaches with the recurrent weights times a factor; None takes the curve away."""
        self._scaled = None if reach is None else (factor, reach, question)
        self._draw()

    def _draw(self) -> None:
        curves: dict[str, tuple[Reach, Ink, bool]] = {
            name: (reach, color, False) for name, (reach, color) in self._reaches.items()
        }
        changed = ""
        if self._scaled is not None and self._scaled[2] == self._question:
            factor, reach, _ = self._scaled
            curves[SCALED] = (reach, "key", True)
            changed = f" · U × {factor:.2f}: ×{number(reach.factor, 2)} a step"
        self.plot.set_curves(
            [
                PlotCurve(name, np.arange(reach.last + 1), _back(reach), color, dashed=dashed)
                for name, (reach, color, dashed) in curves.items()
            ]
        )
        shown = next((reach for reach, _ in self._reaches.values()), None)
        self._said.set_text("" if shown is None else f"Size over steps back{_left(shown)}{changed}")

    def _show_factor(self) -> None:
        self._slider.show_value(self._slider.value, f"× {self.factor:.2f}")


def _back(reach: Reach) -> np.ndarray:
    """Its relative size (step back,), from the last position to the first."""
    return reach.relative[: reach.last + 1][::-1]


def _left(reach: Reach) -> str:
    """What is left of a gradient at the first position that it reaches, and how many steps back that is."""
    reached = np.flatnonzero(reach.norms)
    if len(reached) < 2:
        return ""
    first = int(reached[0])
    return f": ×{number(float(reach.relative[first]), 3)} over {reach.last - first}"
