"""How long a step takes on this machine, measured by making some."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lmviz.training.options import TrainingOptions
from lmviz.training.progress import Progress

LONGEST = 1.0  # seconds of steps after which they are known well enough
BLOCK = 0.2  # seconds of steps that are timed together
FIRST = 1  # step, which takes longer: memory is fetched, and kernels are chosen


def measured_pace(
    progress: Iterator[Progress], options: TrainingOptions, clock: Callable[[], float] | None = None
) -> Iterator[float | None]:
    """Seconds a step, with its share of the time in which the validation text is measured.

    It is that of the quickest block of steps, for whatever else the machine does meanwhile only delays:
    so it is the pace of a quiet moment. Yields None until it is known, so that whoever drives it can stop,
    and then the number. `progress` is a training from its beginning, which this takes some steps from.
    `clock` gives the time after a step, in seconds; by default it is the training's own.
    """
    begun: float | None = None
    paces, validation, block, first = list[float](), 0.0, 0.0, FIRST
    for now in progress:
        seconds = now.seconds if clock is None else clock()
        if now.step == 0:
            validation = now.seconds
        elif now.step == FIRST:
            begun = block = seconds
        elif begun is not None:
            if seconds - block >= BLOCK or now.is_last:
                paces.append((seconds - block) / (now.step - first))
                block, first = seconds, now.step
            if paces and (seconds - begun >= LONGEST or now.is_last):
                yield min(paces) + validation / (options.validate_every or options.steps)
                return
        yield None
