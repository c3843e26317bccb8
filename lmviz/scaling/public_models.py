"""Public models: what their papers say of their size and of what they read.

`PUBLIC_MODELS` are points of the picture; `GPT3_FAMILY` are the eight models of one paper, all trained on
the same text, whose mixture is `GPT3_DATA`. Of `UNPUBLISHED_MODELS` neither size nor text is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.scaling.compute import training_compute
from lmviz.scaling.planned_model import PlannedModel, approximate_parameters


@dataclass(frozen=True)
class PublicModel:
    """One model: `parameters` and `tokens` as published, and the configuration as far as lmviz has it.

    `settings` are those of a TransformerConfiguration; `note` says what they leave out.
    """

    name: str
    year: int
    tokens: int
    parameters: int
    source: str
    vocabulary: int
    settings: Mapping[str, Any] = field(hash=False)
    note: str = ""

    @property
    def tokens_per_parameter(self) -> float:
        """How many tokens it has read for each parameter, as published."""
        return self.tokens / self.parameters

    @property
    def planned(self) -> PlannedModel:
        """The same for the calculator."""
        return PlannedModel(TransformerConfiguration(**self.settings), self.vocabulary, self.tokens)


@dataclass(frozen=True)
class UnpublishedModel:
    """A model whose report, the `source`, states neither its parameters nor what it has read."""

    name: str
    year: int
    source: str


@dataclass(frozen=True)
class TotalCompute:
    """The floating-point operations of one training, 6 P N; None where they are not published."""

    name: str
    year: int
    operations: float | None
    source: str


@dataclass(frozen=True)
class FamilyMember:
    """One of the models of GPT-3's paper, as its table 2.1 states it; `batch` in tokens."""

    name: str
    parameters: int
    layers: int
    width: int
    heads: int
    head_width: int
    batch: int
    learning_rate: float

    @property
    def breaks_width(self) -> bool:
        """Whether width = heads × head width does not hold in the table."""
        return self.heads * self.head_width != self.width

    @property
    def planned(self) -> PlannedModel:
        """The same for the calculator."""
        configuration = TransformerConfiguration(
            layers=self.layers,
            width=self.width,
            heads=self.heads,
            context=GPT3_CONTEXT,
            head_channels=self.head_width if self.breaks_width else 0,
        )
        return PlannedModel(configuration, GPT_VOCABULARY, GPT3_TOKENS)


@dataclass(frozen=True)
class TextSource:
    """A part of GPT-3's text: its tokens, and its share of what was read."""

    name: str
    tokens: int
    share: float


BILLION, TRILLION = 10**9, 10**12
GPT_VOCABULARY = 50_257
GPT3_CONTEXT, GPT3_TOKENS = 2048, 300 * BILLION

_LLAMA = {
    "positions": "rotary",
    "norm_kind": "rms",
    "activation": "silu",
    "gated": True,
    "attention_bias": "none",
    "feedforward_bias": False,
    "tied": False,
}

PUBLIC_MODELS: tuple[PublicModel, ...] = (
    PublicModel(
        "GPT-2",
        2019,
        10 * BILLION,
        1_500_000_000,
        "Radford et al. 2019",
        GPT_VOCABULARY,
        {"layers": 48, "width": 1600, "heads": 25, "context": 1024, "activation": "gelu_tanh"},
    ),
    PublicModel(
        "GPT-3",
        2020,
        GPT3_TOKENS,
        175 * BILLION,
        "Brown et al. 2020",
        GPT_VOCABULARY,
        {"layers": 96, "width": 12288, "heads": 96, "context": GPT3_CONTEXT},
    ),
    PublicModel(
        "PaLM",
        2022,
        780 * BILLION,
        540 * BILLION,
        "Chowdhery et al. 2022",
        256_000,
        {
            **_LLAMA,
            "layers": 118,
            "width": 18432,
            "heads": 48,
            "head_channels": 256,
            "key_value_heads": 1,
            "feedforward": 73728,
            "context": 2048,
            "parallel": True,
            "tied": True,
        },
    ),
    PublicModel(
        "Chinchilla",
        2022,
        1_400 * BILLION,
        70 * BILLION,
        "Hoffmann et al. 2022",
        32_000,
        {
            "layers": 80,
            "width": 8192,
            "heads": 64,
            "context": 2048,
            "positions": "relative",
            "norm_kind": "rms",
        },
        "Its relative positions have one more matrix of d × d in each layer, which is not counted here.",
    ),
    PublicModel(
        "LaMDA",
        2022,
        1_560 * BILLION,
        137 * BILLION,
        "Thoppilan et al. 2022",
        32_000,
        {
            "layers": 64,
            "width": 8192,
            "heads": 128,
            "head_channels": 128,
            "feedforward": 65536,
            "gated": True,
            "context": 2048,
            "positions": "relative",
            "attention_bias": "none",
            "feedforward_bias": False,
        },
        "The paper does not state its context; 2,048 stands in for it.",
    ),
    PublicModel(
        "LLaMA",
        2023,
        1_400 * BILLION,
        65 * BILLION,
        "Touvron et al. 2023a",
        32_000,
        {**_LLAMA, "layers": 80, "width": 8192, "heads": 64, "feedforward": 22016, "context": 2048},
    ),
    PublicModel(
        "LLaMA-2",
        2023,
        2 * TRILLION,
        70 * BILLION,
        "Touvron et al. 2023b",
        32_000,
        {
            **_LLAMA,
            "layers": 80,
            "width": 8192,
            "heads": 64,
            "key_value_heads": 8,
            "feedforward": 28672,
            "context": 4096,
        },
    ),
    PublicModel(
        "LLaMA-3",
        2024,
        15 * TRILLION,
        405 * BILLION,
        "Grattafiori et al. 2024",
        128_256,
        {
            **_LLAMA,
            "layers": 126,
            "width": 16384,
            "heads": 128,
            "key_value_heads": 8,
            "feedforward": 53248,
            "context": 8192,
        },
    ),
)
"""In the order of their years."""

GPT3_FAMILY: tuple[FamilyMember, ...] = (
    FamilyMember("125 M", 125_000_000, 12, 768, 12, 64, 500_000, 6e-4),
    FamilyMember("350 M", 350_000_000, 24, 1024, 16, 64, 500_000, 3e-4),
    FamilyMember("760 M", 760_000_000, 24, 1536, 16, 96, 500_000, 2.5e-4),
    FamilyMember("1.3 bn", 1_300_000_000, 24, 2048, 24, 128, 1_000_000, 2e-4),
    FamilyMember("2.7 bn", 2_700_000_000, 32, 2560, 32, 80, 1_000_000, 1.6e-4),
    FamilyMember("6.7 bn", 6_700_000_000, 32, 4096, 32, 128, 2_000_000, 1.2e-4),
    FamilyMember("13 bn", 13_000_000_000, 40, 5140, 40, 128, 2_000_000, 1e-4),
    FamilyMember("175 bn", 175 * BILLION, 96, 12288, 96, 128, 3_200_000, 0.6e-4),
)
"""Brown et al. 2020, table 2.1, as printed."""

GPT3_DATA: tuple[TextSource, ...] = (
    TextSource("Common Crawl", 410 * BILLION, 0.60),
    TextSource("WebText2", 19 * BILLION, 0.22),
    TextSource("Books1", 12 * BILLION, 0.08),
    TextSource("Books2", 55 * BILLION, 0.08),
    TextSource("Wikipedia", 3 * BILLION, 0.03),
)
"""Brown et al. 2020, table 2.2; the shares are rounded there and do not sum to one."""


def find_public(name: str) -> PublicModel:
    """The public model of a name; KeyError where there is none."""
    return {model.name: model for model in PUBLIC_MODELS}[name]


@dataclass(frozen=True)
class CountedModel:
    """A GPT whose parameters are counted by 12 L d² + V d + T d; `published` is what its paper states."""

    name: str
    layers: int
    width: int
    heads: int
    context: int
    vocabulary: int
    published: int

    @property
    def approximation(self) -> int:
        """12 L d² + V d + T d."""
        return sum(approximate_parameters(self.layers, self.width, self.vocabulary, self.context))

    @property
    def configuration(self) -> TransformerConfiguration:
        """The same as a configuration."""
        return TransformerConfiguration(
            layers=self.layers, width=self.width, heads=self.heads, context=self.context
        )


COUNTED_MODELS: tuple[CountedModel, ...] = (
    CountedModel("GPT", 12, 768, 12, 512, 40_478, 117_000_000),
    CountedModel("GPT-2", 48, 1600, 25, 1024, GPT_VOCABULARY, 1_542_000_000),
    CountedModel("GPT-3", 96, 12288, 96, GPT3_CONTEXT, GPT_VOCABULARY, 175 * BILLION),
)
"""Radford et al. 2018 and 2019, Brown et al. 2020."""

UNPUBLISHED_MODELS = (
    UnpublishedModel("GPT-4", 2023, "OpenAI 2023"),
    UnpublishedModel("Gemini Ultra", 2023, "Gemini Team 2023"),
)


def total_compute() -> tuple[TotalCompute, ...]:
    """What each public model took in all, by year; those of which it is not known among them."""
    known = [
        TotalCompute(one.name, one.year, training_compute(one.parameters, one.tokens), one.source)
        for one in PUBLIC_MODELS
    ]
    unknown = [TotalCompute(one.name, one.year, None, one.source) for one in UNPUBLISHED_MODELS]
    return tuple(sorted([*known, *unknown], key=lambda one: one.year))
