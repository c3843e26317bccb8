"""A Transformer as the calculator sees it: its parameters, memory and compute before it is built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lmviz.base.errors import LmvizError
from lmviz.models.estimate import BYTES_PER_NUMBER, NUMBERS_PER_PARAMETER
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.scaling.compute import best_size, training_compute

LARGEST_VOCABULARY = 10_000_000
LARGEST_TOKENS = 10**15
HEAD_WIDTH = 16
"""The smallest width of a head in models that are looked for."""


@dataclass(frozen=True)
class TrainingMemory:
    """The bytes of a training in 32-bit numbers, part by part, and of what writes after a text.

    `activations` are those of one text as long as the context, and `cache` its keys and values.
    """

    weights: int
    gradients: int
    optimizer: int
    activations: int
    cache: int

    @property
    def training(self) -> int:
        """What training takes, on one text at a time."""
        return self.weights + self.gradients + self.optimizer + self.activations

    @property
    def running(self) -> int:
        """What writing takes, at the end of the context."""
        return self.weights + self.cache


@dataclass(frozen=True)
class PlannedModel:
    """A configuration with the size of the vocabulary and the tokens to be read in training."""

    configuration: TransformerConfiguration
    vocabulary: int
    tokens: int

    def __post_init__(self) -> None:
        for name, value, largest in (
            ("vocabulary", self.vocabulary, LARGEST_VOCABULARY),
            ("number of tokens", self.tokens, LARGEST_TOKENS),
        ):
            if not 1 <= value <= largest:
                raise LmvizError(f"A {name} of {value:,} is out of range: choose 1 to {largest:,}.")

    @property
    def parameters(self) -> int:
        """The exact number of learned numbers, as a model of this configuration has them."""
        return self.configuration.estimate(self.vocabulary, 1, self.configuration.context).parameters

    @property
    def parts(self) -> tuple[int, int, int]:
        """The three terms of 12 L d² + V d + T d: layers, vocabulary, positions."""
        return approximate_parameters(
            self.configuration.layers,
            self.configuration.width,
            self.vocabulary,
            self.configuration.context,
        )

    @property
    def approximation(self) -> int:
        """12 L d² + V d + T d."""
        return sum(self.parts)

    @property
    def compute(self) -> float:
        """The floating-point operations of its training, 6 P N."""
        return training_compute(self.parameters, self.tokens)

    @property
    def tokens_per_parameter(self) -> float:
        """How many tokens it reads for each parameter."""
        return self.tokens / self.parameters

    @property
    def breaks_width(self) -> bool:
        """Whether its heads together are wider or narrower than its residual stream."""
        return self.configuration.heads * self.configuration.head_width != self.configuration.width

    @property
    def memory(self) -> TrainingMemory:
        """The bytes of its training and of its writing."""
        configuration = self.configuration
        cost = configuration.estimate(self.vocabulary, 1, configuration.context)
        weights = BYTES_PER_NUMBER * cost.parameters
        shared = configuration.groups * configuration.head_width
        return TrainingMemory(
            weights=weights,
            gradients=weights,
            optimizer=(NUMBERS_PER_PARAMETER - 2) * weights,
            activations=cost.bytes - NUMBERS_PER_PARAMETER * weights,
            cache=BYTES_PER_NUMBER * 2 * configuration.layers * shared * configuration.context,
        )

    def seconds(self, pace: float) -> float:
        """How long its training takes at so many floating-point operations a second."""
        return self.compute / pace


def approximate_parameters(layers: int, width: int, vocabulary: int, context: int) -> tuple[int, int, int]:
    """The terms of 12 L d² + V d + T d.

    A layer has four matrices of d × d in attention and two of d × 4d in its feed-forward network; biases
    and normalisation are left out (Kaplan et al. 2020, table 1).
    """
    return 12 * layers * width**2, vocabulary * width, context * width


def what_fits(seconds: float, pace: float, vocabulary: int, context: int) -> PlannedModel:
    """The model that is trained best in a time, at so many floating-point operations a second.

    Of Transformers with 24 to 96 channels of width for each layer, it has the most parameters that do not
    exceed those that the compute trains best, and reads all tokens that the compute pays for. Where even the
    smallest is too large, that is what it gives.
    """
    operations = seconds * pace
    models = sorted(
        (PlannedModel(configuration, vocabulary, 1) for configuration in _shapes(context)),
        key=lambda planned: planned.parameters,
    )
    fitting = [planned for planned in models if planned.parameters <= best_size(operations)]
    chosen = fitting[-1] if fitting else models[0]
    tokens = int(operations / training_compute(chosen.parameters, 1))
    return replace(chosen, tokens=min(max(1, tokens), LARGEST_TOKENS))


def _shapes(context: int) -> Iterator[TransformerConfiguration]:
    """Configurations of every width and depth that is tried."""
    widths = (*range(16, 128, 16), *range(128, 512, 32), *range(512, 4096, 256), *range(4096, 12289, 1024))
    for width in widths:
        for layers in range(max(1, width // 96), max(1, min(96, width // 24)) + 1):
            yield TransformerConfiguration(
                layers=layers, heads=heads_for(width, _head_width(width)), width=width, context=context
            )


def _head_width(width: int) -> int:
    """The channels of a head at least: 16 in small models and 64 in large ones."""
    return HEAD_WIDTH if width < 128 else 32 if width < 512 else 64


def heads_for(width: int, least: int = HEAD_WIDTH) -> int:
    """The most heads, up to 128, that share a width evenly and have so many channels each; one at least."""
    return next(heads for heads in range(max(1, min(128, width // least)), 0, -1) if width % heads == 0)
