"""The configuration of the Transformer, readable before torch is loaded."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.base.configuration import setting
from lmviz.base.errors import SettingError
from lmviz.models.estimate import NEXT_TOKEN, Asked, Estimate, training_estimate
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.models.rotary import Rotary


@dataclass(frozen=True)
class TransformerConfiguration(ModelConfiguration):
    """A decoder-only Transformer (Vaswani et al. 2017; Radford et al. 2019)."""

    layers: int = setting(
        4,
        "How many blocks of attention and feed-forward network stand on top of each other. Each adds its "
        "output to the residual stream.",
        minimum=1,
        maximum=128,
    )
    heads: int = setting(
        4,
        "How many attention heads each layer has. Each looks at the earlier words in its own way, "
        "with its own share of the width.",
        minimum=1,
        maximum=128,
    )
    width: int = setting(
        128,
        "Numbers per word in the residual stream, the vector that every layer reads from and adds to. "
        "It must be a multiple of the number of heads.",
        minimum=1,
        maximum=32768,
    )
    context: int = setting(
        64,
        "The largest number of tokens the model can look at. The work of attention grows with its square.",
        minimum=1,
        maximum=131072,
    )
    feedforward: int = setting(
        0,
        "Units in the hidden layer of the feed-forward network; 0 stands for four times the width.",
        zero="4 × width",
        label="Feed-forward units",
        minimum=0,
        maximum=131072,
        advanced=True,
    )
    positions: str = setting(
        "learned",
        "How the model knows the order of words: a learned vector for each position; fixed sines and "
        "cosines; rotary turns queries and keys by their position; alibi lowers scores with distance; "
        "relative adds to scores a learned number for each distance and head (as T5); none leaves only the "
        "causal mask.",
        choices=("learned", "sinusoidal", "rotary", "alibi", "relative", "none"),
    )
    causal: bool = setting(
        True,
        "Hide from each word the words after it. Without this mask every word sees the whole text: that is "
        "for labels. A language model without it reads the very word that it should predict, and its loss "
        "means nothing.",
        label="Causal mask",
    )
    pooling: str = setting(
        "mean",
        "How the ends of the residual stream become the one vector from which the class of a text is read: "
        "the last, the mean of all, or a mean weighted by learned attention. Used where a text has one "
        "label.",
        choices=("last", "mean", "attention"),
        advanced=True,
    )
    norm: str = setting(
        "pre",
        "Where normalisation stands: pre normalises what a sublayer reads (GPT-2, steadier to train); "
        "post normalises the sum after it (the original Transformer); none leaves it out, and deep models "
        "become hard to train.",
        label="Normalisation",
        choices=("pre", "post", "none"),
    )
    residual: bool = setting(
        True,
        "Add what a sublayer computes to the stream (He et al. 2016). Without it the result takes the place "
        "of the stream, and in a deep model little of the words is left: even the training loss is worse.",
        label="Residual connections",
        advanced=True,
    )
    norm_kind: str = setting(
        "layer",
        "What normalisation does: layer takes the mean away and divides by the standard deviation; rms "
        "only divides by the root mean square (Zhang & Sennrich 2019; Llama).",
        label="Kind of normalisation",
        choices=("layer", "rms"),
        advanced=True,
    )
    norm_epsilon: float = setting(
        1e-5,
        "What normalisation adds to the variance, or to the mean square, so as never to divide by zero.",
        label="Normalisation epsilon",
        minimum=1e-12,
        maximum=0.1,
        advanced=True,
    )
    activation: str = setting(
        "gelu",
        "The function between the two layers of the feed-forward network. gelu_tanh is the approximation "
        "of GELU that GPT-2 was trained with; silu is x · sigmoid(x). With identity the network is linear.",
        choices=("gelu", "gelu_tanh", "relu", "silu", "identity"),
    )
    gated: bool = setting(
        False,
        "Multiply the feed-forward units by a gate, a second set of units to which the activation is "
        "applied (Shazeer 2020). With silu this is SwiGLU, as in Llama.",
        label="Gated feed-forward",
        advanced=True,
    )
    parallel: bool = setting(
        False,
        "Let attention and the feed-forward network read the same residual stream side by side, and not "
        "one after the other (GPT-NeoX).",
        label="Parallel sublayers",
        advanced=True,
    )
    key_value_heads: int = setting(
        0,
        "How many heads of keys and values there are. Fewer of them are shared by groups of attention "
        "heads (Ainslie et al. 2023); 0 stands for as many as there are heads.",
        zero="one for each head",
        label="Key/value heads",
        minimum=0,
        maximum=128,
        advanced=True,
    )
    head_channels: int = setting(
        0,
        "Numbers in the query, key and value of one head; 0 stands for the width divided by the heads.",
        zero="width / heads",
        label="Channels of a head",
        minimum=0,
        maximum=4096,
        advanced=True,
    )
    attention_bias: str = setting(
        "all",
        "Which matrices of attention have a bias: all (GPT-2), those of queries, keys and values alone "
        "(Qwen 2), or none (Llama).",
        choices=("all", "query key value", "none"),
        advanced=True,
    )
    feedforward_bias: bool = setting(
        True,
        "Whether the matrices of the feed-forward network have biases. Llama's have none.",
        label="Feed-forward biases",
        advanced=True,
    )
    norm_bias: bool = setting(
        True,
        "Whether layer normalisation adds a bias at the end. The rms kind never does.",
        label="Normalisation biases",
        advanced=True,
    )
    rotary_base: float = setting(
        10000.0,
        "With rotary positions, the slowest pair of channels turns once in about 2π × this many positions.",
        minimum=1.0,
        maximum=1e12,
        advanced=True,
    )
    rotary_channels: int = setting(
        0,
        "With rotary positions, how many channels of a head are turned; the others say nothing of "
        "positions (GPT-NeoX). 0 stands for all of them.",
        zero="all",
        minimum=0,
        maximum=4096,
        advanced=True,
    )
    rotary_scaling: str = setting(
        "none",
        "With rotary positions, how angles are made smaller for texts longer than those first trained on: "
        "linear divides all of them; llama3 only those of the slow pairs (Llama 3.1).",
        choices=("none", "linear", "llama3"),
        advanced=True,
    )
    rotary_factor: float = setting(
        8.0, "What scaled rotary angles are divided by.", minimum=1.0, maximum=1e6, advanced=True
    )
    rotary_slow: float = setting(
        1.0,
        "With llama3 scaling, pairs that turn fewer times than this in the original context are slowed.",
        minimum=0.001,
        maximum=1e6,
        advanced=True,
    )
    rotary_fast: float = setting(
        4.0,
        "With llama3 scaling, pairs that turn more times than this in the original context stay as they are.",
        minimum=0.001,
        maximum=1e6,
        advanced=True,
    )
    rotary_original: int = setting(
        8192,
        "With llama3 scaling, the context that the model was first trained on.",
        label="Original context",
        minimum=1,
        maximum=2**31,
        advanced=True,
    )
    tied: bool = setting(
        True,
        "Use the embedding table once more to score the next token, instead of a second matrix. "
        "Saves width × vocabulary parameters.",
        label="Tied output",
    )
    dropout: float = setting(
        0.0,
        "Share of values set to zero at random while training, against overfitting. A small model on a "
        "large text needs none.",
        minimum=0.0,
        maximum=0.9,
    )

    def check(self) -> None:
        """Refuse sizes that do not fall evenly into heads or pairs, and choices that exclude each other."""
        if self.head_channels == 0 and self.width % self.heads:
            raise SettingError(
                f"A width of {self.width} cannot be shared by {self.heads} heads: "
                f"choose a multiple of {self.heads}, such as {self._nearest_width()}.",
                "width",
                "heads",
            )
        if self.heads % self.groups:
            raise SettingError(
                f"{self.heads} heads cannot share {self.groups} heads of keys and values evenly: "
                f"choose a number that divides {self.heads}.",
                "key_value_heads",
                "heads",
            )
        if self.positions == "rotary":
            self._check_rotary()
        if self.parallel and self.norm == "post":
            raise SettingError(
                "Parallel sublayers read the same stream, and post-norm stands between the two: choose "
                "pre-norm, or one after the other.",
                "parallel",
                "norm",
            )

    def _check_rotary(self) -> None:
        if self.rotary_channels > self.head_width:
            raise SettingError(
                f"A head has {self.head_width} channels, of which {self.rotary_channels} cannot be turned: "
                "choose fewer rotary channels.",
                "rotary_channels",
            )
        if self.rotary_width % 2:
            raise SettingError(
                f"Rotary positions turn pairs of numbers, and a head has {self.rotary_width} of them: "
                "choose a width that gives each head an even number, or an even number of rotary channels.",
                "width",
                "heads",
                "positions",
            )
        if self.rotary_scaling == "llama3" and self.rotary_fast <= self.rotary_slow:
            raise SettingError(
                "With llama3 scaling, fast pairs turn more often than slow ones, and "
                f"{self.rotary_fast:g} is not more than {self.rotary_slow:g}: choose a larger rotary_fast.",
                "rotary_fast",
                "rotary_slow",
            )

    @property
    def reads(self) -> str:
        """Whether each word sees those after it too."""
        return "" if self.causal else "both ways"

    def used(self) -> frozenset[str]:
        """The names of the settings that make a difference."""
        unused: set[str] = set()
        if self.norm_kind == "rms":
            unused |= {"norm_bias"}
        if self.norm == "none":
            unused |= {"norm_kind", "norm_epsilon", "norm_bias"}
        rotary = {name for name in self.names() if name.startswith("rotary_")}
        if self.positions != "rotary":
            return self.names() - unused - rotary
        if self.rotary_scaling != "llama3":
            unused |= {"rotary_slow", "rotary_fast", "rotary_original"}
        if self.rotary_scaling == "none":
            unused |= {"rotary_factor"}
        return self.names() - unused

    def _nearest_width(self) -> int:
        return max(1, round(self.width / self.heads)) * self.heads

    @property
    def head_width(self) -> int:
        """Channels of one head."""
        return self.head_channels or self.width // self.heads

    @property
    def function(self) -> str:
        """The activation by its name in FUNCTIONS, where the identity has none."""
        return "" if self.activation == "identity" else self.activation

    @property
    def distances(self) -> int:
        """How many distances relative positions tell apart; without the mask, those to later keys too."""
        return self.context if self.causal else 2 * self.context - 1

    @property
    def groups(self) -> int:
        """Heads of keys and values, each shared by `heads / groups` attention heads."""
        return self.key_value_heads or self.heads

    @property
    def rotary_width(self) -> int:
        """Channels of a head that rotary positions turn."""
        return self.rotary_channels or self.head_width

    @property
    def rotary(self) -> Rotary:
        """The turning of rotary positions."""
        return Rotary(
            channels=self.rotary_width,
            base=self.rotary_base,
            scaling=self.rotary_scaling,
            factor=self.rotary_factor,
            slow=self.rotary_slow,
            fast=self.rotary_fast,
            original=self.rotary_original,
        )

    @property
    def embedding_scale(self) -> float:
        """What token embeddings are multiplied by, lest they drown in waves of height 1 (Vaswani 2017)."""
        return self.width**0.5 if self.positions == "sinusoidal" else 1.0

    @property
    def feedforward_width(self) -> int:
        """Units of the feed-forward network's hidden layer."""
        return self.feedforward or 4 * self.width

    def estimate(self, vocabulary_size: int, batch: int, length: int, asked: Asked = NEXT_TOKEN) -> Estimate:
        """What training on batches of `batch` rows of `length` tokens costs."""
        width, hidden = self.width, self.feedforward_width
        mixed, shared = self.heads * self.head_width, self.groups * self.head_width
        first_layers = 2 if self.gated else 1  # of the feed-forward network
        matrices = width * (2 * mixed + 2 * shared) + (first_layers + 1) * width * hidden
        attention_biases = (mixed + 2 * shared) * (self.attention_bias != "none")
        attention_biases += width * (self.attention_bias == "all")
        biases = attention_biases + (first_layers * hidden + width) * self.feedforward_bias
        norm = width * (2 if self.norm_kind == "layer" and self.norm_bias else 1)
        norm = 0 if self.norm == "none" else norm
        outputs, translates = asked.outputs(vocabulary_size), asked.source_vocabulary > 0
        cross = (mixed + shared) * 2 * width  # of a decoder's layer: query, key, value, output
        parameters = (
            (vocabulary_size + asked.source_vocabulary) * width
            + (0 if self.tied and not asked.labels else outputs * width)
            + (vocabulary_size if translates else 0)
            + (self.context * width if self.positions == "learned" else 0) * (1 + translates)
            + (self.distances * self.heads if self.positions == "relative" else 0)
            + self.layers * (matrices + biases + 2 * norm) * (1 + translates)
            + (self.layers * (cross + attention_biases + norm) if translates else 0)
            + (norm if self.norm == "pre" else 0) * (1 + translates)
            + (width if asked.per_text and self.pooling == "attention" else 0)
        )
        scores_and_mixing = 2 * mixed * length
        layers = self.layers * (matrices + scores_and_mixing) * (1 + translates)
        layers += self.layers * (cross + scores_and_mixing) if translates else 0
        multiplications = layers + outputs * width
        values = self.layers * (7 * width + 2 * mixed + 2 * shared + (first_layers + 1) * hidden)
        values = values * (1 + translates) + (self.layers * (3 * width + 2 * mixed + 2 * shared) * translates)
        values += 3 * width * (1 + translates) + 2 * outputs
        return training_estimate(parameters, multiplications, values, batch * length)
