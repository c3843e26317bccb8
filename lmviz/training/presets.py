"""How long to train: three numbers of steps, and how often the text is then read. Imports no torch."""

from __future__ import annotations

from lmviz.models.model_configuration import ModelConfiguration
from lmviz.training.options import DEFAULT_LENGTH, TrainingOptions

PRESETS = {"quick": 2_000, "good": 8_000, "thorough": 30_000}
"""Steps by name. What a model of this size can learn it has mostly learned in the middle of these."""

QUICK_SECONDS = 60
FEWEST = 100  # steps, however long they take: with fewer nothing is seen


def steps_by_name(seconds_a_step: float | None) -> dict[str, int]:
    """The steps of each preset: fewer of all where the quick one would take longer than a minute."""
    quick = PRESETS["quick"]
    if seconds_a_step is not None and seconds_a_step * quick > QUICK_SECONDS:
        quick = max(FEWEST, _rounded_down(QUICK_SECONDS / seconds_a_step))
    return {name: steps * quick // PRESETS["quick"] for name, steps in PRESETS.items()}


def _rounded_down(number: float) -> int:
    """To its first digit: 734 to 700."""
    digits = 10 ** (len(str(int(number))) - 1)
    return int(number) // digits * digits


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
