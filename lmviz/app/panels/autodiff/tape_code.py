"""What the tape does as pseudocode, or in PyTorch; lines are lit as modules are pushed and popped."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication

from lmviz.app.panels.autodiff.network_panel import NetworkPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.switch import Switch
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.text.algorithm_lines import AlgorithmLine, AlgorithmLines
from lmviz.autodiff.running_code import RunningCode, StepLoss, loop_code, losses_over_steps, tape_code
from lmviz.autodiff.torch_module import current_line, module_code
from lmviz.base.figures import number, plain
from lmviz.looks.curve import PlotCurve

TAPE, LOOP, TORCH = "module and tape", "loop over t", "in PyTorch"
SLIP = "out_gradient = 1"
HIDDEN = "A fault is hidden in one module: mend it first."


class TapeCodePanel(NetworkPanel):
    """The module with its tape, the loop of a recurrent network with its losses, or a module of PyTorch."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._kind = picker("code_picker", "which code", (TAPE, TORCH))
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
        self._shown = -1  # the line that was brought in sight
        self._area = scrolling(self._lines, sideways=True)
        self._copy = LinkButton(
            "copy_code_button", "copy", "copy the program for PyTorch, which runs as it stands"
        )
        self._copy.clicked.connect(self._copy_program)
        below = row(self._slip, self._slip_words, STRETCH, self._copy)
        body = column(self._kind, (self._area, 3), (self._losses, 1), self._total, below, self._said)
        self.add_card("As code", "", body)
        session.module_checks.changed.connect(self._show_slip)
        self.follow(session.network.network_changed, session.network.numbers_changed, session.descent.changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The losses of the steps that were made, (step,), NaN where none is known."""
        return {"losses": _values(self._known)} if self._known else {}

    def recipe(self) -> str:
        """The same steps from Python, or the module of PyTorch."""
        if self._kind.currentText() == TORCH:
            return self._program()
        text = self.session.network.current.text
        return (
            f'import lmviz\n\nnet = lmviz.autodiff.read("""\n{text}\n""")\nnet.backward()\nprint(net.tape)\n'
        )

    def refresh(self) -> None:
        network = self.session.network
        loop = loop_code(network.current)
        self._offer(loop is not None)
        kind = self._kind.currentText()
        self._copy.setVisible(kind == TORCH)
        self._known = losses_over_steps(network.current) if kind == LOOP else ()
        if kind == LOOP and loop is not None:
            self._show(loop)
        elif kind == TORCH:
            rate = self.session.descent.rate
            self._show(module_code(network.current, rate), current_line(network.current, rate))
        else:
            self._show(tape_code(network.current, has_slip=network.has_slip))
        self._show_losses()
        self._show_slip()

    def _offer(self, has_loop: bool) -> None:
        """Offer the loop where there is one."""
        if has_loop != (self._kind.findText(LOOP) >= 0):
            if has_loop:
                self._kind.insertItem(1, LOOP)
            else:
                if self._kind.currentText() == LOOP:
                    self._kind.setCurrentIndex(0)
                self._kind.removeItem(1)

    def _show(self, code: RunningCode, current: int = -1) -> None:
        lines = [
            AlgorithmLine(str(at), line.code, line.figures, line.depth, line.is_slip)
            for at, line in enumerate(code.lines)
        ]
        self._lines.set_lines(lines)
        self._lines.set_lit(code.lit, code.through)
        self._lines.set_current(current)
        self._lines.setMinimumWidth(self._lines.sizeHint().width() if self._copy.isVisibleTo(self) else 0)
        if code.lit != self._shown:
            self._shown = code.lit
            QTimer.singleShot(0, self, self._come_into_sight)  # when the lines are as high as they are many

    def _come_into_sight(self) -> None:
        """Scroll to the line that runs."""
        if self._lines.lit >= 0:
            middle = self._lines.part_rectangle(self._lines.lit).center().toPoint()
            self._area.ensureVisible(0, middle.y(), 0, round(self._lines.part_rectangle(0).height()))

    def _program(self) -> str:
        return self.session.network.current.torch_module(self.session.descent.rate)

    def _copy_program(self) -> None:
        QGuiApplication.clipboard().setText(self._program())

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
