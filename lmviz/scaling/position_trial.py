"""The kinds of positions side by side: a small Transformer of each, trained in turn on one text."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmviz.base.configuration import Configuration, setting
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.training.options import TrainingOptions

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

KINDS = ("learned", "sinusoidal", "rotary", "alibi", "relative", "none")
"""In the order of training; the last has no positions at all."""
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


@dataclass(frozen=True)
class TriedPositions:
    """One kind of positions so far: the losses on the validation text after some steps, in nats a token."""

    kind: str
    parameters: int
    steps: tuple[int, ...] = ()
    losses: tuple[float, ...] = ()
    is_done: bool = False


Trial = tuple[TriedPositions, ...]


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


def try_positions(options: TrialOptions, corpus: Corpus) -> Generator[float | Trial, None, Trial]:
    """Train a model of each kind; yields fractions and what is known so far, and returns all.

    Nothing is written. It is one seed on one text, so that small differences mean nothing. LmvizError where
    the text cannot be learned from.
    """
    from lmviz.runs.preparation import rehearse

    tried: list[TriedPositions] = []
    for number, kind in enumerate(KINDS):
        configuration = configuration_of(kind, options)
        vocabulary = corpus.tokenizer.vocabulary_size
        tried.append(TriedPositions(kind, configuration.estimate(vocabulary, 1, LENGTH).parameters))
        progress = rehearse("transformer", configuration, training_of(options), corpus)
        try:
            for now in progress:
                if now.validation_loss is not None and now.step > 0:
                    tried[-1] = _longer(tried[-1], now.step, now.validation_loss, now.finished)
                    yield tuple(tried)
                yield (number + now.step / now.steps) / len(KINDS)
        finally:
            progress.close()
    return tuple(tried)


def _longer(tried: TriedPositions, step: int, loss: float, is_done: bool) -> TriedPositions:
    return TriedPositions(tried.kind, tried.parameters, (*tried.steps, step), (*tried.losses, loss), is_done)
