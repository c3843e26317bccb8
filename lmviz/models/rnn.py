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
from lmviz.models.strand import Strand
from lmviz.models.tap import Stage, Tap, Value

FUSED = {"tanh": torch.rnn_tanh, "relu": torch.rnn_relu}
"""The activations that PyTorch has a fused recurrence for."""


class RNNModel(RecurrentModel):
    """Stacked Elman layers."""

    family = "rnn"
    configuration: RNNConfiguration

    def _build(self, **sizes: Any) -> nn.RNNBase:
        activation = self.configuration.activation
        return nn.RNN(nonlinearity=activation if activation in FUSED else "tanh", **sizes)

    def _recur(self, inputs: torch.Tensor, state: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        if self.configuration.activation in FUSED:
            return self.recurrence(inputs, state)
        last = []
        for layer, weights in enumerate(self.recurrence.all_weights):
            if layer:
                inputs = self.dropout(inputs)
            inputs = self._step_by_step(inputs, list(weights), None if state is None else state[layer])
            last.append(inputs[:, -1])
        return inputs, torch.stack(last)

    def _run(self, inputs: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
        """See RecurrentModel."""
        if self.configuration.activation not in FUSED:
            return self._step_by_step(inputs, weights, None)
        start = inputs.new_zeros(1, len(inputs), self.configuration.width)
        fused = FUSED[self.configuration.activation]
        states: torch.Tensor = fused(inputs, start, weights, True, 1, 0.0, self.training, False, True)[0]
        return states

    def _step_by_step(
        self, inputs: torch.Tensor, weights: list[torch.Tensor], hidden: torch.Tensor | None
    ) -> torch.Tensor:
        """What PyTorch's layer would compute if it offered the activation, (batch, position, unit)."""
        weight_input, weight_hidden, bias_input, bias_hidden = weights
        activation = FUNCTIONS[self.configuration.function].tensor
        # (position, batch, unit): each step then reads one contiguous block
        given = functional.linear(inputs.transpose(0, 1), weight_input, bias_input + bias_hidden)
        hidden = inputs.new_zeros(len(inputs), len(weight_hidden)) if hidden is None else hidden
        steps = []
        for step in given.unbind():
            hidden = activation(torch.addmm(step, hidden, weight_hidden.t()))
            steps.append(hidden)
        return torch.stack(steps, dim=1)

    def _cell_taps(self, strand: Strand) -> tuple[Tap, ...]:
        summands = (strand.from_input(0), strand.from_previous(0))
        function = self.configuration.function
        scale = "share" if function == "sigmoid" else "signed"
        return (
            strand.tap("preactivation", Affine(summands)),
            strand.tap("hidden", Activation(strand.at("preactivation"), function), scale),
        )

    def _cell_stages(self, strand: Strand) -> tuple[Stage, ...]:
        activated = FUNCTIONS[self.configuration.function].latex.format(r"\mathbf{a}_t")
        return (
            strand.stage(
                "Pre-activation",
                r"\mathbf{a}_t = W \mathbf{x}_t + U \mathbf{h}_{t-1} + \mathbf{b}",
                "preactivation",
                Value(strand.below),
                strand.previous(),
            ),
            strand.stage("Hidden state", rf"\mathbf{{h}}_t = {activated}", "hidden", "preactivation"),
        )
