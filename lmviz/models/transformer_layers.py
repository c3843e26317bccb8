"""The layers that Transformers are made of, what these keep of a text, and the weights they begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from lmviz.models.arithmetic import FUNCTIONS
from lmviz.models.neural import NeuralModel
from lmviz.models.norms import NormForm
from lmviz.models.operations.attention import for_each_head
from lmviz.models.positions import rotate
from lmviz.models.precision import StoredLinear, attention_mixture
from lmviz.models.transformer_configuration import TransformerConfiguration

INITIAL_DEVIATION = 0.02
"""Standard deviation of new embeddings (Radford et al. 2019)."""


KeysAndValues = tuple[torch.Tensor, torch.Tensor]
"""(batch, head of keys and values, position, channel) each."""


@dataclass(frozen=True)
class KeyValueCache:
    """What attention needs of the tokens read so far: each layer's keys and values.

    Each is (batch, head of keys and values, position, channel); keys are turned already where positions are
    rotary. `tokens` (batch, position) are kept where a longer text may have to be read anew.
    """

    layers: tuple[tuple[torch.Tensor, torch.Tensor], ...]
    tokens: torch.Tensor | None = None

    def __len__(self) -> int:
        """The number of positions read so far."""
        return self.layers[0][0].shape[2]

    @classmethod
    def of_batch(cls, caches: Sequence[KeyValueCache]) -> KeyValueCache:
        """The caches of several texts of one length as that of a batch."""
        layers = zip(*(cache.layers for cache in caches), strict=True)
        read = [cache.tokens for cache in caches if cache.tokens is not None]
        return cls(
            tuple(
                (torch.cat([key for key, _ in layer]), torch.cat([value for _, value in layer]))
                for layer in layers
            ),
            torch.cat(read) if read else None,
        )

    def of_row(self, row: int) -> KeyValueCache:
        """That of one text of the batch."""
        return KeyValueCache(
            tuple((key[row : row + 1], value[row : row + 1]) for key, value in self.layers),
            None if self.tokens is None else self.tokens[row : row + 1],
        )


@dataclass(frozen=True)
class Attending:
    """What all layers of one pass need to know besides their input.

    `turns` are rotary angles of the new positions, and which channels turn together is `pairs`. `mask` is
    added to scores (or forbids, when boolean); without it attention is causal over the given tokens, or looks
    at all of them.
    """

    turns: torch.Tensor | None
    mask: torch.Tensor | None
    causal: bool
    pairs: str = "halves"


class Attention(nn.Module):
    """Causal self-attention with several heads; one matrix makes queries, keys and values together.

    Where there are fewer heads of keys and values, each is shared by a group of heads (Ainslie et al. 2023).
    """

    def __init__(self, configuration: TransformerConfiguration, layer: int = 0) -> None:
        super().__init__()
        self.dropout = configuration.dropout
        self.scale, self.cap = configuration.scale_of(layer), configuration.score_function
        self.clip = FUNCTIONS[configuration.attention_clipping].tensor
        self.head_width = configuration.head_width
        self.heads, self.groups = configuration.heads, configuration.groups
        mixed, shared = self.heads * self.head_width, self.groups * self.head_width
        heads_and_groups = (self.heads, self.groups)
        self.units = (mixed, shared, shared)  # of queries, keys and values
        width, biases = configuration.width, configuration.attention_bias
        self.input = StoredLinear(width, sum(self.units), bias=biases in ("all", "query key value"))
        self.output = StoredLinear(mixed, width, bias=biases in ("all", "output"))
        self.query_norm, self.key_norm = (head_norm_of(configuration, count) for count in heads_and_groups)
        self.normed = norm_of(configuration) if configuration.norm_gives else None

    def forward(
        self, read: torch.Tensor, attending: Attending, past: KeysAndValues | None
    ) -> tuple[torch.Tensor, KeysAndValues]:
        """(batch, position, channel), and all keys and values so far."""
        query, key, value = (
            part.unflatten(-1, (-1, self.head_width)).transpose(1, 2)  # (batch, head, position, channel)
            for part in self.clip(self.input(read)).split(self.units, dim=-1)
        )
        if self.query_norm is not None and self.key_norm is not None:
            query, key = self.query_norm(query), self.key_norm(key)
        if attending.turns is not None:
            query, key = (rotate(part, attending.turns, attending.pairs) for part in (query, key))
        if past is not None:
            key, value = torch.cat([past[0], key], dim=2), torch.cat([past[1], value], dim=2)
        shared = self.heads // self.groups
        mixed = self._mixed(query, for_each_head(key, shared), for_each_head(value, shared), attending)
        given = self.output(mixed.transpose(1, 2).flatten(2))
        return given if self.normed is None else self.normed(given), (key, value)

    def _mixed(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attending: Attending
    ) -> torch.Tensor:
        """The values of all keys, weighted, (batch, head, position, channel)."""
        dropout = self.dropout if self.training else 0.0
        if not self.cap:
            return attention_mixture(
                *(query, key, value, attending.mask),
                dropout=dropout,
                causal=attending.causal,
                scale=self.scale,
            )
        # PyTorch's own attention knows no function of scores.
        scores, mask = query @ key.transpose(-2, -1) * self.scale, attending.mask
        if mask is not None and mask.dtype != torch.bool:
            scores, mask = scores + mask, mask > -torch.inf
        scores = FUNCTIONS[self.cap].tensor(scores)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return functional.dropout(scores.softmax(dim=-1), dropout) @ value


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
        self.normed = norm_of(configuration) if configuration.norm_gives else None

    def forward(self, read: torch.Tensor) -> torch.Tensor:
        """(batch, position, channel)."""
        if self.gate is None:
            given = self.output(self.activation(self.hidden(read)))
        else:
            given = self.output(self.activation(self.gate(read)) * self.hidden(read))
        return given if self.normed is None else self.normed(given)


class Normalisation(nn.Module):
    """Normalisation of a form, with as many gains and biases as it has."""

    weight: nn.Parameter | None
    bias: nn.Parameter | None

    def __init__(self, form: NormForm, width: int, parts: tuple[bool, bool]) -> None:
        super().__init__()
        self.form = form
        for name, there in zip(("weight", "bias"), parts, strict=True):
            self.register_parameter(name, nn.Parameter(torch.zeros(width)) if there else None)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """The shape of `values`."""
        return self.form.of(values, self.weight, self.bias)


def norm_of(configuration: TransformerConfiguration) -> nn.Module:
    """The normalisation of the stream, inside a layer or at the end; without one, what changes nothing."""
    if configuration.norm == "none":
        return nn.Identity()
    return Normalisation(configuration.norm_form, configuration.width, configuration.norm_parts)


def head_norm_of(configuration: TransformerConfiguration, heads: int) -> Normalisation | None:
    """The normalisation of the queries or keys of so many heads, if there is one."""
    if configuration.query_key_norm == "none":
        return None
    gains = configuration.query_key_gains(heads)
    return Normalisation(configuration.query_key_form, gains, configuration.query_key_parts)


class Layer(nn.Module):
    """Attention and feed-forward network, in turn or side by side, or attention alone.

    Each is added to the residual stream; without residual connections it takes the stream's place.
    """

    def __init__(self, configuration: TransformerConfiguration, layer: int = 0) -> None:
        super().__init__()
        self.norm_reads, self.norm_last = configuration.norm_reads, configuration.norm == "post"
        self.residual, self.times = configuration.residual, configuration.residual_factor
        self.parallel, self.norm_is_shared = configuration.parallel, configuration.norm_is_shared
        self.norm1 = norm_of(configuration) if self.norm_reads or self.norm_last else nn.Identity()
        self.attention = Attention(configuration, layer)
        is_alone = configuration.attention_alone
        own = (self.norm_reads and not self.norm_is_shared) or self.norm_last
        self.norm2 = norm_of(configuration) if own and not is_alone else nn.Identity()
        self.feedforward = None if is_alone else FeedForward(configuration)
        self.dropout = nn.Dropout(configuration.dropout)

    def forward(
        self, stream: torch.Tensor, attending: Attending, past: KeysAndValues | None
    ) -> tuple[torch.Tensor, KeysAndValues]:
        """The residual stream (batch, position, channel) after this layer, and its keys and values."""
        if self.norm_last:
            attended, kept = self.attention(stream, attending, past)
            stream = self.norm1(self._onto(stream, attended))
            if self.feedforward is None:
                return stream, kept
            return self.norm2(self._onto(stream, self.feedforward(stream))), kept
        read = self.norm1(stream)
        attended, kept = self.attention(read, attending, past)
        if self.feedforward is None:
            return self._onto(stream, attended), kept
        if self.parallel:
            answered = self.feedforward(read if self.norm_is_shared else self.norm2(stream))
            return self._result(answered) + self._onto(stream, attended), kept
        stream = self._onto(stream, attended)
        return self._onto(stream, self.feedforward(self.norm2(stream))), kept

    def _onto(self, stream: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
        """The stream after a sublayer with this result."""
        return stream + self._result(result) if self.residual else self._result(result)

    def _result(self, result: torch.Tensor) -> torch.Tensor:
        result = self.dropout(result)
        return result if self.times == 1 else result * self.times


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
            nn.init.constant_(parameter, 0.0 if configuration.norm_gain == "one plus weight" else 1.0)
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
