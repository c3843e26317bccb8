"""The simple recurrent network (Elman 1990)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lmviz.models.arithmetic import FUNCTIONS
from lmviz.models.operations import Activation, Affine
from lmviz.models.recurrent import RecurrentModel
from lmviz.models.recurrent_configuration import RNNConfiguration
from lmviz.models.tap import Stage, Tap, Value


class RNNModel(RecurrentModel):
    """A language model of stacked Elman layers."""

    family = "rnn"
    configuration: RNNConfiguration

    def _build(self, **sizes: Any) -> nn.RNNBase:
        fused = self.configuration.activation in ("tanh", "relu")
        return nn.RNN(nonlinearity=self.configuration.activation if fused else "tanh", **sizes)

    def _recur(self, inputs: torch.Tensor, state: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        if self.configuration.activation != "sigmoid":
            return self.recurrence(inputs, state)
        return self._recur_sigmoid(inputs, state)

    def _recur_sigmoid(
        self, inputs: torch.Tensor, state: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What nn.RNN would compute if it offered the sigmoid."""
        layers = self.configuration.layers
        if state is None:
            state = inputs.new_zeros(layers, inputs.shape[0], self.configuration.width)
        last = []
        for layer, weights in enumerate(self.recurrence.all_weights):
            weight_input, weight_hidden, bias_input, bias_hidden = weights
            # (position, batch, unit): each step then reads one contiguous block
            given = functional.linear(inputs.transpose(0, 1), weight_input, bias_input + bias_hidden)
            hidden = state[layer]
            steps = []
            for step in given.unbind():
                hidden = torch.addmm(step, hidden, weight_hidden.t()).sigmoid()
                steps.append(hidden)
            last.append(hidden)
            inputs = torch.stack(steps, dim=1)
            if layer < layers - 1:
                inputs = self.dropout(inputs)
        return inputs, torch.stack(last)

    def _layer_taps(self, layer: int) -> tuple[Tap, ...]:
        summands = (self._from_input(layer, 0), self._from_previous(layer, 0))
        function = self.configuration.activation
        scale = "share" if function == "sigmoid" else "signed"
        hidden = Activation(Value(f"layers/{layer}/preactivation"), function)
        return (
            self._tap(layer, "preactivation", Affine(summands)),
            self._tap(layer, "hidden", hidden, scale),
        )

    def _layer_stages(self, layer: int) -> tuple[Stage, ...]:
        preactivated = r"\mathbf{a}_t"
        return (
            self._stage(
                layer,
                "Pre-activation",
                r"\mathbf{a}_t = W \mathbf{x}_t + U \mathbf{h}_{t-1} + \mathbf{b}",
                "preactivation",
                self._below(layer),
                self._previous(layer),
            ),
            self._stage(
                layer,
                "Hidden state",
                rf"\mathbf{{h}}_t = {FUNCTIONS[self.configuration.activation].latex.format(preactivated)}",
                "hidden",
                f"layers/{layer}/preactivation",
            ),
        )
