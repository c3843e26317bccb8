"""A scaling experiment: Transformers of several widths race on one text, loss over compute."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmviz.base.configuration import Configuration, setting
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.runs.racing import PlannedLane
from lmviz.scaling.measured_race import MeasuredRace, measure_race
from lmviz.scaling.planned_model import heads_for
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
        """The widths, ascending."""
        return tuple(self.smallest * 2**number for number in range(self.models))


LENGTH, BATCH, MEASUREMENTS = 64, 8, 10


def lanes_of(options: ExperimentOptions) -> tuple[PlannedLane, ...]:
    """A model of each width, by which it is called.

    All read the same batches, as many tokens each, so that larger models have more compute; the learning
    rate falls with the width (its square root), as wide models bear smaller steps.
    """
    return tuple(
        PlannedLane(
            str(width),
            "transformer",
            TransformerConfiguration(
                layers=options.layers, heads=heads_for(width), width=width, context=LENGTH
            ),
            TrainingOptions(
                steps=options.steps,
                batch=BATCH,
                warmup=min(100, options.steps // 10),
                learning_rate=round(3e-3 * (options.smallest / width) ** 0.5, 6),
                validate_every=max(1, options.steps // MEASUREMENTS),
                validation_batches=20,
            ),
        )
        for width in options.widths
    )


def run_experiment(
    options: ExperimentOptions, corpus: Corpus
) -> Generator[float | MeasuredRace, None, MeasuredRace]:
    """Train the models of an experiment beside one another; see `measure_race`."""
    return measure_race(lanes_of(options), corpus)


def fitted(experiment: MeasuredRace) -> PowerLaw | None:
    """The power law through the models that are through; None while fewer than two are."""
    points = [(model.compute[-1], model.losses[-1]) for model in experiment if model.is_done]
    if len(points) < 2:
        return None
    compute, loss = (_array(values) for values in zip(*points, strict=True))
    return fit_power_law(compute, loss)


def _array(values: tuple[float, ...]) -> np.ndarray:
    import numpy as np

    return np.asarray(values, dtype=np.float64)
