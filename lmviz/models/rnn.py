"""The simple recurrent network (Elman 1990)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lmviz.models.arithmetic import FUNCTIONS
from lmviz.models.cell import Between, Cell, State, weights_of
from lmviz.models.operations import Activation, Affine
from lmviz.models.recurrent_configuration import RNNConfiguration
from lmviz.models.strand import Strand
from lmviz.models.tap import Stage, Tap, Value

FUSED = {"tanh": torch.rnn_tanh, "relu": torch.rnn_relu}
"""The activations that PyTorch has a fused recurrence for."""


class RNNCell(Cell):
    """The state is a function of the sum of input and previous state."""

    family = "rnn"
    configuration: RNNConfiguration

    def build(self, **sizes: Any) -> nn.RNNBase:
        activation = self.configuration.activation
        return nn.RNN(nonlinearity=activation if activation in FUSED else "tanh", **sizes)

    def run(
        self, inputs: torch.Tensor, weights: list[torch.Tensor], start: State, *, training: bool
    ) -> tuple[torch.Tensor, State]:
        """See Cell."""
        if self.configuration.activation not in FUSED:
            return self._step_by_step(inputs, weights, start[0])
        fused = FUSED[self.configuration.activation]
        states, last = fused(inputs, start[0][None], weights, True, 1, 0.0, training, False, True)
        return states, (last[0],)

    def step(self, inputs: torch.Tensor, weights: list[torch.Tensor], state: State) -> State:
        """See Cell."""
        weight_input, weight_hidden, bias_input, bias_hidden = weights
        given = functional.linear(inputs, weight_input, bias_input + bias_hidden)
        return (self._activated(torch.addmm(given, state[0], weight_hidden.t())),)

    def read(
        self, module: nn.RNNBase, inputs: torch.Tensor, state: Any, between: Between
    ) -> tuple[torch.Tensor, Any]:
        """See Cell. PyTorch's module has two of the activations."""
        if self.configuration.activation in FUSED:
            return super().read(module, inputs, state, between)
        last = []
        for layer in range(self.configuration.layers):
            inputs = between(inputs) if layer else inputs
            start = self.start(inputs) if state is None else (state[layer],)
            inputs, (hidden,) = self.run(
                inputs, weights_of(module, f"_l{layer}"), start, training=module.training
            )
            last.append(hidden)
        return inputs, torch.stack(last)

    def _activated(self, values: torch.Tensor) -> torch.Tensor:
        return FUNCTIONS[self.configuration.function].tensor(values)

    def _step_by_step(
        self, inputs: torch.Tensor, weights: list[torch.Tensor], hidden: torch.Tensor
    ) -> tuple[torch.Tensor, State]:
        """What PyTorch's layer would compute if it offered the activation."""
        weight_input, weight_hidden, bias_input, bias_hidden = weights
        # (position, batch, unit): each step then reads one contiguous block
        given = functional.linear(inputs.transpose(0, 1), weight_input, bias_input + bias_hidden)
        steps = []
        for step in given.unbind():
            hidden = self._activated(torch.addmm(step, hidden, weight_hidden.t()))
            steps.append(hidden)
        return torch.stack(steps, dim=1), (hidden,)

    def taps(self, strand: Strand) -> tuple[Tap, ...]:
        summands = (strand.from_input(0), strand.from_previous(0))
        function = self.configuration.function
        scale = "share" if function == "sigmoid" else "signed"
        return (
            strand.tap("preactivation", Affine(summands)),
            strand.tap("hidden", Activation(strand.at("preactivation"), function), scale),
        )

    def stages(self, strand: Strand) -> tuple[Stage, ...]:
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
