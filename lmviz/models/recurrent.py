"""The common parts of the recurrent families: embedding, layers that read their own past, output."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import nn

from lmviz.errors import SettingError
from lmviz.models.neural import NeuralModel
from lmviz.models.operations import End, Joined, TokenLookup
from lmviz.models.pooling import Pooling
from lmviz.models.prediction import NEXT_TOKEN, Prediction
from lmviz.models.recurrent_configuration import RecurrentConfiguration
from lmviz.models.strand import BACKWARD, BOTH, FORWARD, Strand, strands, top, turned
from lmviz.models.tap import Stage, Tap, Weight


class RecurrentModel(NeuralModel):
    """Stacked recurrent layers between an embedding and an output (Mikolov et al. 2010).

    Each layer reads from left to right, from right to left, or both ways; then the layer above reads what
    both have found (Schuster & Paliwal 1997; Graves et al. 2013). `recurrence` is PyTorch's module; its
    parameters are what the taps name. Its state is a tensor (layer, batch, unit), or a tuple of two for the
    LSTM; where words after a position are read there is none to carry on.
    """

    recurrent = True
    configuration: RecurrentConfiguration
    recurrence: nn.RNNBase

    def __init__(
        self, configuration: RecurrentConfiguration, vocabulary_size: int, predicts: Prediction = NEXT_TOKEN
    ) -> None:
        direction, width = configuration.direction, configuration.features
        if predicts.continues and direction == BACKWARD:
            raise SettingError(
                "A network that reads from right to left has read the next word before it predicts it: "
                "choose direction forward for a language model.",
                "direction",
            )
        last = configuration.layers - 1
        pooling = None
        if predicts.per == "text":
            ends = [
                End(strand.at("hidden").address, strand.reverse)
                for strand in strands(last, direction, configuration.width)
            ]
            pooling = Pooling(configuration.pooling, width, top(last, direction), tuple(ends))
        super().__init__(
            configuration,
            vocabulary_size,
            channels=configuration.embedding_width,
            features=width,
            tied=configuration.tied,
            output_bias=True,
            predicts=predicts,
            pooling=pooling,
        )
        self.causal = direction == FORWARD
        self.recurrent = self.recurrent and self.causal
        self.recurrence = self._build(
            input_size=configuration.embedding_width,
            hidden_size=configuration.width,
            num_layers=configuration.layers,
            dropout=configuration.dropout if configuration.layers > 1 else 0.0,
            batch_first=True,
            bidirectional=direction == BOTH,
        )
        self.dropout = nn.Dropout(configuration.dropout)
        if self.output.weight is None:
            # Rows of PyTorch's usual length would make a new model very sure of itself.
            nn.init.normal_(self.embedding.weight, std=configuration.width**-0.5)

    @abstractmethod
    def _build(self, **sizes: Any) -> nn.RNNBase:
        """PyTorch's module of this family."""

    @abstractmethod
    def _run(self, inputs: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
        """The hidden states (batch, position, unit) of one recurrence from left to right."""

    @abstractmethod
    def _cell_taps(self, strand: Strand) -> tuple[Tap, ...]:
        """The taps of one recurrence, the last one its hidden state."""

    @abstractmethod
    def _cell_stages(self, strand: Strand) -> tuple[Stage, ...]:
        """The stages of one recurrence at one position."""

    def features(
        self, tokens: torch.Tensor, state: Any = None, lengths: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Any]:
        """The top layer's hidden states (batch, position, unit), and the state after the last token."""
        inputs = self.dropout(self.embedding(tokens))
        if self.causal:
            hidden, state = self._recur(inputs, state)
        else:
            hidden, state = self._both_ways(inputs, lengths), None
        return self.dropout(hidden), state

    def _recur(self, inputs: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
        return self.recurrence(inputs, state)

    def _both_ways(self, inputs: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor:
        """The top states (batch, position, unit), each row read from where its text begins and ends.

        A row is turned round and read from left to right, which took 0.6 of the time of PyTorch's packed
        sequences, and no more than reading the padding too.
        """
        for layer in range(self.configuration.layers):
            if layer:
                inputs = self.dropout(inputs)
            states = []
            for strand in self._strands(layer):
                names = [
                    f"{part}{strand.suffix}" for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
                ]
                weights = [getattr(self.recurrence, name) for name in names]
                if strand.reverse:
                    states.append(turned(self._run(turned(inputs, lengths), weights), lengths))
                else:
                    states.append(self._run(inputs, weights))
            inputs = torch.cat(states, dim=-1)
        return inputs

    def taps(self) -> tuple[Tap, ...]:
        """Embedding; each layer as scans over positions; logits; probabilities."""
        layers = range(self.configuration.layers)
        return (
            Tap("embedding", ("position", "channel"), TokenLookup(Weight("embedding.weight"))),
            *(tap for layer in layers for tap in self._layer_taps(layer)),
            *self.output_taps("hidden state", self._top),
        )

    def _layer_taps(self, layer: int) -> tuple[Tap, ...]:
        found = self._strands(layer)
        cells = tuple(tap for strand in found for tap in self._cell_taps(strand))
        if len(found) == 1:
            return cells
        joined = Joined(tuple(strand.at("hidden").address for strand in found))
        return (*cells, Tap(top(layer, BOTH), ("position", "unit"), joined))

    def stages(self) -> tuple[Stage, ...]:
        """What happens at each position, from the token to the distribution."""
        layers = range(self.configuration.layers)
        embedding = Stage("Embedding", r"\mathbf{x}_t = E_{w_t}", ("embedding",), (), "embedding", True)
        return (
            embedding,
            *(stage for layer in layers for stage in self._layer_stages(layer)),
            *self.output_stages(
                (self._top,),
                r"\mathbf{y}_t = V \mathbf{h}_t + \mathbf{b}",
                by_position=True,
            ),
        )

    def _layer_stages(self, layer: int) -> tuple[Stage, ...]:
        found = self._strands(layer)
        cells = tuple(stage for strand in found for stage in self._cell_stages(strand))
        if len(found) == 1:
            return cells
        equation = r"\mathbf{h}_t = [\overrightarrow{\mathbf{h}}_t, \overleftarrow{\mathbf{h}}_t]"
        states = tuple(strand.at("hidden").address for strand in found)
        title, place = "Both directions", f"layers/{layer}"
        return (*cells, Stage(title, equation, (top(layer, BOTH),), states, place, by_position=True))

    @property
    def _top(self) -> str:
        """The tap that logits are made of, or pooled."""
        return top(self.configuration.layers - 1, self.configuration.direction)

    def _strands(self, layer: int) -> tuple[Strand, ...]:
        return strands(layer, self.configuration.direction, self.configuration.width)
