"""The configuration of the Transformer, readable before torch is loaded."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.configuration import setting
from lmviz.errors import SettingError
from lmviz.models.estimate import Estimate, training_estimate
from lmviz.models.model_configuration import ModelConfiguration


@dataclass(frozen=True)
class TransformerConfiguration(ModelConfiguration):
    """A decoder-only Transformer (Vaswani et al. 2017; Radford et al. 2019)."""

    layers: int = setting(
        4,
        "How many blocks of attention and feed-forward network stand on top of each other. Each adds its "
        "output to the residual stream.",
        minimum=1,
        maximum=96,
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
        maximum=16384,
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
        maximum=65536,
        advanced=True,
    )
    positions: str = setting(
        "learned",
        "How the model knows the order of words: a learned vector for each position; fixed sines and "
        "cosines; rotary turns queries and keys by their position; alibi lowers scores with distance; "
        "none leaves only the causal mask.",
        choices=("learned", "sinusoidal", "rotary", "alibi", "none"),
    )
    norm: str = setting(
        "pre",
        "Where layer normalisation stands: pre normalises what a sublayer reads (GPT-2, steadier to train); "
        "post normalises the sum after it (the original Transformer).",
        label="Normalisation",
        choices=("pre", "post"),
    )
    activation: str = setting(
        "gelu",
        "The function between the two layers of the feed-forward network. gelu_tanh is the approximation "
        "of GELU that GPT-2 was trained with.",
        choices=("gelu", "gelu_tanh", "relu"),
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
        """Refuse a width that does not fall evenly into heads, or pairs where positions need pairs."""
        if self.width % self.heads:
            raise SettingError(
                f"A width of {self.width} cannot be shared by {self.heads} heads: "
                f"choose a multiple of {self.heads}, such as {self._nearest_width()}.",
                "width",
                "heads",
            )
        if self.positions == "rotary" and self.head_width % 2:
            raise SettingError(
                f"Rotary positions turn pairs of numbers, and a head has {self.head_width} of them: "
                "choose a width that gives each head an even number.",
                "width",
                "heads",
                "positions",
            )

    def _nearest_width(self) -> int:
        return max(1, round(self.width / self.heads)) * self.heads

    @property
    def head_width(self) -> int:
        """Channels of one head."""
        return self.width // self.heads

    @property
    def embedding_scale(self) -> float:
        """What token embeddings are multiplied by, lest they drown in waves of height 1 (Vaswani 2017)."""
        return self.width**0.5 if self.positions == "sinusoidal" else 1.0

    @property
    def feedforward_width(self) -> int:
        """Units of the feed-forward network's hidden layer."""
        return self.feedforward or 4 * self.width

    def estimate(self, vocabulary_size: int, batch: int, length: int) -> Estimate:
        """What training on batches of `batch` rows of `length` tokens costs."""
        width, hidden = self.width, self.feedforward_width
        matrices = 4 * width * width + 2 * width * hidden
        biases = 5 * width + hidden
        norms = 2 * 2 * width
        parameters = (
            vocabulary_size * width * (1 if self.tied else 2)
            + (self.context * width if self.positions == "learned" else 0)
            + self.layers * (matrices + biases + norms)
            + (2 * width if self.norm == "pre" else 0)
        )
        scores_and_mixing = 2 * width * length
        multiplications = self.layers * (matrices + scores_and_mixing) + vocabulary_size * width
        values = self.layers * (11 * width + 2 * hidden) + 3 * width + 2 * vocabulary_size
        return training_estimate(parameters, multiplications, values, batch * length)


def gpt2_small() -> TransformerConfiguration:
    """GPT-2 small: with its vocabulary of 50,257 it has 124,439,808 parameters (Radford et al. 2019)."""
    return TransformerConfiguration(
        layers=12, heads=12, width=768, context=1024, activation="gelu_tanh", dropout=0.1
    )
