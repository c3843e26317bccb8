"""A scaling experiment: Transformers of several widths trained in turn on one text, loss over compute."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmviz.base.configuration import Configuration, setting
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.scaling.compute import training_compute
from lmviz.scaling.power_law import PowerLaw, fit_power_law
from lmviz.training.options import TrainingOptions

if TYPE_CHECKING:
    import numpy as np

    from lmviz.text.corpus import Corpus


@dataclass(frozen=True)
class ExperimentOptions(Configuration):
    """How many models are trained, and for how long each."""

    smallest: int = setting(16, "The width of the smallest model.", minimum=8, maximum=512)
    models: int = setting(
        4, "How many models are trained. Each is twice as wide as the one before.", minimum=2, maximum=6
    )
    layers: int = setting(2, "How many layers each of them has.", minimum=1, maximum=12)
    steps: int = setting(300, "How many updates each of them makes.", minimum=10, maximum=100_000)

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths in the order of training."""
        return tuple(self.smallest * 2**number for number in range(self.models))


@dataclass(frozen=True)
class Trained:
    """One model of the experiment so far: its losses on the validation text, in nats a token.

    `compute` and `loss` go along its training; the last of them is its point in the fit once it `is_done`.
    """

    width: int
    parameters: int
    compute: tuple[float, ...] = ()
    loss: tuple[float, ...] = ()
    is_done: bool = False


Experiment = tuple[Trained, ...]
LENGTH, BATCH, MEASUREMENTS = 64, 8, 10


def run_experiment(
    options: ExperimentOptions, corpus: Corpus
) -> Generator[float | Experiment, None, Experiment]:
    """Train the models one after the other; yields fractions and what is known so far, and returns all.

    Nothing is written. All read the same batches, as many tokens each, so that larger models have more
    compute; the learning rate falls with the width (its square root), as wide models bear smaller steps.
    """
    from lmviz.runs.preparation import rehearse

    trained: list[Trained] = []
    for number, width in enumerate(options.widths):
        configuration = TransformerConfiguration(
            layers=options.layers, heads=max(1, width // 16), width=width, context=LENGTH
        )
        vocabulary = corpus.tokenizer.vocabulary_size
        parameters = configuration.estimate(vocabulary, 1, LENGTH).parameters
        trained.append(Trained(width, parameters))
        training = TrainingOptions(
            steps=options.steps,
            batch=BATCH,
            warmup=min(100, options.steps // 10),
            learning_rate=round(3e-3 * (options.smallest / width) ** 0.5, 6),
            validate_every=max(1, options.steps // MEASUREMENTS),
            validation_batches=20,
        )
        progress = rehearse("transformer", configuration, training, corpus)
        try:
            for now in progress:
                if now.validation_loss is not None and now.step > 0:
                    compute = training_compute(parameters, now.step * BATCH * LENGTH)
                    trained[-1] = _longer(trained[-1], compute, now.validation_loss, now.finished)
                    yield tuple(trained)
                yield (number + now.step / now.steps) / options.models
        finally:
            progress.close()
    return tuple(trained)


def fitted(experiment: Experiment) -> PowerLaw | None:
    """The power law through the models that are through; None while fewer than two are."""
    points = [(model.compute[-1], model.loss[-1]) for model in experiment if model.is_done]
    if len(points) < 2:
        return None
    compute, loss = (_array(values) for values in zip(*points, strict=True))
    return fit_power_law(compute, loss)


def _array(values: tuple[float, ...]) -> np.ndarray:
    import numpy as np

    return np.asarray(values, dtype=np.float64)


def _longer(trained: Trained, compute: float, loss: float, is_done: bool) -> Trained:
    return Trained(
        trained.width, trained.parameters, (*trained.compute, compute), (*trained.loss, loss), is_done
    )
