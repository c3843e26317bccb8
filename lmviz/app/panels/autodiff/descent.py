"""One step of gradient descent: what it does to the loss, beside what the gradient alone predicts."""

from __future__ import annotations

from functools import partial

import numpy as np
from PySide6.QtWidgets import QPushButton

from lmviz.app.panels.autodiff.network_panel import NetworkPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, row
from lmviz.app.widgets.base.figures import number, plain
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.kit.axes import ANYTHING
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.autodiff.learning import StepCurve, step_curve
from lmviz.looks.curve import PlotCurve

RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
NOTHING = "Nothing is learned here: write `parameter` before one of the numbers."


class DescentPanel(NetworkPanel):
    """The rate, the loss before and after, the curve over rates, and the step itself."""

    gives_way = 60

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._curve: StepCurve | None = None
        self._rate = SliderRow("rate η", "rate of gradient descent")
        self._rate.slider.setObjectName("rate_slider")
        self._losses = Label(name="descent_losses", role="title")
        self._line = Label(name="descent_line", role="muted", wraps=True)
        self._take = named(QPushButton("step"), "take_step_button", role="primary")
        self._take.setToolTip("Take the step: every parameter moves against its gradient.")
        self._undo = named(QPushButton("undo"), "undo_step_button")
        written = partial(number, digits=3)
        self._plot = LinePlot(
            "η", words=(partial(plain, digits=2), written), y_name="loss after the step", possible_x=ANYTHING
        )
        self._plot.setObjectName("descent_plot")
        buttons = row(self._take, self._undo, STRETCH)
        left = column(self._rate, self._losses, self._line, STRETCH, buttons)
        body = row((left, 5), (self._plot, 6))
        self._card = self.add_card("One step of gradient descent", "θ ← θ − η g", body)
        descent = session.descent
        self._rate.set_range(len(RATES) - 1, RATES.index(0.1))
        self._rate.value_changed.connect(lambda at: descent.choose_rate(RATES[at]))
        self._take.clicked.connect(lambda: descent.descend())
        self._undo.clicked.connect(lambda: descent.go_to(descent.place - 1))
        self.show_failures(descent)
        self.follow(descent.changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        curve = self._curve
        return {} if curve is None else {"rate": curve.rates, "loss": curve.losses, "line": curve.line}

    def recipe(self) -> str:
        """The same step from Python."""
        return (
            f'import lmviz\n\nnet = lmviz.autodiff.read("""\n{self.session.network.current.text}\n""")\n'
            f"print(lmviz.autodiff.descend(net, {self.session.descent.rate:g}))\n"
        )

    def refresh(self) -> None:
        descent = self.session.descent
        step = descent.step
        self._take.setEnabled(step is not None)
        self._undo.setEnabled(descent.place > 0)
        at = min(range(len(RATES)), key=lambda place: abs(RATES[place] - descent.rate))
        self._rate.show_value(at, plain(descent.rate))
        if step is None:
            self._curve = None
            self._losses.setText("")
            self._line.setText(NOTHING)
            self._plot.set_curves([])
            self._plot.set_cursor(None)
            return
        last = descent.last  # what the next step comes to is seen once it is taken
        if last is None:
            self._losses.setText(number(step.before, 4))
            self._line.setText(f"a straight line says {number(step.predicted, 4)}")
        else:
            self._losses.setText(f"{number(last.before, 4)} → {number(last.after, 4)}")
            self._line.setText(f"a straight line said {number(last.predicted, 4)}")
        self._curve = curve = step_curve(self.session.network.current, descent.rate)
        line = PlotCurve("line", curve.rates, curve.line, "muted_text", 1.2, dashed=True, guide=True)
        self._plot.set_curves([PlotCurve("loss", curve.rates, curve.losses, "accent"), line])
        self._plot.set_cursor(descent.rate)
