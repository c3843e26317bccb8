"""The configurations of the recurrent families, readable before torch is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lmviz.base.configuration import setting
from lmviz.base.errors import SettingError
from lmviz.models.estimate import NEXT_TOKEN, Asked, Estimate, training_estimate
from lmviz.models.functions import activation_of, activations
from lmviz.models.model_configuration import ModelConfiguration


@dataclass(frozen=True)
class RecurrentConfiguration(ModelConfiguration):
    """What all recurrent networks have in common.

    `gates` is how many affine maps of input and previous state each layer computes; `kept_values` how
    many numbers a unit keeps per position for the backward pass.
    """

    gates: ClassVar[int]
    kept_values: ClassVar[int]

    layers: int = setting(
        1,
        "How many recurrent layers are on top of each other; each reads the hidden states of the one below.",
        minimum=1,
        maximum=32,
    )
    width: int = setting(
        128,
        "Units in the hidden state of each layer: all that the network remembers of the text so far.",
        minimum=1,
        maximum=8192,
    )
    direction: str = setting(
        "forward",
        "How each layer reads the text: from left to right (forward), from right to left (backward), or "
        "both ways, the next layer reading what both have found. Backward and both are for labels: a "
        "language model that reads both ways reads the very token that it should predict, and its loss means "
        "nothing.",
        choices=("forward", "backward", "both"),
    )
    pooling: str = setting(
        "last",
        "How the states become the one vector from which the class of a text is read: the last state, the "
        "mean of all, or a mean weighted by learned attention. Used where a text has one label.",
        choices=("last", "mean", "attention"),
    )
    attention: str = setting(
        "bilinear",
        "What a translation sees of its source at each step: nothing but the last state (none), or a mean "
        "of all states, weighted by how well each fits the decoder's state: their dot product, which needs "
        "equal widths, or one with a learned matrix between them (bilinear). Used for translation.",
        choices=("none", "dot", "bilinear"),
    )
    embedding: int = setting(
        0,
        "Numbers that stand for each token on its way in; 0 stands for the width of the hidden state.",
        zero="as width",
        label="Embedding size",
        minimum=0,
        maximum=8192,
        advanced=True,
    )
    tied: bool = setting(
        False,
        "Use the embedding table once more to score the next token, instead of a second matrix "
        "(Press & Wolf 2017). The embedding must then be as wide as the hidden state.",
        label="Tied output",
    )
    dropout: float = setting(
        0.0,
        "Share of values between layers set to zero at random while training, against overfitting "
        "(Zaremba et al. 2014).",
        minimum=0.0,
        maximum=0.9,
    )

    def check(self) -> None:
        """Refuse a tied output whose two uses differ in size."""
        if self.tied and self.embedding_width != self.features:
            raise SettingError(
                f"A tied output needs an embedding as wide as the hidden state, but they are "
                f"{self.embedding_width} and {self.features}: set embedding to {self.features}, or tied to "
                "false.",
                "tied",
                "embedding",
                "width",
                "direction",
            )

    @property
    def reads(self) -> str:
        """In which directions, where not from left to right."""
        return {"backward": "backwards", "both": "both ways"}.get(self.direction, "")

    @property
    def embedding_width(self) -> int:
        """Channels of the embedding."""
        return self.embedding or self.width

    @property
    def directions(self) -> int:
        """How many recurrences each layer has."""
        return 2 if self.direction == "both" else 1

    @property
    def features(self) -> int:
        """Units of the state that a layer hands to the next, and the last one to the output."""
        return self.directions * self.width

    def estimate(self, vocabulary_size: int, batch: int, length: int, asked: Asked = NEXT_TOKEN) -> Estimate:
        """What training on batches of `batch` rows of `length` tokens costs."""
        if asked.source_vocabulary:
            return self._estimate_translator(vocabulary_size, batch, length, asked.source_vocabulary)
        if asked.pixels:
            return self._estimate_captioner(vocabulary_size, batch, length, asked.pixels)
        matrices, biases = self._recurrence(self.embedding_width, self.features)
        outputs = asked.outputs(vocabulary_size)
        embedding, output = vocabulary_size * self.embedding_width, outputs * self.features
        pooled = self.features if asked.per_text and self.pooling == "attention" else 0
        read_out = (0 if self.tied and not asked.labels else output) + outputs + pooled
        values = self.embedding_width + self.layers * self.kept_values * self.features + 2 * outputs
        parameters = embedding + matrices + biases + read_out
        return training_estimate(parameters, matrices + output, values, batch * length)

    def _estimate_translator(
        self, vocabulary_size: int, batch: int, length: int, source_vocabulary: int
    ) -> Estimate:
        """An encoder, a decoder that reads its word beside a context, and what stands between them."""
        read, written = self.features, self.width
        encoder, encoder_biases = self._recurrence(self.embedding_width, read)
        decoder, decoder_biases = self._recurrence(self.embedding_width + read, written)
        bridge = self.layers * (read + 1) * written if self.directions == 2 else 0
        bilinear = read * written if self.attention == "bilinear" else 0
        embeddings = (vocabulary_size + source_vocabulary) * self.embedding_width
        output = vocabulary_size * written
        parameters = embeddings + encoder + encoder_biases + decoder + decoder_biases + bridge + bilinear
        parameters += (0 if self.tied else output) + vocabulary_size
        looking = 0 if self.attention == "none" else 2 * length * read + bilinear
        values = 3 * self.embedding_width + self.layers * self.kept_values * (read + written)
        values += 2 * vocabulary_size + (0 if self.attention == "none" else 2 * length + read)
        return training_estimate(parameters, encoder + decoder + looking + output, values, batch * length)

    def _estimate_captioner(self, vocabulary_size: int, batch: int, length: int, pixels: int) -> Estimate:
        """A decoder, and for each of its layers a map of the picture, which is used once in a caption."""
        matrices, biases = self._recurrence(self.embedding_width, self.width)
        maps, embedding = self.layers * pixels * self.width, vocabulary_size * self.embedding_width
        output = vocabulary_size * self.width
        parameters = embedding + matrices + biases + maps + self.layers * self.width
        parameters += (0 if self.tied else output) + vocabulary_size
        values = self.embedding_width + self.layers * self.kept_values * self.width + 2 * vocabulary_size
        each = matrices + output + -(-maps // length)
        return training_estimate(parameters, each, values, batch * length)

    def _recurrence(self, channels: int, features: int) -> tuple[int, int]:
        """The numbers in the matrices, and in the biases, of layers with so many units in all directions."""
        inputs = [channels] + [features] * (self.layers - 1)
        matrices = sum(self.gates * features * (size + self.width) for size in inputs)
        return matrices, self.layers * self.gates * 2 * features


@dataclass(frozen=True)
class RNNConfiguration(RecurrentConfiguration):
    """The simple recurrent network (Elman 1990; as a language model, Mikolov et al. 2010)."""

    gates: ClassVar[int] = 1
    kept_values: ClassVar[int] = 2

    activation: str = setting(
        "tanh",
        "The function that turns the sum of input and previous state into the next state.",
        choices=activations(recurrent=True),
    )

    @property
    def function(self) -> str:
        """The activation by its name in FUNCTIONS, where the identity has none."""
        return activation_of(self.activation)


@dataclass(frozen=True)
class LSTMConfiguration(RecurrentConfiguration):
    """Long short-term memory (Hochreiter & Schmidhuber 1997; forget gate of Gers et al. 2000)."""

    gates: ClassVar[int] = 4
    kept_values: ClassVar[int] = 6


@dataclass(frozen=True)
class GRUConfiguration(RecurrentConfiguration):
    """The gated recurrent unit (Cho et al. 2014)."""

    gates: ClassVar[int] = 3
    kept_values: ClassVar[int] = 5
