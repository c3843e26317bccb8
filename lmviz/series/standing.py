"""How the training of a series stands, as its files tell it: whether more is to come, and how old it is."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from lmviz.base.errors import LmvizError
from lmviz.interchange.stored_tensors import read_json
from lmviz.interchange.wholeness import files_of
from lmviz.text.checkpoint_names import TRAINER_STATE

PATIENCE = 60.0
"""Seconds for which a training that has saved once is taken to be under way."""

LATE = 3.0
"""So many times as long as ever between two checkpoints without a new one: then a training has stopped."""

DAY = 86_400.0
"""Seconds after which nobody waits for a checkpoint any more."""

RECENT = 20
"""Checkpoints whose moments say how far apart they come."""

Phase = Literal["watching", "finished", "stopped"]


@dataclass(frozen=True)
class Standing:
    """`written` is when the newest checkpoint was, in seconds since 1970, and `apart` the longest time
    between two of the last ones, None of a single one. `planned` is how many steps will be made, None where
    nothing says it.
    """

    newest: int
    written: float
    apart: float | None = None
    planned: int | None = None

    def phase(self, now: float | None = None) -> Phase:
        """Whether more is to come: "finished" where all planned steps are made, "stopped" where the next
        checkpoint is long overdue.
        """
        if self.planned is not None and self.newest >= self.planned:
            return "finished"
        waited = (time.time() if now is None else now) - self.written
        return "stopped" if waited > max(PATIENCE, LATE * (self.apart or 0.0)) else "watching"

    def in_words(self, now: float | None = None) -> str:
        """In a few words: "watching · newest 40 s ago"."""
        now = time.time() if now is None else now
        phase = self.phase(now)
        if phase == "finished" or now - self.written > DAY:
            return "trained by another program"
        said = "watching" if phase == "watching" else "no new checkpoint"
        return f"{said} · newest {ago(now - self.written)}"


def standing_of(steps: Mapping[int, Path]) -> Standing | None:
    """How a training stands whose checkpoints lie there by their steps; None where none are left."""
    moments = [
        moment for place in list(steps.values())[-RECENT:] if (moment := written_at(place)) is not None
    ]
    if not moments:
        return None
    apart = [later - earlier for earlier, later in pairwise(moments)]
    newest = list(steps)[-1]
    return Standing(newest, moments[-1], max(apart, default=None), planned_steps(steps[newest]))


def written_at(place: Path) -> float | None:
    """When the last of a checkpoint's weights was written; None where nothing is there."""
    moments = []
    for path in files_of(place):
        try:
            moments.append(os.stat(path).st_mtime)
        except OSError:
            return None
    return max(moments, default=None)


def planned_steps(place: Path) -> int | None:
    """How many updates the training of a checkpoint will make, as transformers' Trainer writes it."""
    if not os.path.isfile(place / TRAINER_STATE):
        return None
    try:
        planned = read_json(place / TRAINER_STATE).get("max_steps")
    except LmvizError:  # it is being written
        return None
    return planned if type(planned) is int and planned > 0 else None


def ago(seconds: float) -> str:
    """A time that has passed: "40 s ago", "12 min ago", "3 h ago", "5 days ago"."""
    seconds = max(0.0, seconds)
    if seconds < 100:
        return f"{seconds:.0f} s ago"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min ago"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.0f} h ago"
    return f"{seconds / 86400:,.0f} days ago"


def read_ahead(place: Path) -> None:
    """Have the system read the weights of a checkpoint soon, if it can: they will be asked for."""
    for path in files_of(place):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
