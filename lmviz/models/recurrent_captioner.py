"""A recurrent network that begins with a picture and writes its caption (Karpathy & Fei-Fei 2015).

The picture enters once, as the first state; all that the network knows of it later has been handed on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from lmviz.models.cell import State, weights_of
from lmviz.models.operations import Affine, Linear, Pixels, Row, StateBefore, TokenLookup
from lmviz.models.precision import widened
from lmviz.models.recurrent_cells import cell_of
from lmviz.models.recurrent_configuration import RecurrentConfiguration
from lmviz.models.strand import Strand
from lmviz.models.tap import Stage, Tap, Value, Weight
from lmviz.models.translator import Translator
from lmviz.text.pictures import PIXELS, check_pixels

PICTURE, EMBEDDING = "picture", "embedding"


class RecurrentCaptioner(Translator):
    """Recurrent layers that begin with tanh(W · pixels + b), each with a map of its own.

    `start` holds these maps and `recurrence` PyTorch's module. The memory cell of an LSTM begins empty.
    """

    configuration: RecurrentConfiguration

    def __init__(
        self, configuration: RecurrentConfiguration, vocabulary_size: int, source_vocabulary: int
    ) -> None:
        width, channels, layers = configuration.width, configuration.embedding_width, configuration.layers
        super().__init__(
            configuration,
            vocabulary_size,
            source_vocabulary,
            channels=channels,
            features=width,
            tied=configuration.tied,
        )
        self.cell = cell_of(configuration)
        self.family = self.cell.family
        self.start = nn.ModuleList(nn.Linear(PIXELS, width) for _ in range(layers))
        self.recurrence = self.cell.build(
            input_size=channels, hidden_size=width, num_layers=layers, batch_first=True
        )
        self.dropout = nn.Dropout(configuration.dropout)

    @property
    def task(self) -> str:
        """See Model."""
        return "captioning"

    def check_source(self, ids: np.ndarray) -> None:
        """LmvizError for anything but a picture."""
        check_pixels(ids.tolist())

    def begin(self, source: torch.Tensor, lengths: torch.Tensor | None = None) -> tuple[State, ...]:
        """The state of each layer before the first word, for pixels (batch, pixel) as ids.

        All pictures have as many pixels, so none of `lengths` is less.
        """
        picture = source.to(widened(self.embedding.weight).dtype)
        hidden = [torch.tanh(start(picture)) for start in self.start]  # (batch, unit) each
        return tuple((state, *self.cell.start(state)[1:]) for state in hidden)

    def features(
        self,
        tokens: torch.Tensor,
        state: tuple[State, ...] | None = None,
        lengths: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, tuple[State, ...]]:
        """The top states (batch, position, unit), and the state after the last token."""
        begun: tuple[State, ...] = self._begun(None, None) if state is None else state
        values, reached = self.embedding(tokens), []
        for layer, start in enumerate(begun):
            weights = weights_of(self.recurrence, f"_l{layer}")
            values, last = self.cell.run(self.dropout(values), weights, start, training=self.training)
            reached.append(last)
        return self.dropout(values), tuple(reached)

    def taps(self) -> tuple[Tap, ...]:
        """The picture and the first states; then the layers along the caption; logits; probabilities."""
        return (
            Tap(PICTURE, ("pixel",), Pixels(Weight("start.0.weight")), "share"),
            *(self._start_tap(layer) for layer in range(self.configuration.layers)),
            Tap(EMBEDDING, ("position", "channel"), TokenLookup(Weight("embedding.weight"))),
            *(tap for layer, strand in enumerate(self._strands()) for tap in self._layer_taps(layer, strand)),
            *self.output_taps("hidden state", self._top),
        )

    def _start_tap(self, layer: int) -> Tap:
        weight, bias = (Weight(f"start.{layer}.{part}") for part in ("weight", "bias"))
        mapped = Affine((Linear("pixels", Row(Value(PICTURE)), weight, bias),), "tanh")
        return Tap(_start(layer), ("unit",), mapped)

    def _layer_taps(self, layer: int, strand: Strand) -> tuple[Tap, ...]:
        hidden = Value(strand.at("hidden").address, shift=-1, width=strand.width)
        before = strand.tap("previous", StateBefore(hidden, _start(layer)))
        return (before, *self.cell.taps(strand))

    def stages(self) -> tuple[Stage, ...]:
        """The picture becomes the first states; then what happens to each word of the caption."""
        logits = r"\mathbf{y}_t = V \mathbf{h}_t + \mathbf{b}"
        return (
            Stage("Picture", r"\mathbf{p} \in \{0, 1\}^{49}", (PICTURE,), (), PICTURE),
            *(self._start_stage(layer) for layer in range(self.configuration.layers)),
            Stage("Embedding", r"\mathbf{x}_t = E_{y_t}", (EMBEDDING,), (), "embedding", True),
            *(
                stage
                for layer, strand in enumerate(self._strands())
                for stage in (_before(layer, strand), *self.cell.stages(strand))
            ),
            *self.output_stages((self._top,), logits, by_position=True),
        )

    def _start_stage(self, layer: int) -> Stage:
        equation = r"\mathbf{h}_0 = \tanh(W \mathbf{p} + \mathbf{b})"
        return Stage("First state", equation, (_start(layer),), (PICTURE,), f"layers/{layer}")

    @property
    def _top(self) -> str:
        """The tap that logits are made of."""
        return f"layers/{self.configuration.layers - 1}/hidden"

    def _strands(self) -> list[Strand]:
        """The recurrence of each layer."""
        found: list[Strand] = []
        for layer in range(self.configuration.layers):
            below = found[-1].at("hidden").address if found else EMBEDDING
            place, width = f"layers/{layer}", self.configuration.width
            strand = Strand(place, below, f"_l{layer}", width, reverse=False)
            found.append(replace(strand, begun=True))
        return found


def _start(layer: int) -> str:
    """The tap that a layer begins with."""
    return f"layers/{layer}/start"


def _before(layer: int, strand: Strand) -> Stage:
    return Stage(
        "State before",
        r"\mathbf{h}_{t-1}",
        (f"{strand.place}/previous",),
        (f"{strand.place}/hidden", _start(layer)),
        strand.place,
        by_position=True,
        shifts=(-1, 0),
    )
