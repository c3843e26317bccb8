"""The common parts of the recurrent families: embedding, layers that read their own past, output."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import nn

from lmviz.models.neural import NeuralModel, output_stages
from lmviz.models.operations import Linear, Row, TokenLookup
from lmviz.models.recurrent_configuration import RecurrentConfiguration
from lmviz.models.tap import Operation, Stage, Tap, Value, Weight


class RecurrentModel(NeuralModel):
    """Stacked recurrent layers between an embedding and an output (Mikolov et al. 2010).

    `recurrence` is PyTorch's fused module; its parameters are what the taps name. Its state is a tensor
    (layer, batch, unit), or a tuple of two for the LSTM.
    """

    recurrent = True
    configuration: RecurrentConfiguration
    recurrence: nn.RNNBase

    def __init__(self, configuration: RecurrentConfiguration, vocabulary_size: int) -> None:
        super().__init__(
            configuration,
            vocabulary_size,
            channels=configuration.embedding_width,
            features=configuration.width,
            tied=configuration.tied,
            output_bias=True,
        )
        self.recurrence = self._build(
            input_size=configuration.embedding_width,
            hidden_size=configuration.width,
            num_layers=configuration.layers,
            dropout=configuration.dropout if configuration.layers > 1 else 0.0,
            batch_first=True,
        )
        self.dropout = nn.Dropout(configuration.dropout)
        if configuration.tied:
            # Rows of PyTorch's usual length would make a new model very sure of itself.
            nn.init.normal_(self.embedding.weight, std=configuration.width**-0.5)

    @abstractmethod
    def _build(self, **sizes: Any) -> nn.RNNBase:
        """PyTorch's module of this family."""

    @abstractmethod
    def _layer_taps(self, layer: int) -> tuple[Tap, ...]:
        """The taps of one layer, the last one its hidden state."""

    @abstractmethod
    def _layer_stages(self, layer: int) -> tuple[Stage, ...]:
        """The stages of one layer at one position."""

    def features(self, tokens: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, Any]:
        """The top layer's hidden states (batch, position, unit), and the state after the last token."""
        hidden, state = self._recur(self.dropout(self.embedding(tokens)), state)
        return self.dropout(hidden), state

    def _recur(self, inputs: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        return self.recurrence(inputs, state)

    def taps(self) -> tuple[Tap, ...]:
        """Embedding; each layer as a scan over positions; logits; probabilities."""
        layers = range(self.configuration.layers)
        return (
            Tap("embedding", ("position", "channel"), TokenLookup(Weight("embedding.weight"))),
            *(tap for layer in layers for tap in self._layer_taps(layer)),
            *self.output_taps("hidden state", f"layers/{layers[-1]}/hidden"),
        )

    def stages(self) -> tuple[Stage, ...]:
        """What happens at each position, from the token to the distribution of the next."""
        layers = range(self.configuration.layers)
        embedding = Stage("Embedding", r"\mathbf{x}_t = E_{w_t}", ("embedding",), (), "embedding", True)
        return (
            embedding,
            *(stage for layer in layers for stage in self._layer_stages(layer)),
            *output_stages(
                (f"layers/{layers[-1]}/hidden",),
                r"\mathbf{y}_t = V \mathbf{h}_t + \mathbf{b}",
                by_position=True,
            ),
        )

    def _below(self, layer: int) -> str:
        return f"layers/{layer - 1}/hidden" if layer else "embedding"

    def _previous(self, layer: int, name: str = "hidden") -> Value:
        return Value(f"layers/{layer}/{name}", shift=-1, width=self.configuration.width)

    def _rows(self, gate: int) -> tuple[int, int]:
        width = self.configuration.width
        return gate * width, (gate + 1) * width

    def _from_input(self, layer: int, gate: int) -> Linear:
        rows = self._rows(gate)
        return Linear(
            "input",
            Row(Value(self._below(layer))),
            Weight(f"recurrence.weight_ih_l{layer}", rows),
            Weight(f"recurrence.bias_ih_l{layer}", rows),
        )

    def _from_previous(self, layer: int, gate: int, reset: Value | None = None) -> Linear:
        rows = self._rows(gate)
        return Linear(
            "previous state",
            Row(self._previous(layer)),
            Weight(f"recurrence.weight_hh_l{layer}", rows),
            Weight(f"recurrence.bias_hh_l{layer}", rows),
            gate=reset,
        )

    def _tap(self, layer: int, name: str, operation: Operation, scale: str = "signed") -> Tap:
        return Tap(f"layers/{layer}/{name}", ("position", "unit"), operation, scale, scan=f"layers/{layer}")

    def _stage(self, layer: int, title: str, equation: str, result: str, *operands: str | Value) -> Stage:
        """A stage of a layer; what the position before has handed on is given as a `Value` with its shift."""
        read = [Value(operand) if isinstance(operand, str) else operand for operand in operands]
        return Stage(
            title,
            equation,
            (f"layers/{layer}/{result}",),
            tuple(operand.address for operand in read),
            f"layers/{layer}",
            by_position=True,
            shifts=tuple(operand.shift for operand in read),
        )
