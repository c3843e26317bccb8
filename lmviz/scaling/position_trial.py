"""The kinds of positions side by side: a small Transformer of each, trained in turn on one text."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmviz.base.configuration import Configuration, setting
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.runs.racing import PlannedLane
from lmviz.scaling.measured_race import MeasuredRace, measure_race
from lmviz.training.options import TrainingOptions

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

KINDS = ("learned", "sinusoidal", "rotary", "alibi", "relative", "none")
"""In the order of their turns; the last has no positions at all."""
MEASUREMENTS = 10
BATCH, LENGTH = 8, 32
RATE = 3e-3
"""The learning rate, which suits models as small as these and as few steps."""


@dataclass(frozen=True)
class TrialOptions(Configuration):
    """How large the models are, and for how long each of them is trained."""

    width: int = setting(32, "The width of each model.", minimum=8, maximum=512)
    layers: int = setting(2, "How many layers each of them has.", minimum=1, maximum=12)
    steps: int = setting(200, "How many updates each of them makes.", minimum=10, maximum=100_000)
    seed: int = setting(0, "What the first weights and the order of batches are drawn from.", minimum=0)


def configuration_of(kind: str, options: TrialOptions) -> TransformerConfiguration:
    """The model of a kind, which differs from the others in nothing else."""
    heads = 2 if options.width % 4 == 0 else 1
    return TransformerConfiguration(
        layers=options.layers, heads=heads, width=options.width, context=LENGTH, positions=kind
    )


def training_of(options: TrialOptions) -> TrainingOptions:
    """How each of them is trained, all on the same batches."""
    return TrainingOptions(
        steps=options.steps,
        batch=BATCH,
        length=LENGTH,
        learning_rate=RATE,
        warmup=min(20, options.steps // 10),
        seed=options.seed,
        validate_every=max(1, options.steps // MEASUREMENTS),
        validation_batches=20,
    )


def lanes_of(options: TrialOptions) -> tuple[PlannedLane, ...]:
    """A model of each kind, by which it is called."""
    training = training_of(options)
    return tuple(
        PlannedLane(kind, "transformer", configuration_of(kind, options), training) for kind in KINDS
    )


def try_positions(
    options: TrialOptions, corpus: Corpus
) -> Generator[float | MeasuredRace, None, MeasuredRace]:
    """Train a model of each kind beside one another; see `measure_race`.

    It is one seed on one text, so that small differences mean nothing.
    """
    return measure_race(lanes_of(options), corpus)
