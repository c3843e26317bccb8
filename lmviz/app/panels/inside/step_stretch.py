"""How far each step of a recurrence can stretch a gradient: the spectral norm of its Jacobian."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.building import column
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.plots.position_curve import PositionCurve


class StepStretch(QWidget):
    """`StepStretch()`: `set_norms(norms, tokens)`, (position,), hidden where there are none; `set_position`.

    The dashed line of `curve` is at 1, where a step neither stretches nor shrinks.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.norms: np.ndarray | None = None  # what is drawn
        self._tokens: tuple[str, ...] = ()
        self._title, self.curve = MutedLine(), PositionCurve()
        self.curve.setAccessibleName("how far each step can stretch a gradient")  # the curve over the text
        self.curve.set_threshold(1.0)
        column(self._title, (self.curve, 1), on=self)
        self.hide()

    @property
    def title(self) -> str:
        """What is said of the position that is marked."""
        return self._title.text

    def set_norms(self, norms: np.ndarray | None, tokens: Sequence[str] = ()) -> None:
        """Show the norms of all steps; None where there is no recurrence."""
        self.norms, self._tokens = norms, tuple(tokens)
        self.curve.set_values([] if norms is None else norms, tokens)
        self.setVisible(norms is not None)

    def set_position(self, position: int) -> None:
        """Mark the step to a position, and say its norm."""
        self.curve.set_current(position)
        if self.norms is None or not 0 <= position < len(self.norms):
            self._title.set_text("")
            return
        most, mean = (number(float(value), 2) for value in (self.norms[position], self.norms.mean()))
        self._title.set_text(f"Stretch at most ×{most} here, ×{mean} on average")
