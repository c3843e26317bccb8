"""The gated recurrent unit (Cho et al. 2014), in the variant that PyTorch and cuDNN compute."""

from __future__ import annotations

from typing import Any

from torch import nn

from lmviz.models.operations import Affine, Of, Product, SumOfProducts
from lmviz.models.recurrent import RecurrentModel
from lmviz.models.recurrent_configuration import GRUConfiguration
from lmviz.models.tap import Stage, Tap, Value

RESET, UPDATE, CANDIDATE = range(3)
"""The order in which PyTorch stacks the gates' weights."""


class GRUModel(RecurrentModel):
    """A language model of stacked GRU layers.

    The reset gate acts on the previous state after its weights, not before them as in the paper.
    """

    family = "gru"
    configuration: GRUConfiguration

    def _build(self, **sizes: Any) -> nn.RNNBase:
        return nn.GRU(**sizes)

    def _layer_taps(self, layer: int) -> tuple[Tap, ...]:
        def gate(index: int, function: str, reset: Value | None = None) -> Affine:
            return Affine(
                (self._from_input(layer, index), self._from_previous(layer, index, reset)), function
            )

        update = Value(f"layers/{layer}/update")
        candidate = Value(f"layers/{layer}/candidate")
        written = Product("newly written", (Of(update, "one minus"), Of(candidate)))
        kept = Product("kept from the previous state", (Of(update), Of(self._previous(layer))))
        return (
            self._tap(layer, "reset", gate(RESET, "sigmoid"), "share"),
            self._tap(layer, "update", gate(UPDATE, "sigmoid"), "share"),
            self._tap(layer, "candidate", gate(CANDIDATE, "tanh", Value(f"layers/{layer}/reset"))),
            self._tap(layer, "hidden", SumOfProducts((written, kept))),
        )

    def _layer_stages(self, layer: int) -> tuple[Stage, ...]:
        below, before = self._below(layer), self._previous(layer)
        reset, update, candidate = (f"layers/{layer}/{name}" for name in ("reset", "update", "candidate"))
        return (
            self._stage(
                layer,
                "Reset gate",
                r"\mathbf{r}_t = \sigma(W_r \mathbf{x}_t + U_r \mathbf{h}_{t-1} + \mathbf{b}_r)",
                "reset",
                below,
                before,
            ),
            self._stage(
                layer,
                "Update gate",
                r"\mathbf{z}_t = \sigma(W_z \mathbf{x}_t + U_z \mathbf{h}_{t-1} + \mathbf{b}_z)",
                "update",
                below,
                before,
            ),
            self._stage(
                layer,
                "Candidate",
                r"\tilde{\mathbf{h}}_t = \tanh(W \mathbf{x}_t + \mathbf{b} + "
                r"\mathbf{r}_t \odot (U \mathbf{h}_{t-1} + \mathbf{d}))",
                "candidate",
                below,
                reset,
                before,
            ),
            self._stage(
                layer,
                "Hidden state",
                r"\mathbf{h}_t = (1 - \mathbf{z}_t) \odot \tilde{\mathbf{h}}_t "
                r"+ \mathbf{z}_t \odot \mathbf{h}_{t-1}",
                "hidden",
                update,
                candidate,
                before,
            ),
        )
