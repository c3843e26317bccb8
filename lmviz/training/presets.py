"""How long to train: three numbers of steps, and how often the text is then read. Imports no torch."""

from __future__ import annotations

from lmviz.models.model_configuration import ModelConfiguration
from lmviz.training.options import DEFAULT_LENGTH, TrainingOptions

PRESETS = {"quick": 2_000, "good": 8_000, "thorough": 30_000}
"""Steps by name. What a model of this size can learn it has mostly learned in the middle of these."""


def passes(
    configuration: ModelConfiguration, options: TrainingOptions, tokens: int, examples: int | None = None
) -> float:
    """How often a training text of so many tokens is read, as many tokens as all excerpts hold together.

    Where it has so many `examples` instead, how often all of them are gone through.
    """
    if examples is not None:
        return options.steps * options.batch / max(1, examples)
    length = options.length or getattr(configuration, "context", None) or DEFAULT_LENGTH
    return options.steps * options.batch * length / max(1, tokens)
