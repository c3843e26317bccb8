"""Several texts in the place of one, and the progress of work over them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lmviz.base.arguments import check_callable
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report


def several_texts(given: Any) -> list[Any] | None:
    """The texts, or rows of ids, where several are given; None where there is one."""
    from lmviz.text.text_set import TextSet

    if isinstance(given, TextSet):
        return given.texts
    if not isinstance(given, list | tuple) or not given:
        return None
    if all(isinstance(one, str) for one in given):
        return list(given)
    if all(isinstance(one, list | tuple | np.ndarray) for one in given):
        return list(given)
    return None


def sources_of(source: Any, count: int) -> list[Any] | None:
    """What is read beside each of several texts: the same, or one for each; None without any."""
    if source is None:
        return None
    several = several_texts(source)
    if several is None:
        return [source] * count
    if len(several) != count:
        raise LmvizError(
            f"There are {len(several)} sources for {count} texts: give one for each, or one for all."
        )
    return several


@contextmanager
def told(progress: Report | None) -> Iterator[None]:
    """Within, `progress` hears of the share that is done, never of less than before, and of 1 at last."""
    from lmviz.models.interruption import interruptible

    check_callable("progress", progress)
    if progress is None:
        yield
        return
    most = 0.0

    def look(done: float | None) -> None:
        nonlocal most
        if done is not None and done > most:
            most = done
            progress(done)

    progress(0.0)
    with interruptible(look):
        yield
    progress(1.0)
