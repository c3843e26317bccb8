"""Long short-term memory (Hochreiter & Schmidhuber 1997; forget gate of Gers et al. 2000)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from lmviz.models.cell import Cell, State
from lmviz.models.operations import Affine, Of, Product, SumOfProducts
from lmviz.models.strand import Strand
from lmviz.models.tap import Stage, Tap, Value

INPUT, FORGET, CANDIDATE, OUTPUT = range(4)
"""The order in which PyTorch stacks the gates' weights."""


class LSTMCell(Cell):
    """A memory cell, and a hidden state that shows part of it."""

    family = "lstm"
    states = ("hidden", "cell")

    def build(self, **sizes: Any) -> nn.RNNBase:
        recurrence = nn.LSTM(**sizes)
        for name, parameter in recurrence.named_parameters():
            if name.startswith("bias_ih") and self.predicts.continues:
                # A forget gate that starts open lets gradients through (Jozefowicz et al. 2015). Labels are
                # learned more slowly with it: 0.374 nats for 0.249 on reviews, in the bench's 100 updates.
                nn.init.ones_(parameter.detach().unflatten(0, (4, -1))[FORGET])  # (gate, unit)
        return recurrence

    def run(
        self, inputs: torch.Tensor, weights: list[torch.Tensor], start: State, *, training: bool
    ) -> tuple[torch.Tensor, State]:
        """See Cell."""
        begun = [part[None] for part in start]
        states, hidden, cell = torch.lstm(inputs, begun, weights, True, 1, 0.0, training, False, True)
        return states, (hidden[0], cell[0])

    def step(self, inputs: torch.Tensor, weights: list[torch.Tensor], state: State) -> State:
        """See Cell."""
        return torch.lstm_cell(inputs, list(state), *weights)

    def taps(self, strand: Strand) -> tuple[Tap, ...]:
        def at(name: str, function: str = "") -> Of:
            return Of(strand.at(name), function)

        def gate(index: int, function: str) -> Affine:
            return Affine((strand.from_input(index), strand.from_previous(index)), function)

        kept = Product("kept from the previous cell", (at("forget"), Of(strand.previous("cell"))))
        written = Product("newly written", (at("input"), at("candidate")))
        shown = Product("shown", (at("output"), at("cell", "tanh")))
        return (
            strand.tap("forget", gate(FORGET, "sigmoid"), "share"),
            strand.tap("input", gate(INPUT, "sigmoid"), "share"),
            strand.tap("candidate", gate(CANDIDATE, "tanh")),
            strand.tap("output", gate(OUTPUT, "sigmoid"), "share"),
            strand.tap("cell", SumOfProducts((kept, written))),
            strand.tap("hidden", SumOfProducts((shown,))),
        )

    def stages(self, strand: Strand) -> tuple[Stage, ...]:
        below, before = Value(strand.below), strand.previous()

        def gate(title: str, symbol: str, function: str, letter: str, result: str) -> Stage:
            previous = rf"U_{letter} \mathbf{{h}}_{{t-1}}"
            sums = rf"W_{letter} \mathbf{{x}}_t + {previous} + \mathbf{{b}}_{letter}"
            return strand.stage(title, rf"{symbol} = {function}({sums})", result, below, before)

        return (
            gate("Forget gate", r"\mathbf{f}_t", r"\sigma", "f", "forget"),
            gate("Input gate", r"\mathbf{i}_t", r"\sigma", "i", "input"),
            gate("Candidate", r"\tilde{\mathbf{c}}_t", r"\tanh", "c", "candidate"),
            strand.stage(
                "New cell state",
                r"\mathbf{c}_t = \mathbf{f}_t \odot \mathbf{c}_{t-1} "
                r"+ \mathbf{i}_t \odot \tilde{\mathbf{c}}_t",
                "cell",
                "forget",
                strand.previous("cell"),
                "input",
                "candidate",
            ),
            gate("Output gate", r"\mathbf{o}_t", r"\sigma", "o", "output"),
            strand.stage(
                "Hidden state",
                r"\mathbf{h}_t = \mathbf{o}_t \odot \tanh(\mathbf{c}_t)",
                "hidden",
                "output",
                "cell",
            ),
        )
