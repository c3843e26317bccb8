"""What of an opened model is trained further: all weights, last layers, or an adapter. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.base.configuration import Configuration, setting

LORA, LAST, ALL = "lora", "last", "all"

MATRICES = {
    "all": ("query", "key", "value", "output", "gate", "hidden", "down"),
    "attention": ("query", "key", "value", "output"),
    "query value": ("query", "value"),
    "feed-forward": ("gate", "hidden", "down"),
}
"""Which matrices of a layer an adapter changes, by what one chooses."""


@dataclass(frozen=True)
class TuningConfiguration(Configuration):
    """What of a model is trained further; LoRA is that of Hu et al. 2021."""

    adapter: str = setting(
        LORA,
        "What is learned: all weights (all); those of the last layers (last); or beside each matrix W, which "
        "stays, two thin ones A and B whose product is added to it (lora).",
        label="What is learned",
        choices=(LORA, LAST, ALL),
    )
    rank: int = setting(
        8,
        "How many rows A has and how many columns B: the change B · A of a matrix has at most this rank.",
        minimum=1,
        maximum=4096,
    )
    alpha: float = setting(
        16.0,
        "The change of a matrix is B · A · alpha / rank.",
        minimum=1e-3,
        maximum=1e6,
        advanced=True,
    )
    matrices: str = setting(
        "all",
        "Which matrices of each layer get an A and a B. Where a model keeps queries, keys and values in one "
        "matrix, that one matrix gets them.",
        choices=tuple(MATRICES),
    )
    last_layers: int = setting(
        4,
        "How many layers, counted from the last, are learned.",
        minimum=1,
        maximum=128,
    )
    recompute: bool = setting(
        False,
        "Whether the values inside a layer are computed again on the way back, and not kept (Chen et al. "
        "2016): a fraction of the memory, the time of one more pass forward, and the same numbers.",
        advanced=True,
    )

    def used(self) -> frozenset[str]:
        """See Configuration."""
        of = {LORA: {"rank", "alpha", "matrices"}, LAST: {"last_layers"}, ALL: set[str]()}
        return frozenset({"adapter", "recompute", *of[self.adapter]})

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of a layer that get an A and a B: "query", "hidden" and others."""
        return MATRICES[self.matrices] if self.adapter == LORA else ()

    def in_words(self, layers: int) -> str:
        """What is learned of a model with so many layers, in a few words: "LoRA, rank 8"."""
        if self.adapter == LORA:
            where = "" if self.matrices == "all" else f", {self.matrices}"
            return f"LoRA, rank {self.rank}{where}"
        if self.adapter == ALL:
            return "all weights"
        count = min(self.last_layers, layers)
        return f"last {count} of {layers} layers" if count > 1 else f"last of {layers} layers"
