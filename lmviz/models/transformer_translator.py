"""The Transformer as it was first made, an encoder and a decoder (Vaswani et al. 2017), pre- or post-norm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn

from lmviz.base.errors import LmvizError, SettingError
from lmviz.models.operations.attention import for_each_head
from lmviz.models.pooling import is_padding
from lmviz.models.positions import sinusoids
from lmviz.models.precision import StoredLinear, attention_mixture
from lmviz.models.tap import Stage, Tap
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.models.transformer_layers import (
    Attending,
    Attention,
    FeedForward,
    KeysAndValues,
    KeyValueCache,
    Layer,
    initialise,
    norm_of,
)
from lmviz.models.transformer_translator_stages import translator_stages
from lmviz.models.transformer_translator_taps import translator_taps
from lmviz.models.translator import Translator

ONLY_ALONE = (
    "position_offset",
    "embedding_factor",
    "embedding_width",
    "embedding_norm",
    "attention_window",
    "score_scale",
    "score_scale_by_layer",
    "score_cap",
    "attention_clip",
    "query_key_norm",
    "residual_factor",
    "logit_factor",
    "logit_cap",
    "output_bias",
)
"""Settings that only a Transformer with one text has."""


@dataclass(frozen=True, eq=False)
class WrittenSoFar:
    """The state of a decoder: the source's keys and values for each layer, which of its places are hidden
    from whom, (batch, 1, 1, source) or None, and the text's own keys and values."""

    source: tuple[KeysAndValues, ...]
    seen: torch.Tensor | None
    text: KeyValueCache | None


class CrossAttention(nn.Module):
    """Queries of the text, keys and values of the source."""

    def __init__(self, configuration: TransformerConfiguration) -> None:
        super().__init__()
        width, head, biases = configuration.width, configuration.head_width, configuration.attention_bias
        self.head_width, self.dropout = head, configuration.dropout
        self.shared = configuration.heads // configuration.groups
        self.norm = norm_of(configuration)
        self.query = StoredLinear(
            width, configuration.heads * head, bias=biases in ("all", "query key value")
        )
        self.key = StoredLinear(width, configuration.groups * head, bias=biases in ("all", "query key value"))
        self.value = StoredLinear(
            width, configuration.groups * head, bias=biases in ("all", "query key value")
        )
        self.output = StoredLinear(configuration.heads * head, width, bias=biases in ("all", "output"))

    def _heads(self, values: torch.Tensor) -> torch.Tensor:
        """(batch, head, position, channel)."""
        return values.unflatten(-1, (-1, self.head_width)).transpose(1, 2)

    def read(self, source: torch.Tensor) -> KeysAndValues:
        """Keys and values of what the encoder has made of a source, (batch, source, channel)."""
        return self._heads(self.key(source)), self._heads(self.value(source))

    def forward(self, stream: torch.Tensor, source: KeysAndValues, seen: torch.Tensor | None) -> torch.Tensor:
        """(batch, position, channel)."""
        keys, values = (for_each_head(part, self.shared) for part in source)
        dropout = self.dropout if self.training else 0.0
        mixed = attention_mixture(self._heads(self.query(stream)), keys, values, seen, dropout=dropout)
        return self.output(mixed.transpose(1, 2).flatten(2))


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the source, feed-forward network, each added to the stream."""

    def __init__(self, configuration: TransformerConfiguration) -> None:
        super().__init__()
        self.norm_first = configuration.norm == "pre"
        self.norm1 = norm_of(configuration)
        self.attention = Attention(configuration)
        self.cross = CrossAttention(configuration)
        self.norm2 = norm_of(configuration)
        self.feedforward = FeedForward(configuration)
        self.dropout = nn.Dropout(configuration.dropout)

    def forward(
        self,
        stream: torch.Tensor,
        attending: Attending,
        past: KeysAndValues | None,
        source: KeysAndValues,
        seen: torch.Tensor | None,
    ) -> tuple[torch.Tensor, KeysAndValues]:
        """The residual stream (batch, position, channel) after this layer, and its own keys and values."""
        if self.norm_first:
            attended, kept = self.attention(self.norm1(stream), attending, past)
            stream = stream + self.dropout(attended)
            stream = stream + self.dropout(self.cross(self.cross.norm(stream), source, seen))
            return stream + self.dropout(self.feedforward(self.norm2(stream))), kept
        attended, kept = self.attention(stream, attending, past)
        stream = self.norm1(stream + self.dropout(attended))
        stream = self.cross.norm(stream + self.dropout(self.cross(stream, source, seen)))
        return self.norm2(stream + self.dropout(self.feedforward(stream))), kept


class LayerStack(nn.Module):
    """The layers of an encoder or of a decoder, the positions before them, and the norm behind them."""

    def __init__(self, configuration: TransformerConfiguration, layers: Iterable[nn.Module]) -> None:
        super().__init__()
        self.configuration = configuration
        learned = configuration.positions == "learned"
        self.positions = nn.Embedding(configuration.context, configuration.width) if learned else None
        self.layers = nn.ModuleList(layers)
        self.norm = norm_of(configuration) if configuration.norm == "pre" else None

    def placed(self, embedded: torch.Tensor, start: int) -> torch.Tensor:
        """Embeddings (batch, position, channel) with their positions, the first of which is `start`."""
        end = start + embedded.shape[1]
        if end > self.configuration.context:
            raise LmvizError(
                f"The text has {end} tokens, but this model looks at {self.configuration.context} at most: "
                "shorten the text or train a model with a longer context."
            )
        if self.positions is not None:
            return embedded + self.positions.weight[start:end]
        if self.configuration.positions == "sinusoidal":
            table = sinusoids(end, self.configuration.width)
            return embedded * self.configuration.embedding_scale + table[start:end].to(embedded)
        return embedded

    def ended(self, stream: torch.Tensor) -> torch.Tensor:
        """The end of the stream."""
        return stream if self.norm is None else self.norm(stream)


class TransformerTranslator(Translator):
    """An encoder without a mask, and a decoder that reads it through cross-attention."""

    family = "transformer"
    configuration: TransformerConfiguration

    def __init__(
        self, configuration: TransformerConfiguration, vocabulary_size: int, source_vocabulary: int
    ) -> None:
        _check(configuration)
        super().__init__(
            configuration,
            vocabulary_size,
            source_vocabulary,
            channels=configuration.width,
            features=configuration.width,
            tied=configuration.tied,
        )
        self.context = configuration.context
        depth = range(configuration.layers)
        self.source_embedding = nn.Embedding(source_vocabulary, configuration.width)
        self.encoder = LayerStack(configuration, (Layer(configuration) for _ in depth))
        self.decoder = LayerStack(configuration, (DecoderLayer(configuration) for _ in depth))
        self.dropout = nn.Dropout(configuration.dropout)
        self.alignment = f"decoder/layers/{configuration.layers - 1}/cross/weights"
        initialise(self, configuration)

    def check_source(self, ids: np.ndarray) -> None:
        """LmvizError for more tokens than the encoder has places for."""
        if len(ids) > self.configuration.context:
            raise LmvizError(
                f"The source has {len(ids)} tokens, but this model looks at {self.configuration.context} at "
                "most: shorten the source or train a model with a longer context."
            )

    def encoded(self, source: torch.Tensor, seen: torch.Tensor | None) -> torch.Tensor:
        """What the encoder makes of a source, (batch, source, channel)."""
        stream = self.dropout(self.encoder.placed(self.source_embedding(source), 0))
        attending = Attending(None, seen, causal=False)
        for layer in self.encoder.layers:
            stream, _ = layer(stream, attending, None)
        return self.encoder.ended(stream)

    def begin(self, source: torch.Tensor, lengths: torch.Tensor | None = None) -> WrittenSoFar:
        """See Translator."""
        seen = None if lengths is None else ~is_padding(lengths, source.shape[1])[:, None, None]
        read = self.encoded(source, seen)
        crossed = tuple(layer.get_submodule("cross") for layer in self.decoder.layers)
        memory = tuple(cross.read(read) for cross in crossed if isinstance(cross, CrossAttention))
        return WrittenSoFar(memory, seen, None)

    def features(
        self, tokens: torch.Tensor, state: WrittenSoFar | None = None, lengths: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, WrittenSoFar]:
        """The end of the decoder's stream (batch, position, channel), and the state with these tokens too."""
        begun: WrittenSoFar = self._begun(None, None) if state is None else state
        start = 0 if begun.text is None else len(begun.text)
        stream = self.dropout(self.decoder.placed(self.embedding(tokens), start))
        mask, count = None, tokens.shape[1]
        if start and count > 1:
            mask = torch.ones(count, start + count, dtype=torch.bool, device=stream.device).tril(start)
        attending = Attending(None, mask, causal=not start)
        kept = []
        for index, layer in enumerate(self.decoder.layers):
            past = None if begun.text is None else begun.text.layers[index]
            stream, own = layer(stream, attending, past, begun.source[index], begun.seen)
            kept.append(own)
        return self.decoder.ended(stream), replace(begun, text=KeyValueCache(tuple(kept)))

    def taps(self) -> tuple[Tap, ...]:
        """The encoder's along the source, the decoder's along the text, logits, probabilities."""
        return translator_taps(self.configuration) + self.output_taps("residual stream", self._stream)

    @property
    def _stream(self) -> str:
        """The tap that logits are made of."""
        last = f"decoder/layers/{self.configuration.layers - 1}/norm2"
        return last if self.decoder.norm is None else "decoder/norm"

    def stages(self) -> tuple[Stage, ...]:
        """The steps from both sequences to the distribution, layer by layer, as they are wired."""
        matrix = "W" if self.output.weight is not None else "E"
        equation = rf"\mathbf{{y}}_t = {matrix} \mathbf{{n}}_t + \mathbf{{b}}"
        return translator_stages(self.configuration) + self.output_stages((self._stream,), equation)


def _check(configuration: TransformerConfiguration) -> None:
    """SettingError for what only a Transformer with one text has."""
    if configuration.positions in ("rotary", "alibi", "relative"):
        raise SettingError(
            f"A Transformer that translates has no {configuration.positions} positions, because "
            "there is no distance between two texts: choose learned or sinusoidal ones.",
            "positions",
        )
    if configuration.norm not in ("pre", "post"):
        raise SettingError(
            "A Transformer that translates is normalised before or after its sublayers: choose pre-norm or "
            "post-norm.",
            "norm",
        )
    usual = TransformerConfiguration()
    for name in ONLY_ALONE:
        if getattr(configuration, name) != getattr(usual, name):
            raise SettingError(
                f"A Transformer that translates has no {name}: leave it at {getattr(usual, name)}.", name
            )
    if not configuration.residual:
        raise SettingError(
            "A Transformer that translates has residual connections: set residual to true.", "residual"
        )
    if configuration.attention_alone:
        raise SettingError(
            "A Transformer that translates has feed-forward networks: set attention_alone to false.",
            "attention_alone",
        )
    if configuration.parallel:
        raise SettingError(
            "The sublayers of a Transformer that translates come one after the other: set parallel to false.",
            "parallel",
        )
