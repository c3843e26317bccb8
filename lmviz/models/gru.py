"""The gated recurrent unit (Cho et al. 2014), in the variant that PyTorch and cuDNN compute."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from lmviz.models.cell import Cell, State
from lmviz.models.operations import Affine, Of, Product, SumOfProducts
from lmviz.models.strand import Strand
from lmviz.models.tap import Stage, Tap, Value

RESET, UPDATE, CANDIDATE = range(3)
"""The order in which PyTorch stacks the gates' weights."""


class GRUCell(Cell):
    """The reset gate acts on the previous state after its weights, not before them as in the paper."""

    family = "gru"

    def build(self, **sizes: Any) -> nn.RNNBase:
        return nn.GRU(**sizes)

    def run(
        self, inputs: torch.Tensor, weights: list[torch.Tensor], start: State, *, training: bool
    ) -> tuple[torch.Tensor, State]:
        """See Cell."""
        states, last = torch.gru(inputs, start[0][None], weights, True, 1, 0.0, training, False, True)
        return states, (last[0],)

    def step(self, inputs: torch.Tensor, weights: list[torch.Tensor], state: State) -> State:
        """See Cell."""
        return (torch.gru_cell(inputs, state[0], *weights),)

    def taps(self, strand: Strand) -> tuple[Tap, ...]:
        def gate(index: int, function: str, reset: Value | None = None) -> Affine:
            return Affine((strand.from_input(index), strand.from_previous(index, reset)), function)

        update, candidate = strand.at("update"), strand.at("candidate")
        written = Product("newly written", (Of(update, "one minus"), Of(candidate)))
        kept = Product("kept from the previous state", (Of(update), Of(strand.previous())))
        return (
            strand.tap("reset", gate(RESET, "sigmoid"), "share"),
            strand.tap("update", gate(UPDATE, "sigmoid"), "share"),
            strand.tap("candidate", gate(CANDIDATE, "tanh", strand.at("reset"))),
            strand.tap("hidden", SumOfProducts((written, kept))),
        )

    def stages(self, strand: Strand) -> tuple[Stage, ...]:
        below, before = Value(strand.below), strand.previous()
        return (
            strand.stage(
                "Reset gate",
                r"\mathbf{r}_t = \sigma(W_r \mathbf{x}_t + U_r \mathbf{h}_{t-1} + \mathbf{b}_r)",
                "reset",
                below,
                before,
            ),
            strand.stage(
                "Update gate",
                r"\mathbf{z}_t = \sigma(W_z \mathbf{x}_t + U_z \mathbf{h}_{t-1} + \mathbf{b}_z)",
                "update",
                below,
                before,
            ),
            strand.stage(
                "Candidate",
                r"\tilde{\mathbf{h}}_t = \tanh(W \mathbf{x}_t + \mathbf{b} + "
                r"\mathbf{r}_t \odot (U \mathbf{h}_{t-1} + \mathbf{d}))",
                "candidate",
                below,
                "reset",
                before,
            ),
            strand.stage(
                "Hidden state",
                r"\mathbf{h}_t = (1 - \mathbf{z}_t) \odot \tilde{\mathbf{h}}_t "
                r"+ \mathbf{z}_t \odot \mathbf{h}_{t-1}",
                "hidden",
                "update",
                "candidate",
                before,
            ),
        )
