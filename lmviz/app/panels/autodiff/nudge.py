"""Check by nudging: the slope of the loss beside the gradient, and each module alone."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QPushButton, QWidget

from lmviz.app.panels.autodiff.network_panel import NetworkPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, empty, named, row, sheet
from lmviz.app.widgets.base.figures import plain
from lmviz.app.widgets.base.flow import FlowLayout
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.text.agreeing_digits import AgreeingDigits, WrittenNumber
from lmviz.autodiff.checking import agreeing_digits, check, error_curves, is_of_cell
from lmviz.autodiff.names import cell_label, label
from lmviz.looks.curve import PlotCurve

EPSILON = 1e-5
PLACES = 15

LOWEST = 1e-17  # where an error of 0 is drawn


class NudgePanel(NetworkPanel):
    """The error over ε, the digits of the cell one looks at, and the modules with their checks."""

    gives_way = 120

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._epsilon = EPSILON
        self._drawn: tuple[int, str, tuple[int, ...]] | None = None
        self._plot = named(
            LinePlot("ε", logarithmic=(True, True), words=(_power, _power), y_name="error"), "error_plot"
        )
        self._errors: dict[str, np.ndarray] = {}
        self._digits = AgreeingDigits()
        self._caption = Label(name="nudged_cell", role="muted", wraps=True)
        self._modules = QWidget()
        self._flow = FlowLayout(self._modules, gap=4)
        self._buttons: dict[str, QPushButton] = {}
        self._verdict = Label(name="saboteur_verdict", wraps=True)
        self._every = LinkButton("nudge_all_button", "nudge all", "nudge every number that learns")
        self._all = LinkButton("check_all_button", "check all", "check every module alone")
        self._hide = LinkButton("saboteur_button", "hide a fault…", "break one module at random")
        head = sheet(row(self._every, self._all, self._hide))
        middle = column(self._digits, self._caption, STRETCH)
        right = column((scrolling(self._modules), 1), self._verdict)
        body = row((self._plot, 5), (middle, 4), (right, 4))
        self._card = self.add_card("Check by nudging", head, body)
        self._plot.cursor_moved.connect(self._choose)
        self._every.clicked.connect(lambda: session.module_checks.nudge_all(self._epsilon))
        self._all.clicked.connect(session.module_checks.check_all)
        self._hide.clicked.connect(self._toggle_fault)
        self.show_failures(session.module_checks)
        session.module_checks.changed.connect(self._show_checks)
        session.module_checks.changed.connect(self._show_caption)
        self.follow(session.network_focus.cell_changed, session.network.numbers_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {f"error in {name}": points for name, points in self._errors.items()}

    def recipe(self) -> str:
        """The same check from Python."""
        cell, text = self.session.network_focus.nudged, self.session.network.current.text
        return (
            f'import lmviz\n\nnet = lmviz.autodiff.read("""\n{text}\n""")\n'
            f"print(net.check({cell.name!r}, {cell.place}, eps={self._epsilon:g}))\n"
        )

    def refresh_soon(self) -> None:
        """Wait until tape, pointer and numbers rest: the curves take hundreds of nudges."""
        self._soon.stop()
        super().refresh_soon()

    def refresh(self) -> None:
        net, cell = self.session.network.current, self.session.network_focus.nudged
        of_cell = cell.place if is_of_cell(net, cell.name) else ()
        drawn = self.session.network.changes, cell.name, of_cell
        if drawn != self._drawn:
            self._drawn = drawn
            self._errors = error_curves(net, cell.name, cell.place)
        self._draw_errors()
        self._show_digits()
        self._show_checks()

    def _draw_errors(self) -> None:
        """The error over ε, and beside the names what it is at the chosen one."""
        curves: list[PlotCurve] = []
        for name, points in self._errors.items():
            if len(points):
                at = int(np.abs(np.log10(points[:, 0] / self._epsilon)).argmin())
                role, width = ("accent", 2.0) if not curves else ("muted_text", 1.4)
                errors = np.clip(points[:, 1], LOWEST, None)
                said = _power(float(points[at, 1]))
                curves.append(PlotCurve(name.partition(",")[0], points[:, 0], errors, role, width, said=said))
        self._plot.set_curves(curves)
        self._plot.set_cursor(self._epsilon if curves else None)

    def _show_digits(self) -> None:
        net, cell = self.session.network.current, self.session.network_focus.nudged
        found = check(net, cell.name, cell.place, self._epsilon)
        nudged = found.worst
        common = agreeing_digits(nudged.more, nudged.less)
        lines = [
            _written("J(θ + ε)", nudged.more, common),
            _written("J(θ − ε)", nudged.less, common),
            _written("slope", nudged.slope, nudged.digits),
            _written("gradient", nudged.gradient, nudged.digits),
        ]
        verdict = "all digits agree" if nudged.digits >= PLACES else f"{nudged.digits} digits agree"
        self._digits.set_numbers(lines, verdict, found.agrees)
        self._show_caption()

    def _show_caption(self) -> None:
        """Which number is nudged by how much, and what came of nudging all."""
        cell, nudged = self.session.network_focus.nudged, self.session.module_checks.nudged
        said = f"θ is {cell_label(cell.name, cell.place)}, ε is {plain(self._epsilon)}"
        if nudged is not None:
            worst, count = nudged.worst, len(nudged.cells)
            place = cell_label(worst.name, worst.index)
            said += f". Of all {count} numbers nudged, {place} is worst: {nudged.digits} digits agree."
        self._caption.setText(said)

    def _choose(self, epsilon: float) -> None:
        self._epsilon = epsilon
        self._draw_errors()
        self._show_digits()

    def _show_checks(self) -> None:
        net, checks = self.session.network.current, self.session.module_checks
        names = [node.name for node in net.tape.modules]
        if names != list(self._buttons):
            self._make_buttons(names)
        for name, button in self._buttons.items():
            module = net[name].module
            assert module is not None
            mark = "" if name not in checks.results else "✓ " if checks.results[name].agrees else "✗ "
            shown = "" if "·" in name else f" {label(name)}"
            button.setText(f"{mark}{module.word.replace('_', ' ')}{shown}")
        self._hide.setText("mend it" if checks.is_hiding else "hide a fault…")
        self._verdict.setText(self._said())

    def _make_buttons(self, names: list[str]) -> None:
        empty(self._flow)
        self._buttons = {}
        for name in names:
            button = LinkButton(f"check_{name}", "", f"check the module of {name} alone")
            button.clicked.connect(lambda _=False, name=name: self.session.module_checks.check(name))
            self._flow.addWidget(button)
            self._buttons[name] = button

    def _said(self) -> str:
        checks = self.session.module_checks
        count = len(checks.results)
        done = f"{count} check{'' if count == 1 else 's'}"
        if checks.found is not None:
            found = checks.found
            return f"Found after {done}: {label(found.name)}, {found.breakage}."
        if checks.is_hiding:
            return f"A fault is hidden in one module. {done} so far."
        slip = "With the slip, " if self.session.network.has_slip else ""
        if not count:
            return "Each module can be checked alone: click it."
        wrong = sum(not result.agrees for result in checks.results.values())
        return f"{slip}{done}, {wrong} wrong." if wrong else f"{slip}{done}, all right."

    def _toggle_fault(self) -> None:
        checks = self.session.module_checks
        if checks.is_hiding:
            checks.mend()
        else:
            checks.hide_fault()


def _written(name: str, value: float, digits: int) -> WrittenNumber:
    """A number with all its digits, of which the leading ones are certain."""
    text = f"{value:.{PLACES}f}".replace("-", "−") if abs(value) < 1e4 else f"{value:.{PLACES}e}"
    plain = text.lstrip("−")
    first = len(text) - len(plain) + next((i for i, c in enumerate(plain) if c in "123456789"), 0)
    certain, left = first, digits
    while left and certain < len(text):
        left -= text[certain] != "."
        certain += 1
    return WrittenNumber(name, text, certain if digits else 0)


def _power(value: float) -> str:
    return plain(value, 1)
