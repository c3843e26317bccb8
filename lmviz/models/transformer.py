"""The decoder-only Transformer (Vaswani et al. 2017; Radford et al. 2019)."""

from __future__ import annotations

import torch
from torch import nn

from lmviz.base.errors import LmvizError
from lmviz.models.arithmetic import FUNCTIONS
from lmviz.models.neural import NeuralModel
from lmviz.models.operations.attention import is_seen
from lmviz.models.pooling import Pooling, is_padding
from lmviz.models.positions import distance_bias, distance_rows, rotations, rotations_by_row, sinusoids
from lmviz.models.precision import StoredLinear, widened
from lmviz.models.prediction import NEXT_TOKEN, Prediction
from lmviz.models.rotary import Rotary
from lmviz.models.tap import Stage, Tap
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.models.transformer_layers import (
    Attending,
    KeysAndValues,
    KeyValueCache,
    Layer,
    initialise,
    norm_of,
)
from lmviz.models.transformer_stages import transformer_stages
from lmviz.models.transformer_taps import transformer_taps


class TransformerModel(NeuralModel):
    """A language model of Transformer layers with causal attention."""

    family = "transformer"
    configuration: TransformerConfiguration

    def __init__(
        self,
        configuration: TransformerConfiguration,
        vocabulary_size: int,
        predicts: Prediction = NEXT_TOKEN,
    ) -> None:
        end = transformer_taps(configuration)[-1].address
        narrow, width = configuration.embedding_channels, configuration.width
        pooling = Pooling(configuration.pooling, narrow, end) if predicts.per == "text" else None
        super().__init__(
            configuration,
            vocabulary_size,
            channels=narrow,
            features=narrow,
            tied=configuration.tied,
            output_bias=configuration.output_bias,
            output_function=configuration.logit_function,
            predicts=predicts,
            pooling=pooling,
        )
        self.context = configuration.context
        self.causal = configuration.causal
        has_own_width = configuration.embedding_width > 0
        self.embedding_input = StoredLinear(narrow, width, bias=False) if has_own_width else None
        self.embedding_output = StoredLinear(width, narrow, bias=False) if has_own_width else None
        learned = configuration.positions == "learned"
        rows = configuration.context + configuration.position_offset
        self.positions = nn.Embedding(rows, configuration.width) if learned else None
        self.embedding_norm = norm_of(configuration) if configuration.embedding_norm else None
        relative = configuration.positions == "relative"
        self.distances = nn.Embedding(configuration.distances, configuration.heads) if relative else None
        self.layers = nn.ModuleList(Layer(configuration, layer) for layer in range(configuration.layers))
        self._kinds = tuple(
            (configuration.rotary_of(layer), configuration.window_of(layer))
            for layer in range(configuration.layers)
        )
        self.norm = norm_of(configuration) if configuration.norm_ends else None
        self.dropout = nn.Dropout(configuration.dropout)
        initialise(self, configuration)

    @property
    def reads_alone(self) -> bool:
        return super().reads_alone or self.configuration.depends_on_length

    def features(
        self, tokens: torch.Tensor, state: KeyValueCache | None = None, lengths: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, KeyValueCache]:
        """The end of the residual stream (batch, position, channel), and the cache with these tokens too."""
        start = 0 if state is None else len(state)
        end = start + tokens.shape[1]
        if end > self.configuration.context:
            raise LmvizError(
                f"The text has {end} tokens, but this model looks at {self.configuration.context} at most: "
                "shorten the text or train a model with a longer context."
            )
        if state is not None and not self.reads_alike(start, end):
            assert state.tokens is not None  # kept for this
            stream, cache = self.features(torch.cat([state.tokens, tokens], dim=1), None, lengths)
            return stream[:, start:], cache
        stream = self.dropout(self._embed(tokens, start, end))
        attending = {
            kind: self._attending(start, end, stream, lengths, *kind) for kind in dict.fromkeys(self._kinds)
        }
        kept = []
        for index in range(len(self.layers)):
            past = None if state is None else state.layers[index]
            stream, keys_and_values = self.through_layer(index, stream, attending[self._kinds[index]], past)
            kept.append(keys_and_values)
        stream = stream if self.norm is None else self.norm(stream)
        if self.embedding_output is not None:
            stream = self.embedding_output(stream)
        if not self.configuration.depends_on_length:
            return stream, KeyValueCache(tuple(kept))
        read = tokens if state is None or state.tokens is None else torch.cat([state.tokens, tokens], dim=1)
        return stream, KeyValueCache(tuple(kept), read)

    def through_layer(
        self, index: int, stream: torch.Tensor, attending: Attending, past: KeysAndValues | None
    ) -> tuple[torch.Tensor, KeysAndValues]:
        """The residual stream (batch, position, channel) after a layer, and its keys and values."""
        found: tuple[torch.Tensor, KeysAndValues] = self.layers[index](stream, attending, past)
        return found

    def _embed(self, tokens: torch.Tensor, start: int, end: int) -> torch.Tensor:
        configuration = self.configuration
        embedded = widened(self.embedding(tokens))
        if configuration.embedding_scale != 1:
            embedded = embedded * configuration.embedding_scale
        if self.embedding_input is not None:
            embedded = self.embedding_input(embedded)
        if self.positions is not None:
            offset = configuration.position_offset
            embedded = embedded + widened(self.positions.weight[offset + start : offset + end])
        elif configuration.positions == "sinusoidal":
            embedded = embedded + sinusoids(end, configuration.width)[start:end].to(embedded)
        return embedded if self.embedding_norm is None else self.embedding_norm(embedded)

    def _attending(
        self,
        start: int,
        end: int,
        stream: torch.Tensor,
        lengths: torch.Tensor | None,
        rotary: Rotary | None,
        window: int,
    ) -> Attending:
        configuration = self.configuration
        turns = mask = None
        pairs = configuration.rotary_pairs
        if rotary is not None:
            if lengths is None or not rotary.depends_on_length:
                angles = rotations(end, rotary)
            else:
                angles = rotations_by_row(end, lengths.tolist(), rotary)
            turns = angles[..., start:end, :].to(stream)
        if not configuration.causal:
            return Attending(turns, self._all_seen(end, stream, lengths), causal=False, pairs=pairs)
        biases = self._biases(end, stream)
        is_masked = (start and end - start > 1) or (window and end > window) or configuration.score_cap
        if biases is not None or is_masked:
            mask = is_seen(end - start, end, start, window, stream.device)
        if biases is not None and mask is not None:
            mask = biases[:, start:].masked_fill(~mask, -torch.inf)
        return Attending(turns, mask, causal=mask is None and start == 0, pairs=pairs)

    def _all_seen(
        self, positions: int, stream: torch.Tensor, lengths: torch.Tensor | None
    ) -> torch.Tensor | None:
        """The mask where every word looks at all others, padding left out; None where it hides nothing."""
        padding = None if lengths is None else is_padding(lengths, positions)[:, None, None]
        biases = self._biases(positions, stream)
        if biases is None:
            return None if padding is None else ~padding
        return biases if padding is None else biases.masked_fill(padding, -torch.inf)

    def _biases(self, positions: int, stream: torch.Tensor) -> torch.Tensor | None:
        """What is added to scores by the distance from query to key, (head, query, key), if anything is."""
        both_ways = not self.configuration.causal
        if self.distances is not None:
            rows = distance_rows(positions, self.configuration.distances, stream.device, both_ways=both_ways)
            return widened(self.distances(rows)).permute(2, 0, 1).to(stream)
        if self.configuration.positions == "alibi":
            alibi = self.configuration.alibi
            return distance_bias(alibi, positions, stream.device, both_ways=both_ways).to(stream)
        return None

    def taps(self) -> tuple[Tap, ...]:
        """Embeddings; each layer's norm, attention, feed-forward network and residuals; norm; logits."""
        return transformer_taps(self.configuration) + self.output_taps("residual stream", self._stream)

    @property
    def _stream(self) -> str:
        """The tap that logits are made of."""
        return transformer_taps(self.configuration)[-1].address

    def stages(self) -> tuple[Stage, ...]:
        """The steps from the tokens to the distribution, layer by layer, as they are wired."""
        matrix = "W" if self.output.weight is not None else "E"
        end = r"\mathbf{n}" if self.norm is not None or self.configuration.norm == "post" else r"\mathbf{x}"
        end = r"\mathbf{o}" if self.embedding_output is not None else end
        scores = rf"{matrix} {end}_t" + (r" + \mathbf{b}" if self.output.bias is not None else "")
        equation = rf"\mathbf{{y}}_t = {FUNCTIONS[self.output_function].latex.format(scores)}"
        return transformer_stages(self.configuration) + self.output_stages((self._stream,), equation)
