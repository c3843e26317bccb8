"""The gated recurrent unit (Cho et al. 2014), in the variant that PyTorch and cuDNN compute."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from lmviz.models.operations import Affine, Of, Product, SumOfProducts
from lmviz.models.recurrent import RecurrentModel
from lmviz.models.recurrent_configuration import GRUConfiguration
from lmviz.models.strand import Strand
from lmviz.models.tap import Stage, Tap, Value

RESET, UPDATE, CANDIDATE = range(3)
"""The order in which PyTorch stacks the gates' weights."""


class GRUModel(RecurrentModel):
    """Stacked GRU layers.

    The reset gate acts on the previous state after its weights, not before them as in the paper.
    """

    family = "gru"
    configuration: GRUConfiguration

    def _build(self, **sizes: Any) -> nn.RNNBase:
        return nn.GRU(**sizes)

    def _run(self, inputs: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
        """See RecurrentModel."""
        start = inputs.new_zeros(1, len(inputs), self.configuration.width)
        states, _ = torch.gru(inputs, start, weights, True, 1, 0.0, self.training, False, True)
        return states

    def _cell_taps(self, strand: Strand) -> tuple[Tap, ...]:
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

    def _cell_stages(self, strand: Strand) -> tuple[Stage, ...]:
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
