"""The checkpoints of a training of another program that lie in one folder, in the order of their steps.

A step is what the program has written down for it: `global_step` in a `trainer_state.json`, otherwise the
number in the name, and for files that have none the `iter_num` of nanoGPT, or what others call it, inside.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.text.checkpoint_names import TRAINER_STATE, NamedStep, is_checkpoint, named_steps, weights_in

LARGEST_STATE = 100_000_000
"""Bytes of a trainer_state.json, which keeps what was measured at every step."""

COUNTS = ("iter_num", "global_step", "step", "iteration", "steps", "epoch")
"""What programs call the number of updates beside a model's weights; the first that is there is meant."""


@dataclass(frozen=True)
class StoredStep:
    """A checkpoint as it is opened, a folder or a file, and the number of updates that made it."""

    step: int
    path: Path


def steps_in(folder: Path) -> tuple[StoredStep, ...]:
    """The checkpoints in a folder of several, the oldest first; none where it is no such folder.

    What says its step nowhere is left out.
    """
    found = named_steps(folder) or _unnamed(folder)
    known = [StoredStep(step, each.path) for each in found if (step := _step_of(each)) is not None]
    return tuple(sorted(known, key=lambda each: (each.step, each.path.name)))


def steps_in_words(folder: Path, steps: Sequence[StoredStep], opened: Path) -> str:
    """What is said of a folder of which one checkpoint is opened."""
    numbers = [f"{each.step:,}" for each in steps]
    if len(numbers) == 1:
        return f"{folder} holds the checkpoint of step {numbers[0]}, {opened.name}, which is opened."
    some = numbers[:-1] if len(numbers) <= MOST_SAID else [*numbers[: MOST_SAID - 1], "…"]
    which = "the newest" if opened == steps[-1].path else "one of them"
    return (
        f"{folder} holds checkpoints of the steps {', '.join(some)} and {numbers[-1]}: {which}, "
        f"{opened.name}, is opened."
    )


MOST_SAID = 6
"""Steps that a sentence lists."""


def _unnamed(folder: Path) -> tuple[NamedStep, ...]:
    """Files of weights without numbers in their names, where there are several of them and nothing else."""
    files = [path for path in weights_in(folder) if path.suffix.lower() in (".pt", ".pth", ".ckpt")]
    if len(files) < 2 or is_checkpoint(folder):
        return ()
    return tuple(NamedStep(path, None) for path in files)


def _step_of(named: NamedStep) -> int | None:
    if os.path.isfile(named.path / TRAINER_STATE):
        from lmviz.interchange.stored_tensors import read_json

        with contextlib.suppress(LmvizError):
            step = read_json(named.path / TRAINER_STATE, LARGEST_STATE).get("global_step")
            if type(step) is int and step >= 0:
                return step
    if named.step is not None or os.path.isdir(named.path):
        return named.step
    from lmviz.interchange.stored_tensors import read_saved

    with contextlib.suppress(LmvizError):
        values: dict[str, Any] = read_saved(named.path)
        return next((values[name] for name in COUNTS if type(values.get(name)) is int), None)
    return None
