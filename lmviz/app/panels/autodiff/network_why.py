"""Why this number? The arithmetic of a value or a gradient, in the same card as everywhere."""

from __future__ import annotations

import numpy as np

from lmviz.app.panels.autodiff.network_panel import NetworkPanel
from lmviz.app.session.network_focus import NetworkCell
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard
from lmviz.app.widgets.text.equation import EquationView
from lmviz.autodiff.checking import check
from lmviz.autodiff.names import cell_label, latex
from lmviz.autodiff.node import read_address
from lmviz.models.arithmetic import Arithmetic
from lmviz.models.arithmetic.notation import PLAIN
from lmviz.models.arithmetic.rules.table import RULES

LARGEST_TERMS = 8
SHOWN = 4
SECRET = "A fault is hidden: check the modules to find it."


class NetworkWhyPanel(NetworkPanel):
    """The cell one looks at, explained; a click on an operand explains that in turn."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._equation = EquationView()
        self._sheet = ArithmeticCard()
        self._nudged = named(MutedLine(), "nudged_line")
        self.shown: Arithmetic | None = None  # what is explained
        body = column(self._equation, (scrolling(self._sheet), 1), self._nudged)
        self._card = self.add_card("Why this number?", "", body)
        self._sheet.operand_clicked.connect(self._follow)
        self._sheet.operand_hovered.connect(self._hover)
        self._sheet.left.connect(lambda: session.network_focus.hover_module(""))
        self.follow(
            session.network_focus.cell_changed,
            session.network.numbers_changed,
            session.module_checks.changed,
        )

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The value, and for each group of terms (term, factor + 1): the factors, and last their product."""
        if self.shown is None:
            return {}
        groups = {
            f"terms/{place}": np.column_stack([*(factor.applied for factor in group.factors), group.products])
            for place, group in enumerate(self.shown.terms)
        }
        return {"value": np.array([self.shown.value]), **groups}

    def recipe(self) -> str:
        """The same arithmetic from Python."""
        cell, text = self.session.network_focus.shown, self.session.network.current.text
        return (
            f'import lmviz\n\nnet = lmviz.autodiff.read("""\n{text}\n""")\nnet.backward()\n'
            f"print(net.explain({cell.name!r}, {cell.place}, gradient={cell.is_gradient}))\n"
        )

    def refresh(self) -> None:
        focus, net = self.session.network_focus, self.session.network.current
        cell = focus.shown
        is_secret = cell.is_gradient and self._is_hiding
        arithmetic = self.shown = None if is_secret else focus.arithmetic
        node = net[cell.name]
        array = node.gradient if cell.is_gradient else node.value
        with np.errstate(all="ignore"):  # ln(0) is shown as what it is
            self._sheet.set_arithmetic(arithmetic, _name, LARGEST_TERMS)
            self._equation.set_numbers("" if arithmetic is None else _in_numbers(arithmetic))
        if array is None:
            self._card.set_title("Why this number?")
            self._card.set_aside("not known yet: step the tape")
        else:
            self._card.set_title(f"Why {number(float(array[cell.place]), 4)}?")
            self._card.set_aside(_said(cell.name, cell.place, cell.is_gradient))
        self._nudged.set_text(SECRET if is_secret else self._said_by_nudging(cell))
        self._nudged.setVisible(bool(self._nudged.text))  # else its room goes to the operands
        self._equation.set_equation("" if is_secret else self._latex(cell))

    @property
    def _is_hiding(self) -> bool:
        """Whether a fault is hidden that has yet to be found: terms and factors would give it away."""
        checks = self.session.module_checks
        return checks.is_hiding and checks.found is None

    def _said_by_nudging(self, cell: NetworkCell) -> str:
        """Whether a gradient that is whole is also the slope of the output."""
        net = self.session.network.current
        if not cell.is_gradient or not net.tape.is_final(net[cell.name]):
            return ""
        found = check(net, cell.name, cell.place)
        digits = found.worst.digits
        return f"nudging says the same: {digits} digits" if found.agrees else "nudging says something else"

    def _latex(self, cell: NetworkCell) -> str:
        """The gradient as a sum over those who use the value."""
        net = self.session.network.current
        node, name = net[cell.name], latex(cell.name)
        if not cell.is_gradient or node is net.output:
            return ""
        parts = []
        for consumer in dict.fromkeys(node.consumers):
            if consumer.module is None or not net.tape.is_reached(consumer):
                continue
            names = [latex(input.name) for input in consumer.inputs]
            written = consumer.module.equations(latex(consumer.name), names)
            parts += [
                equation for input, equation in zip(consumer.inputs, written, strict=True) if input is node
            ]
        return f"g_{{{name}}} = {' + '.join(parts)}" if 0 < len(parts) <= 2 else ""

    def _follow(self, source: str, index: tuple[int, ...]) -> None:
        name, is_gradient = read_address(source)
        if name in self.session.network.current:
            self.session.network_focus.choose_cell(NetworkCell(name, tuple(index), is_gradient))

    def _hover(self, source: str, index: tuple[int, ...]) -> None:
        self.session.network_focus.hover_module(read_address(source)[0])


def _name(source: str, index: tuple[int, ...]) -> str:
    """An operand in words."""
    name, is_gradient = read_address(source)
    return _said(name, index, is_gradient)


def _said(name: str, index: tuple[int, ...], is_gradient: bool) -> str:
    return f"{'gradient of ' if is_gradient else ''}{cell_label(name, index)}"


def _in_numbers(arithmetic: Arithmetic) -> str:
    """The equation with its numbers, on one line."""
    inner = RULES[arithmetic.rule].equation(arithmetic.terms, PLAIN, SHOWN)
    written = PLAIN.apply(arithmetic.function, inner) if arithmetic.function else inner
    return f"{written} = {PLAIN.number(arithmetic.value)}"
