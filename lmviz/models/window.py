"""The neural probabilistic language model over a fixed window (Bengio et al. 2003)."""

from __future__ import annotations

import torch
from torch import nn

from lmviz.models.arithmetic import FUNCTIONS
from lmviz.models.neural import NeuralModel
from lmviz.models.operations import Affine, Linear, TokenLookup, Window
from lmviz.models.prediction import NEXT_TOKEN, Prediction
from lmviz.models.tap import Stage, Tap, Weight
from lmviz.models.window_configuration import WindowConfiguration


class WindowModel(NeuralModel):
    """One hidden layer over the joined embeddings of the last words; before the text there are zeros.

    The state that `advance` carries on is the embeddings of the last `window` - 1 words.
    """

    family = "window"
    configuration: WindowConfiguration

    def __init__(
        self, configuration: WindowConfiguration, vocabulary_size: int, predicts: Prediction = NEXT_TOKEN
    ) -> None:
        joined = configuration.window * configuration.embedding_width
        super().__init__(
            configuration,
            vocabulary_size,
            channels=configuration.embedding_width,
            features=configuration.width,
            tied=False,
            output_bias=True,
            predicts=predicts,
        )
        self.hidden = nn.Linear(joined, configuration.width)
        self.dropout = nn.Dropout(configuration.dropout)
        self.direct = nn.Linear(joined, self.outputs, bias=False) if configuration.direct else None

    @property
    def sight(self) -> int:
        """See Model: the words of the window."""
        return self.configuration.window

    @property
    def output_weight(self) -> torch.Tensor:
        """(token, feature); with direct connections, the joined embeddings are features too."""
        if self.direct is None:
            return super().output_weight
        return torch.cat([super().output_weight, self.direct.weight], dim=1)

    def features(
        self, tokens: torch.Tensor, state: torch.Tensor | None = None, lengths: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The hidden layer (batch, position, unit), behind it the joined embeddings where they are direct."""
        embedded = self.embedding(tokens)  # (batch, position, channel)
        remembered = self.configuration.window - 1
        if state is None:
            state = embedded.new_zeros(len(tokens), remembered, embedded.shape[-1])
        known = torch.cat([state, embedded], dim=1)
        joined = self.dropout(known.unfold(1, remembered + 1, 1).transpose(2, 3).flatten(2))
        hidden = self.dropout(FUNCTIONS[self.configuration.function].tensor(self.hidden(joined)))
        features = hidden if self.direct is None else torch.cat([hidden, joined], dim=-1)
        return features, known[:, known.shape[1] - remembered :]

    def taps(self) -> tuple[Tap, ...]:
        """Embedding, hidden layer, logits, probabilities."""
        joined = Window("embedding", self.configuration.window)
        hidden = Linear("input", joined, Weight("hidden.weight"), Weight("hidden.bias"))
        direct = () if self.direct is None else (Linear("direct", joined, Weight("direct.weight")),)
        return (
            Tap("embedding", ("position", "channel"), TokenLookup(Weight("embedding.weight"))),
            Tap("hidden", ("position", "unit"), Affine((hidden,), self.configuration.function)),
            *self.output_taps("hidden", "hidden", *direct),
        )

    def stages(self) -> tuple[Stage, ...]:
        """Embedding of the window's words, hidden layer, distribution of the next word."""
        joined = r"[\mathbf{x}_{t-n+1}, \ldots, \mathbf{x}_t]"
        preactivation = rf"W {joined} + \mathbf{{b}}"
        hidden = rf"\mathbf{{h}}_t = {FUNCTIONS[self.configuration.function].latex.format(preactivation)}"
        direct = "" if self.direct is None else rf" + D {joined}"
        read = (self.configuration.window,)
        operands, spans = (("hidden",), ()) if self.direct is None else (("hidden", "embedding"), (1, *read))
        return (
            Stage("Embedding", r"\mathbf{x}_t = E_{w_t}", ("embedding",), (), "embedding"),
            Stage("Hidden layer", hidden, ("hidden",), ("embedding",), "hidden", spans=read),
            *self.output_stages(
                operands, rf"\mathbf{{y}}_t = V \mathbf{{h}}_t + \mathbf{{b}}{direct}", spans=spans
            ),
        )
