"""The decoder-only Transformer (Vaswani et al. 2017; Radford et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from lmviz.base.errors import LmvizError
from lmviz.models.arithmetic import FUNCTIONS
from lmviz.models.neural import NeuralModel
from lmviz.models.operations.attention import for_each_head
from lmviz.models.pooling import Pooling, is_padding
from lmviz.models.positions import distance_bias, distance_rows, rotate, rotations, sinusoids
from lmviz.models.precision import StoredLinear, widened
from lmviz.models.prediction import NEXT_TOKEN, Prediction
from lmviz.models.tap import Stage, Tap
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.models.transformer_stages import transformer_stages
from lmviz.models.transformer_taps import transformer_taps

INITIAL_DEVIATION = 0.02
"""Standard deviation of new embeddings (Radford et al. 2019)."""


@dataclass(frozen=True)
class KeyValueCache:
    """What attention needs of the tokens read so far: each layer's keys and values.

    Each is (batch, head of keys and values, position, channel); keys are turned already where positions are
    rotary.
    """

    layers: tuple[tuple[torch.Tensor, torch.Tensor], ...]

    def __len__(self) -> int:
        """The number of positions read so far."""
        return self.layers[0][0].shape[2]


@dataclass(frozen=True)
class Attending:
    """What all layers of one pass need to know besides their input.

    `turns` are rotary angles of the new positions, `mask` is added to scores (or forbids, when boolean);
    without it attention is causal over the given tokens, or looks at all of them.
    """

    turns: torch.Tensor | None
    mask: torch.Tensor | None
    causal: bool


class Attention(nn.Module):
    """Causal self-attention with several heads; one matrix makes queries, keys and values together.

    Where there are fewer heads of keys and values, each is shared by a group of heads (Ainslie et al. 2023).
    """

    def __init__(self, configuration: TransformerConfiguration) -> None:
        super().__init__()
        self.dropout = configuration.dropout
        self.head_width = configuration.head_width
        self.heads, self.groups = configuration.heads, configuration.groups
        mixed, shared = self.heads * self.head_width, self.groups * self.head_width
        self.units = (mixed, shared, shared)  # of queries, keys and values
        width, biases = configuration.width, configuration.attention_bias
        self.input = StoredLinear(width, sum(self.units), bias=biases != "none")
        self.output = StoredLinear(mixed, width, bias=biases == "all")

    def forward(
        self, read: torch.Tensor, attending: Attending, past: tuple[torch.Tensor, torch.Tensor] | None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """(batch, position, channel), and all keys and values so far."""
        query, key, value = (
            part.unflatten(-1, (-1, self.head_width)).transpose(1, 2)  # (batch, head, position, channel)
            for part in self.input(read).split(self.units, dim=-1)
        )
        if attending.turns is not None:
            query, key = rotate(query, attending.turns), rotate(key, attending.turns)
        if past is not None:
            key, value = torch.cat([past[0], key], dim=2), torch.cat([past[1], value], dim=2)
        shared = self.heads // self.groups
        mixed = functional.scaled_dot_product_attention(
            query,
            for_each_head(key, shared),
            for_each_head(value, shared),
            attn_mask=attending.mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=attending.causal,
        )
        return self.output(mixed.transpose(1, 2).flatten(2)), (key, value)


class FeedForward(nn.Module):
    """Two layers with a function between them, or a gate, the same at every position."""

    def __init__(self, configuration: TransformerConfiguration) -> None:
        super().__init__()
        width, units, bias = (
            configuration.width,
            configuration.feedforward_width,
            configuration.feedforward_bias,
        )
        self.gate = StoredLinear(width, units, bias=bias) if configuration.gated else None
        self.hidden = StoredLinear(width, units, bias=bias)
        self.output = StoredLinear(units, width, bias=bias)
        self.activation = FUNCTIONS[configuration.function].tensor

    def forward(self, read: torch.Tensor) -> torch.Tensor:
        """(batch, position, channel)."""
        if self.gate is not None:
            return self.output(self.activation(self.gate(read)) * self.hidden(read))
        return self.output(self.activation(self.hidden(read)))


def norm_of(configuration: TransformerConfiguration) -> nn.Module:
    """The normalisation of the stream, inside a layer or at the end; without one, what changes nothing."""
    if configuration.norm == "none":
        return nn.Identity()
    if configuration.norm_kind == "rms":
        return nn.RMSNorm(configuration.width, configuration.norm_epsilon)
    return nn.LayerNorm(configuration.width, configuration.norm_epsilon, bias=configuration.norm_bias)


class Layer(nn.Module):
    """Attention and feed-forward network, in turn or side by side.

    Each is added to the residual stream; without residual connections it takes the stream's place.
    """

    def __init__(self, configuration: TransformerConfiguration) -> None:
        super().__init__()
        self.norm_last = configuration.norm == "post"
        self.residual = configuration.residual
        self.parallel = configuration.parallel
        self.norm1 = norm_of(configuration)
        self.attention = Attention(configuration)
        self.norm2 = norm_of(configuration)
        self.feedforward = FeedForward(configuration)
        self.dropout = nn.Dropout(configuration.dropout)

    def forward(
        self, stream: torch.Tensor, attending: Attending, past: tuple[torch.Tensor, torch.Tensor] | None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """The residual stream (batch, position, channel) after this layer, and its keys and values."""
        if self.norm_last:
            attended, kept = self.attention(stream, attending, past)
            stream = self.norm1(self._onto(stream, attended))
            return self.norm2(self._onto(stream, self.feedforward(stream))), kept
        attended, kept = self.attention(self.norm1(stream), attending, past)
        read = stream
        stream = self._onto(stream, attended)
        if self.parallel:
            return stream + self.dropout(self.feedforward(self.norm2(read))), kept
        return self._onto(stream, self.feedforward(self.norm2(stream))), kept

    def _onto(self, stream: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
        """The stream after a sublayer with this result."""
        return stream + self.dropout(result) if self.residual else self.dropout(result)


def initialise(model: NeuralModel, configuration: TransformerConfiguration) -> None:
    """Matrices that read the residual stream keep its variance; those that add to it begin small.

    The latter are those of GPT-2 (Radford et al. 2019); its reading matrices are made for widths near a
    thousand, and too small for a small model's attention to find its feet. Where sums are normalised
    afterwards, quiet layers would not be heard above the embedding, and where nothing is added up they would
    silence the stream, so that there all matrices keep variances (Glorot & Bengio 2010).

    A language model's tables are as small as GPT-2's. All others learn more in the same time (measured) from
    tables and outputs as PyTorch draws them, where words and positions are as loud as one another; a table
    that is tied, and the positions beside it, keep the length of a row near 1, for it scores tokens too.
    """
    reading = configuration.width**-0.5
    adding = INITIAL_DEVIATION / (2 * configuration.layers) ** 0.5
    tied = model.output.weight is None
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif "norm" in name:
            nn.init.ones_(parameter)
        elif "layers." in name:
            if configuration.norm == "post" or not configuration.residual:
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.normal_(parameter, std=adding if "output" in name else reading)
        elif model.task == "next-token" or name == "distances.weight":
            nn.init.normal_(parameter, std=INITIAL_DEVIATION)
        elif name.endswith(("embedding.weight", "positions.weight")):
            of_output = tied and name in ("embedding.weight", "decoder.positions.weight")
            nn.init.normal_(parameter, std=reading if of_output else 1 / configuration.embedding_scale)


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
        pooling = Pooling(configuration.pooling, configuration.width, end) if predicts.per == "text" else None
        super().__init__(
            configuration,
            vocabulary_size,
            channels=configuration.width,
            features=configuration.width,
            tied=configuration.tied,
            output_bias=False,
            predicts=predicts,
            pooling=pooling,
        )
        self.context = configuration.context
        self.causal = configuration.causal
        learned = configuration.positions == "learned"
        self.positions = nn.Embedding(configuration.context, configuration.width) if learned else None
        relative = configuration.positions == "relative"
        self.distances = nn.Embedding(configuration.distances, configuration.heads) if relative else None
        self.layers = nn.ModuleList(Layer(configuration) for _ in range(configuration.layers))
        self.norm = norm_of(configuration) if configuration.norm == "pre" else None
        self.dropout = nn.Dropout(configuration.dropout)
        initialise(self, configuration)

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
        stream = self.dropout(self._embed(tokens, start, end))
        attending = self._attending(start, end, stream, lengths)
        kept = []
        for index, layer in enumerate(self.layers):
            stream, keys_and_values = layer(stream, attending, None if state is None else state.layers[index])
            kept.append(keys_and_values)
        return stream if self.norm is None else self.norm(stream), KeyValueCache(tuple(kept))

    def _embed(self, tokens: torch.Tensor, start: int, end: int) -> torch.Tensor:
        embedded = widened(self.embedding(tokens))
        if self.positions is not None:
            return embedded + widened(self.positions.weight[start:end])
        if self.configuration.positions == "sinusoidal":
            table = sinusoids(end, self.configuration.width)
            return embedded * self.configuration.embedding_scale + table[start:end].to(embedded)
        return embedded

    def _attending(
        self, start: int, end: int, stream: torch.Tensor, lengths: torch.Tensor | None
    ) -> Attending:
        configuration = self.configuration
        turns = mask = None
        if configuration.positions == "rotary":
            turns = rotations(end, configuration.rotary)[:, start:end].to(stream)
        if not configuration.causal:
            return Attending(turns, self._all_seen(end, stream, lengths), causal=False)
        biases = self._biases(end, stream)
        if biases is not None:
            later = torch.ones(end - start, end, dtype=torch.bool, device=stream.device).triu(start + 1)
            mask = biases[:, start:].masked_fill(later, -torch.inf)
        elif start and end - start > 1:
            mask = torch.ones(end - start, end, dtype=torch.bool, device=stream.device).tril(start)
        return Attending(turns, mask, causal=mask is None and start == 0)

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
            heads = self.configuration.heads
            return distance_bias(heads, positions, stream.device, both_ways=both_ways).to(stream)
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
        equation = rf"\mathbf{{y}}_t = {matrix} \mathbf{{n}}_t"
        return transformer_stages(self.configuration) + self.output_stages((self._stream,), equation)
