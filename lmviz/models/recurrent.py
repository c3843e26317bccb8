"""The common parts of the recurrent families: embedding, layers that read their own past, output."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from lmviz.base.errors import SettingError
from lmviz.models.cell import layer_stages, layer_taps, run_layers
from lmviz.models.neural import NeuralModel
from lmviz.models.operations import End, TokenLookup
from lmviz.models.pooling import Pooling
from lmviz.models.prediction import NEXT_TOKEN, Prediction
from lmviz.models.recurrent_cells import cell_of
from lmviz.models.recurrent_configuration import RecurrentConfiguration
from lmviz.models.strand import BACKWARD, BOTH, FORWARD, Strand, strands, top
from lmviz.models.tap import Stage, Tap, Weight


class RecurrentModel(NeuralModel):
    """Stacked recurrent layers between an embedding and an output (Mikolov et al. 2010).

    Each layer reads from left to right, from right to left, or both ways; then the layer above reads what
    both have found (Schuster & Paliwal 1997; Graves et al. 2013). `cell` is that of the family, which the
    configuration says; `recurrence` is PyTorch's module, whose parameters are what the taps name. Its state
    is a tensor (layer, batch, unit), or a tuple of two for the LSTM; where words after a position are read
    there is none to carry on.
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
        self.cell = cell_of(configuration, predicts)
        self.family = self.cell.family
        self.recurrence = self.cell.build(
            input_size=configuration.embedding_width,
            hidden_size=configuration.width,
            num_layers=configuration.layers,
            dropout=configuration.dropout if configuration.layers > 1 else 0.0,
            batch_first=True,
            bidirectional=direction == BOTH,
        )
        self.dropout = nn.Dropout(configuration.dropout)

    def features(
        self, tokens: torch.Tensor, state: Any = None, lengths: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Any]:
        """The top layer's hidden states (batch, position, unit), and the state after the last token."""
        inputs = self.dropout(self.embedding(tokens))
        if self.causal:
            hidden, state = self.cell.read(self.recurrence, inputs, state, self.dropout)
        else:
            layers = [self._strands(layer) for layer in range(self.configuration.layers)]
            read = run_layers(self.cell, self.recurrence, layers, inputs, lengths, self.dropout)
            hidden, state = read[-1], None
        return self.dropout(hidden), state

    def taps(self) -> tuple[Tap, ...]:
        """Embedding; each layer as scans over positions; logits; probabilities."""
        layers = range(self.configuration.layers)
        return (
            Tap("embedding", ("position", "channel"), TokenLookup(Weight("embedding.weight"))),
            *(tap for layer in layers for tap in layer_taps(self.cell, self._strands(layer))),
            *self.output_taps("hidden state", self._top),
        )

    def stages(self) -> tuple[Stage, ...]:
        """What happens at each position, from the token to the distribution."""
        layers = range(self.configuration.layers)
        embedding = Stage("Embedding", r"\mathbf{x}_t = E_{w_t}", ("embedding",), (), "embedding", True)
        return (
            embedding,
            *(stage for layer in layers for stage in layer_stages(self.cell, self._strands(layer))),
            *self.output_stages(
                (self._top,),
                r"\mathbf{y}_t = V \mathbf{h}_t + \mathbf{b}",
                by_position=True,
            ),
        )

    @property
    def _top(self) -> str:
        """The tap that logits are made of, or pooled."""
        return top(self.configuration.layers - 1, self.configuration.direction)

    def _strands(self, layer: int) -> tuple[Strand, ...]:
        return strands(layer, self.configuration.direction, self.configuration.width)
