"""How long a step takes on this machine, measured by making some."""

from __future__ import annotations

from collections.abc import Iterator

from lmviz.training.options import TrainingOptions
from lmviz.training.progress import Progress

LONGEST = 1.0  # seconds of steps after which they are known well enough
FIRST = 1  # step, which takes longer: memory is fetched, and kernels are chosen


def measured_pace(progress: Iterator[Progress], options: TrainingOptions) -> Iterator[float | None]:
    """Seconds a step, with its share of the time in which the validation text is measured.

    Yields None until it is known, so that whoever drives it can stop, and then the number. `progress` is a
    training from its beginning, which this takes some steps from.
    """
    begun: Progress | None = None
    validation = 0.0
    for now in progress:
        if now.step == 0:
            validation = now.seconds
        elif now.step == FIRST:
            begun = now
        elif begun is not None and (now.seconds - begun.seconds >= LONGEST or now.is_last):
            every = options.validate_every or options.steps
            yield (now.seconds - begun.seconds) / (now.step - begun.step) + validation / every
            return
        yield None
