"""How long a step takes on this machine, measured by making some."""

from __future__ import annotations

from collections.abc import Iterator

from lmviz.training.options import TrainingOptions
from lmviz.training.progress import Progress

LONGEST = 1.0  # seconds of steps after which they are known well enough
BLOCK = 0.2  # seconds of steps that are timed together
FIRST = 1  # step, which takes longer: memory is fetched, and kernels are chosen


def measured_pace(progress: Iterator[Progress], options: TrainingOptions) -> Iterator[float | None]:
    """Seconds a step, with its share of the time in which the validation text is measured.

    It is that of the quickest block of steps, for whatever else the machine does meanwhile only delays:
    so it is the pace of a quiet moment. Yields None until it is known, so that whoever drives it can stop,
    and then the number. `progress` is a training from its beginning, which this takes some steps from.
    """
    begun: Progress | None = None
    block: Progress | None = None
    validation, paces = 0.0, list[float]()
    for now in progress:
        if now.step == 0:
            validation = now.seconds
        elif now.step == FIRST:
            begun = block = now
        elif begun is not None and block is not None:
            if now.seconds - block.seconds >= BLOCK or now.is_last:
                paces.append((now.seconds - block.seconds) / (now.step - block.step))
                block = now
            if paces and (now.seconds - begun.seconds >= LONGEST or now.is_last):
                yield min(paces) + validation / (options.validate_every or options.steps)
                return
        yield None
