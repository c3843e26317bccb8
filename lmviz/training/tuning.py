"""The options with which an opened model begins to be trained further. Imports no torch."""

from __future__ import annotations

from lmviz.models.tuning_configuration import ALL, LAST, LORA
from lmviz.training.options import TrainingOptions

RATES = {LORA: 3e-4, LAST: 5e-4, ALL: 1e-4}
"""The learning rate with which each begins. What learns fewer numbers bears a higher one."""


def tuning_options(adapter: str, context: int | None = None) -> TrainingOptions:
    """The options with which training further begins: fewer and smaller steps than those of a new model."""
    length = 128 if context is None else min(128, context)
    return TrainingOptions(
        steps=200,
        batch=4,
        length=length,
        learning_rate=RATES[adapter],
        warmup=10,
        weight_decay=0.0,
        second_moment_decay=0.999,
        validate_every=20,
        validation_batches=5,
        snapshots=40,
    )
