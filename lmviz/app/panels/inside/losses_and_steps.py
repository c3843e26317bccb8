"""Below the wave: every loss by every state, what each step adds to U's gradient, and what a state holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.building import column, named
from lmviz.app.widgets.base.figures import count, counted, number, percentage
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.position_bars import PositionBars
from lmviz.inspection.held_words import gated_layer, held_words
from lmviz.inspection.trace import Trace
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.losses_by_state import LossesByState
    from lmviz.inspection.parameter_over_time import ParameterOverTime

NOTHING = np.zeros((0, 0), dtype=np.float32)
NO_LOSSES = "A text does not give its labels, so it has no losses."
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, eq=False)
class Sums:
    """Every loss by every state, and what the steps add to the gradient of U, where there is a recurrence.

    A model of labels has no losses: a text does not give them.
    """

    losses: LossesByState | None
    parameter: ParameterOverTime | None


class LossesAndSteps(QWidget):
    """`LossesAndSteps()`: `set_sums(trace, sums)`, `set_truncation(steps)`, `set_position(position)`.

    Signal: `loss_chosen(int)`, the position of its token.
    """

    loss_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._trace: Trace | None = None
        self.sums: Sums | None = None  # what is drawn
        self._truncation = 0
        self._losses = named(HeatmapView(), description="every loss by every state")
        self.parts = named(PositionBars(), description="what each step adds to the gradient of U")
        """What the steps add to the gradient of U."""
        self.held = named(PositionBars(), description="what the state still holds of each token")
        """What the state holds of each word."""
        self._losses_title, self._parts_title, self._held_title = (MutedLine() for _ in range(3))
        of_steps = (self._parts_title, (self.parts, 1), self._held_title, (self.held, 1))
        column(self._losses_title, (self._losses, 4), *of_steps, on=self)
        self._losses.cell_clicked.connect(self._choose)
        self._losses.set_readout(self._read_out)

    @property
    def title(self) -> str:
        """What stands above the heatmap: how many pairs of a loss and a state, and what its cells count."""
        return self._losses_title.text

    def set_sums(self, trace: Trace | None, sums: Sums | None) -> None:
        """Show what the losses and steps of a reading come to; None where there are no gradients."""
        self._trace, self.sums = trace, sums
        self._draw()

    def set_truncation(self, steps: int) -> None:
        """Fade what lies further back than so many states."""
        self._truncation = steps
        self._draw()

    def set_position(self, position: int) -> None:
        """Mark a position, and show what the state holds there."""
        for bars in (self.parts, self.held):
            bars.set_current(position)
        self._losses.set_selection(column=position if self._has_losses else -1)
        self._draw_held(position)

    @property
    def _has_losses(self) -> bool:
        return self.sums is not None and self.sums.losses is not None

    @property
    def _tokens(self) -> list[str]:
        return [visible(token) for token in self._trace.tokens] if self._trace is not None else []

    def _draw(self) -> None:
        sums, tokens = self.sums, self._tokens
        losses = None if sums is None else sums.losses
        self._losses.setVisible(losses is not None)
        if losses is None:
            self._losses_title.set_text("" if sums is None else NO_LOSSES)
            self._losses.set_matrix(NOTHING)
        else:
            power = str(losses.depth).translate(RAISED)
            words = [tokens[target] for target in losses.targets]
            limit = float(losses.depth)
            self._losses.set_matrix(losses.decades, scale="count", limit=limit, rows=words, columns=tokens)
            kept, every = losses.within(self._truncation), losses.within(len(tokens))
            pairs = count(every.sum())
            if kept.sum() != every.sum():
                pairs = f"{count(kept.sum())} of {pairs}"
            counted = f"powers of ten above 10⁻{power} of the row’s largest"
            self._losses_title.set_text(f"Loss × state, {pairs} pairs: {counted}")
            self._losses.set_lights(None if kept.sum() == every.sum() else kept * np.int8(3))
        self._draw_parts(None if sums is None else sums.parameter, tokens)

    def _draw_parts(self, parameter: ParameterOverTime | None, tokens: list[str]) -> None:
        for widget in (self.parts, self._parts_title):
            widget.setVisible(parameter is not None)
        if parameter is not None:
            share = percentage(parameter.kept(self._truncation))
            self._parts_title.set_text(f"Gradient of U by step: {share} is kept")
            self.parts.set_parts(parameter.along, tokens, parameter.within(self._truncation))

    def _draw_held(self, position: int) -> None:
        trace, tokens = self._trace, self._tokens
        layer = "" if trace is None else gated_layer(trace)
        has_gates = bool(layer) and 0 <= position < len(tokens)
        for widget in (self.held, self._held_title):
            widget.setVisible(has_gates)
        if trace is None or not has_gates:
            return
        held = held_words(trace, layer, position)
        state = "cell" if Address.parse(held.address).name == "cell" else "state"
        most = int(held.shares.argmax())
        self._held_title.set_text(
            f"Held by the {state}: above all “{tokens[most]}”, {percentage(float(held.shares[most]))}"
        )
        shares = np.zeros(len(tokens))
        shares[: len(held.shares)] = held.shares
        self.held.set_parts(shares, tokens)

    def _choose(self, row: int, column: int) -> None:
        if self.sums is not None and self.sums.losses is not None:
            self.loss_chosen.emit(int(self.sums.losses.targets[row]))

    def _read_out(self, row: int, column: int) -> tuple[str, list[str]]:
        if self.sums is None or self.sums.losses is None:
            return "", []
        losses, tokens = self.sums.losses, self._tokens
        target = int(losses.targets[row])
        lines = [
            f"of the loss of “{tokens[target]}”, {number(float(losses.values[row]), 2)} nats",
            f"at the state of “{tokens[column]}”, {counted(target - 1 - column, 'step')} back",
        ]
        return f"size of the gradient {number(float(losses.norms[row, column]), 4)}", lines
