"""What the tape does as pseudocode, whose lines are lit as modules are pushed and popped."""

from __future__ import annotations

import numpy as np

from lmviz.app.panels.autodiff.network_panel import NetworkPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.switch import Switch
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.text.algorithm_lines import AlgorithmLine, AlgorithmLines
from lmviz.autodiff.running_code import RunningCode, StepLoss, loop_code, losses_over_steps, tape_code
from lmviz.base.figures import number, plain
from lmviz.looks.curve import PlotCurve

TAPE, LOOP = "module and tape", "loop over t"
SLIP = "out_gradient = 1"
HIDDEN = "A fault is hidden in one module: mend it first."


class TapeCodePanel(NetworkPanel):
    """The module with its tape, or the loop of a recurrent network with its loss at each step."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._kind = picker("code_picker", "which code", (TAPE, LOOP))
        self._kind.activated.connect(lambda _: self.refresh())
        self._lines = named(AlgorithmLines(), "tape_code_lines")
        self._losses = named(LinePlot("t", words=(_step, _loss), y_name="loss"), "step_losses")
        self._total = Label(name="step_losses_total", role="muted", wraps=True)
        self._slip = Switch(
            "slip_switch", "let every gradient begin at 1, a slip, and see what becomes wrong"
        )
        self._slip.clicked.connect(lambda on: session.network.choose_slip(on))
        self._slip_words = Label(f"slip: {SLIP}", name="slip_words", role="muted")
        self._said = Label(name="slip_said", role="warning", wraps=True)
        self._known: tuple[StepLoss, ...] = ()
        below = row(self._slip, self._slip_words, STRETCH)
        body = column(
            self._kind, (scrolling(self._lines), 3), (self._losses, 1), self._total, below, self._said
        )
        self.add_card("As code", "", body)
        session.module_checks.changed.connect(self._show_slip)
        self.follow(session.network.network_changed, session.network.numbers_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The losses of the steps that were made, (step,), NaN where none is known."""
        return {"losses": _values(self._known)} if self._known else {}

    def recipe(self) -> str:
        """The same steps from Python."""
        text = self.session.network.current.text
        return (
            f'import lmviz\n\nnet = lmviz.autodiff.read("""\n{text}\n""")\nnet.backward()\nprint(net.tape)\n'
        )

    def refresh(self) -> None:
        network = self.session.network
        loop = loop_code(network.current)
        self._kind.setVisible(loop is not None)
        shows_loop = loop is not None and self._kind.currentText() == LOOP
        self._known = losses_over_steps(network.current) if shows_loop else ()
        if shows_loop and loop is not None:
            self._show(loop)
        else:
            self._show(tape_code(network.current, has_slip=network.has_slip))
        self._show_losses()
        self._show_slip()

    def _show(self, code: RunningCode) -> None:
        lines = [
            AlgorithmLine(str(at), line.code, line.figures, line.depth, line.is_slip)
            for at, line in enumerate(code.lines)
        ]
        self._lines.set_lines(lines)
        self._lines.set_lit(code.lit, code.through)

    def _show_losses(self) -> None:
        """The loss of each step that was made, and what they come to so far."""
        self._losses.setVisible(bool(self._known))
        self._total.setVisible(bool(self._known))
        if not self._known:
            return
        values = _values(self._known)
        made = int(np.isfinite(values).sum())
        steps = np.array([loss.step for loss in self._known], dtype=np.float64)
        said = self._known[made - 1].name if made else ""
        curves = [PlotCurve(said, steps[:made], values[:made], "accent")] if made else []
        self._losses.set_curves(curves)
        self._losses.set_end(float(steps[-1]))
        self._losses.set_cursor(float(steps[made - 1]) if made else None)
        total = number(float(np.nansum(values)), 4)
        self._total.setText(
            f"{made} of {len(values)} steps: together {total}" if made else "No step is made."
        )

    def _show_slip(self) -> None:
        has_slip, is_hiding = self.session.network.has_slip, self.session.module_checks.is_hiding
        self._slip.setChecked(has_slip)
        self._slip.setEnabled(not is_hiding)
        self._said.setVisible(has_slip or is_hiding)
        self._said.setText(HIDDEN if is_hiding else "A slip is run: gradients are wrong, values are right.")


def _step(value: float) -> str:
    return plain(value)


def _loss(value: float) -> str:
    return number(value, 4)


def _values(losses: tuple[StepLoss, ...]) -> np.ndarray:
    return np.array([np.nan if loss.value is None else loss.value for loss in losses])
