"""Recurrent encoder and decoder (Sutskever et al. 2014), with or without attention (Bahdanau et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import nn

from lmviz.base.errors import SettingError
from lmviz.models.cell import State, layer_stages, layer_taps, run_layers, weights_of
from lmviz.models.operations import (
    Affine,
    End,
    EndStates,
    Joined,
    Linear,
    Repeated,
    Row,
    Softmax,
    SourceMean,
    SourceScores,
    StateBefore,
    TokenLookup,
)
from lmviz.models.pooling import is_padding
from lmviz.models.recurrent_cells import cell_of
from lmviz.models.recurrent_configuration import RecurrentConfiguration
from lmviz.models.sequences import SOURCE
from lmviz.models.strand import Strand, strands, top
from lmviz.models.tap import Stage, Tap, Value, Weight
from lmviz.models.translator import Translator

EMBEDDING, INPUT, CONTEXT = "decoder/embedding", "decoder/input", "context"
KEYS, SCORES, WEIGHTS = "attention/keys", "attention/scores", "attention/weights"
POSITION, TO_SOURCE = ("position", "unit"), ("position", "source")

DOT_DEVIATION = 0.35
"""Standard deviation of new embeddings that are not tied, where attention is a dot product (measured)."""


@dataclass(frozen=True, eq=False)
class ReadSource:
    """What is known of a source: its states and what scores are made with, (batch, source, unit) each; the
    last state (batch, unit); and which places are padding, (batch, source), None where none is."""

    states: torch.Tensor
    keys: torch.Tensor
    last: torch.Tensor
    padding: torch.Tensor | None


@dataclass(frozen=True, eq=False)
class Written:
    """The state of a decoder: what it knows of the source, and what each of its layers hands on."""

    memory: ReadSource
    layers: tuple[State, ...]


class RecurrentTranslator(Translator):
    """An encoder that reads the source, and a decoder that begins with its last state.

    `encoder` and `decoder` are PyTorch's modules. At each position the decoder reads its word and a context:
    the encoder's last state, or with attention a mean of all of them. Where the encoder reads both ways, its
    last states become the decoder's first through a `bridge` (Bahdanau et al. 2015).
    """

    configuration: RecurrentConfiguration

    def __init__(
        self, configuration: RecurrentConfiguration, vocabulary_size: int, source_vocabulary: int
    ) -> None:
        width, read, layers = configuration.width, configuration.features, configuration.layers
        _check(configuration)
        super().__init__(
            configuration,
            vocabulary_size,
            source_vocabulary,
            channels=configuration.embedding_width,
            features=width,
            tied=configuration.tied,
        )
        self.cell = cell_of(configuration)
        self.family = self.cell.family
        channels = configuration.embedding_width
        self.source_embedding = nn.Embedding(source_vocabulary, channels)
        both = configuration.directions == 2
        sizes = {"hidden_size": width, "num_layers": layers, "batch_first": True}
        self.encoder = self.cell.build(input_size=channels, bidirectional=both, **sizes)
        self.decoder = self.cell.build(input_size=channels + read, **sizes)
        self.bridge = nn.ModuleList(nn.Linear(read, width) for _ in range(layers)) if both else None
        bilinear = configuration.attention == "bilinear"
        self.attention = nn.Linear(read, width, bias=False) if bilinear else None
        self.alignment = "" if configuration.attention == "none" else WEIGHTS
        self.dropout = nn.Dropout(configuration.dropout)
        if configuration.attention == "dot":
            # Its scores are products of the states themselves, and long words would decide them too early.
            nn.init.normal_(self.source_embedding.weight, std=DOT_DEVIATION)
            if not configuration.tied:
                nn.init.normal_(self.embedding.weight, std=DOT_DEVIATION)

    def begin(self, source: torch.Tensor, lengths: torch.Tensor | None = None) -> Written:
        """See Translator."""
        inputs = self.dropout(self.source_embedding(source))
        layers = [self._strands(layer) for layer in range(self.configuration.layers)]
        read = run_layers(self.cell, self.encoder, layers, inputs, lengths, self.dropout)
        ends = [self._ends(states, lengths) for states in read]
        begun = []
        for layer, end in enumerate(ends):
            hidden = end if self.bridge is None else torch.tanh(self.bridge[layer](end))
            begun.append((hidden, *self.cell.start(hidden)[1:]))
        states = self.dropout(read[-1])
        keys = states if self.attention is None else self.attention(states)
        padding = None if lengths is None else is_padding(lengths, source.shape[1])
        return Written(ReadSource(states, keys, ends[-1], padding), tuple(begun))

    def _ends(self, states: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor:
        """The last states (batch, unit) of a layer's recurrences, of states (batch, source, unit)."""
        rows = torch.arange(len(states), device=states.device)
        last = states.shape[1] - 1 if lengths is None else lengths - 1
        parts = zip(self._strands(0), states.chunk(self.configuration.directions, dim=-1), strict=True)
        return torch.cat([part[:, 0] if strand.reverse else part[rows, last] for strand, part in parts], -1)

    def features(
        self, tokens: torch.Tensor, state: Written | None = None, lengths: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Written]:
        """The decoder's top states (batch, position, unit), and the state after the last token."""
        begun: Written = self._begun(None, None) if state is None else state
        words = self.dropout(self.embedding(tokens))
        decode = self._layer_by_layer if self.configuration.attention == "none" else self._step_by_step
        states, layers = decode(words, begun)
        return self.dropout(states), replace(begun, layers=layers)

    def _layer_by_layer(self, words: torch.Tensor, begun: Written) -> tuple[torch.Tensor, tuple[State, ...]]:
        """Without attention no layer needs what a higher one makes of an earlier word."""
        context = begun.memory.last[:, None].expand(-1, words.shape[1], -1)
        inputs, reached = torch.cat([words, context], dim=-1), []
        for layer, start in enumerate(begun.layers):
            inputs = self.dropout(inputs) if layer else inputs
            weights = weights_of(self.decoder, f"_l{layer}")
            inputs, last = self.cell.run(inputs, weights, start, training=self.training)
            reached.append(last)
        return inputs, tuple(reached)

    def _step_by_step(self, words: torch.Tensor, begun: Written) -> tuple[torch.Tensor, tuple[State, ...]]:
        """With attention each position needs the top state of the one before."""
        weights = [weights_of(self.decoder, f"_l{layer}") for layer in range(len(begun.layers))]
        layers, states = list(begun.layers), []
        for word in words.unbind(dim=1):
            inputs = torch.cat([word, _context(begun.memory, layers[-1][0])], dim=-1)
            for layer, state in enumerate(layers):
                layers[layer] = self.cell.step(inputs, weights[layer], state)
                inputs = self.dropout(layers[layer][0])
            states.append(layers[-1][0])
        return torch.stack(states, dim=1), tuple(layers)

    def taps(self) -> tuple[Tap, ...]:
        """The encoder's layers along the source; then the decoder's along the text; logits; probabilities."""
        lookup = TokenLookup(Weight("source_embedding.weight"), sequence=SOURCE)
        depth = range(self.configuration.layers)
        return (
            Tap("encoder/embedding", ("source", "channel"), lookup),
            *(tap for layer in depth for tap in layer_taps(self.cell, self._strands(layer))),
            *(tap for layer in depth for tap in self._start_taps(layer)),
            Tap(EMBEDDING, ("position", "channel"), TokenLookup(Weight("embedding.weight"))),
            *self._decoder_taps(),
            *self.output_taps("hidden state", self._top),
        )

    def _start_taps(self, layer: int) -> tuple[Tap, ...]:
        """What a layer of the decoder begins with."""
        ends = [End(strand.at("hidden").address, strand.reverse) for strand in self._strands(layer)]
        last = Tap(f"encoder/layers/{layer}/last", ("unit",), EndStates(tuple(ends)))
        if self.bridge is None:
            return (last,)
        weight, bias = (Weight(f"bridge.{layer}.{part}") for part in ("weight", "bias"))
        bridge = Affine((Linear("last states", Row(Value(last.address)), weight, bias),), "tanh")
        return (last, Tap(self._start(layer), ("unit",), bridge))

    def _decoder_taps(self) -> tuple[Tap, ...]:
        """One recurrence of attention and all layers; without attention, one for each layer."""
        layers = self._decoder_strands()
        before = [self._before(layer, strand) for layer, strand in enumerate(layers)]
        cells = [self.cell.taps(strand) for strand in layers]
        joined = Joined((EMBEDDING, CONTEXT))
        if self.configuration.attention == "none":
            last = f"encoder/layers/{self.configuration.layers - 1}/last"
            found = [Tap(CONTEXT, POSITION, Repeated(last)), Tap(INPUT, POSITION, joined)]
            return (*found, *(tap for one, cell in zip(before, cells, strict=True) for tap in (one, *cell)))
        keys, found = self._encoded, []
        if self.attention is not None:
            keys = KEYS
            mapped = Affine((Linear("state", Row(Value(self._encoded)), Weight("attention.weight")),))
            found = [Tap(KEYS, ("source", "unit"), mapped)]
        scan = layers[0].scan
        mean = SourceMean(WEIGHTS, self._encoded)
        return (
            *found,
            *before,
            Tap(SCORES, TO_SOURCE, SourceScores(before[-1].address, keys), "score", scan=scan),
            Tap(WEIGHTS, TO_SOURCE, Softmax(SCORES), "share", scan=scan),
            Tap(CONTEXT, POSITION, mean, scan=scan),
            Tap(INPUT, POSITION, joined, scan=scan),
            *(tap for cell in cells for tap in cell),
        )

    def _before(self, layer: int, strand: Strand) -> Tap:
        """The state that a layer of the decoder goes on from."""
        hidden = Value(strand.at("hidden").address, shift=-1, width=strand.width)
        return strand.tap("previous", StateBefore(hidden, self._start(layer)))

    def stages(self) -> tuple[Stage, ...]:
        """What happens to each word of the source, and then to each of the text."""
        depth = range(self.configuration.layers)
        source, logits = r"\mathbf{x}_j = E_{w_j}", r"\mathbf{y}_t = V \mathbf{h}_t + \mathbf{b}"
        return (
            Stage("Source embedding", source, ("encoder/embedding",), (), "encoder/embedding", True),
            *(stage for layer in depth for stage in layer_stages(self.cell, self._strands(layer))),
            *(stage for layer in depth for stage in self._start_stages(layer)),
            Stage("Embedding", r"\mathbf{e}_t = E'_{y_t}", (EMBEDDING,), (), "decoder/embedding", True),
            *self._decoder_stages(),
            *self.output_stages((self._top,), logits, by_position=True),
        )

    def _start_stages(self, layer: int) -> tuple[Stage, ...]:
        place = f"encoder/layers/{layer}"
        ends = tuple(strand.at("hidden").address for strand in self._strands(layer))
        title, equation = "Last state", r"\mathbf{c} = \mathbf{h}^e_n"
        last = Stage(title, equation, (f"{place}/last",), ends, place, at_end=True)
        if self.bridge is None:
            return (last,)
        bridge = r"\mathbf{h}^d_0 = \tanh(W \mathbf{c} + \mathbf{b})"
        start = self._start(layer)
        return (last, Stage("First state", bridge, (start,), last.results, f"decoder/layers/{layer}"))

    def _decoder_stages(self) -> tuple[Stage, ...]:
        layers = self._decoder_strands()
        cells = [self.cell.stages(strand) for strand in layers]
        before = [
            Stage(
                "State before",
                r"\mathbf{h}_{t-1}",
                (f"{strand.place}/previous",),
                (f"{strand.place}/hidden", self._start(layer)),
                strand.place,
                by_position=True,
                shifts=(-1, 0),
            )
            for layer, strand in enumerate(layers)
        ]
        both = r"\mathbf{x}_t = [\mathbf{e}_t, \mathbf{c}_t]"
        joined = Stage("Word and context", both, (INPUT,), (EMBEDDING, CONTEXT), "decoder/input", True)
        if self.configuration.attention == "none":
            context, last = r"\mathbf{c}_t = \mathbf{h}^e_n", f"encoder/layers/{len(layers) - 1}/last"
            same = Stage("Context", context, (CONTEXT,), (last,), "attention", True)
            pairs = zip(before, cells, strict=True)
            return (same, joined, *(stage for one, cell in pairs for stage in (one, *cell)))
        asking = before[-1].results[0]
        keys, found = self._encoded, []
        score = r"s_{tj} = \mathbf{h}_{t-1} \cdot \mathbf{h}^e_j"
        if self.attention is not None:
            keys, score = KEYS, r"s_{tj} = \mathbf{h}_{t-1} \cdot \mathbf{k}_j"
            mapped = r"\mathbf{k}_j = W \mathbf{h}^e_j"
            found = [Stage("Keys", mapped, (KEYS,), (self._encoded,), "attention")]
        softmax = r"\alpha_{tj} = \frac{e^{s_{tj}}}{\sum_i e^{s_{ti}}}"
        mean = r"\mathbf{c}_t = \sum_j \alpha_{tj} \mathbf{h}^e_j"
        return (
            *found,
            *before,
            Stage("Attention scores", score, (SCORES,), (asking, keys), "attention", True),
            Stage("Attention weights", softmax, (WEIGHTS,), (SCORES,), "attention", True),
            Stage("Context", mean, (CONTEXT,), (WEIGHTS, self._encoded), "attention", True),
            joined,
            *(stage for cell in cells for stage in cell),
        )

    @property
    def _top(self) -> str:
        """The tap that logits are made of."""
        return f"decoder/layers/{self.configuration.layers - 1}/hidden"

    @property
    def _encoded(self) -> str:
        """The tap of the source's states."""
        return top(self.configuration.layers - 1, self.configuration.direction, encoder=True)

    def _start(self, layer: int) -> str:
        """The tap that a layer of the decoder begins with."""
        return f"encoder/layers/{layer}/last" if self.bridge is None else f"decoder/layers/{layer}/start"

    def _strands(self, layer: int) -> tuple[Strand, ...]:
        """The recurrences of a layer of the encoder."""
        configuration = self.configuration
        return strands(layer, configuration.direction, configuration.width, encoder=True)

    def _decoder_strands(self) -> list[Strand]:
        """The recurrence of each layer of the decoder."""
        together = "" if self.configuration.attention == "none" else "decoder"
        found: list[Strand] = []
        for layer in range(self.configuration.layers):
            below = found[-1].at("hidden").address if found else INPUT
            place, width = f"decoder/layers/{layer}", self.configuration.width
            strand = Strand(place, below, f"_l{layer}", width, reverse=False, module="decoder")
            found.append(replace(strand, scan=together, begun=True))
        return found


def _context(memory: ReadSource, state: torch.Tensor) -> torch.Tensor:
    """What a state (batch, unit) of the decoder sees of the source, (batch, unit)."""
    scores = (memory.keys @ state[..., None])[..., 0]  # (batch, source)
    if memory.padding is not None:
        scores = scores.masked_fill(memory.padding, -torch.inf)
    return (scores.softmax(dim=-1)[:, None] @ memory.states)[:, 0]


def _check(configuration: RecurrentConfiguration) -> None:
    """SettingError where widths that have to be equal are not."""
    width, read = configuration.width, configuration.features
    if configuration.attention == "dot" and read != width:
        raise SettingError(
            f"A dot product needs states of equal width, but those of a source that is read both ways have "
            f"{read} units and the decoder's {width}: choose bilinear attention, or one direction.",
            "attention",
            "direction",
        )
    if configuration.tied and configuration.embedding_width != width:
        raise SettingError(
            f"A tied output needs an embedding as wide as the decoder's state, but they are "
            f"{configuration.embedding_width} and {width}: set embedding to {width}, or tied to false.",
            "tied",
            "embedding",
            "width",
        )
