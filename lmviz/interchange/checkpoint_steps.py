"""The checkpoints of a training of another program that lie in one folder, in the order of their steps.

A step is what the program has written down for it: `global_step` in a `trainer_state.json`, the `iter_num` of
nanoGPT inside a file, or what others call it; otherwise the number in the name.
"""

from __future__ import annotations

import contextlib
import os
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.text.checkpoint_names import (
    TRAINER_STATE,
    NamedStep,
    is_checkpoint,
    named_steps,
    step_in_name,
    weights_in,
)

LARGEST_STATE = 100_000_000
"""Bytes of a trainer_state.json, which keeps what was measured at every step."""

BEGINNING = 16_384
"""Bytes of a trainer_state.json in which its step is looked for first: it is sorted, and long at its end."""

COUNTS = ("step_count", "iter_num", "global_step", "step", "iteration", "steps", "epoch")
"""What programs call the number of updates beside a model's weights; the first that is there is meant.

litgpt counts updates in `step_count`, and batches of which several make one in `iter_num`.
"""

SURE_COUNTS = COUNTS[:3]
"""Those that name updates and nothing else, and so come before a number in a name."""

LARGEST_INDEX = 100_000_000
"""Bytes of the description inside a file of torch.save."""

SAVED = (".pt", ".pth", ".ckpt")
"""How files of torch.save end, which may say their step inside."""


@dataclass(frozen=True)
class StoredStep:
    """A checkpoint as it is opened, a folder or a file, and the number of updates that made it."""

    step: int
    path: Path


def steps_in(folder: Path, known_steps: Mapping[Path, int] = MappingProxyType({})) -> tuple[StoredStep, ...]:
    """The checkpoints in a folder of several, the oldest first; none where it is no such folder.

    What says its step nowhere is left out. `known_steps` are those of checkpoints that have not changed since
    they were looked at, and are not read again.
    """
    found = named_steps(folder) or _unnamed(folder)
    steps = ((each, known_steps.get(each.path, None)) for each in found)
    read = ((each, _step_of(each) if step is None else step) for each, step in steps)
    known = [StoredStep(step, each.path) for each, step in read if step is not None]
    return tuple(sorted(known, key=lambda each: (each.step, each.path.name)))


def steps_of(paths: Iterable[Path], known_steps: Mapping[Path, int]) -> tuple[StoredStep, ...]:
    """The same of checkpoints that are known to be some, wherever they lie, and however many they are."""
    named = (NamedStep(path, step_in_name(path.name if os.path.isdir(path) else path.stem)) for path in paths)
    steps = ((each.path, known_steps.get(each.path, None) or _step_of(each)) for each in named)
    return tuple(StoredStep(step, path) for path, step in steps if step is not None)


def has_steps(folder: Path) -> bool:
    """Whether `steps_in` finds any; it reads no more than it takes to know."""
    return any(_step_of(each) is not None for each in named_steps(folder) or _unnamed(folder))


def unnumbered_in(folder: Path, steps: Sequence[StoredStep]) -> tuple[Path, ...]:
    """The checkpoints beside those of a series that say their step nowhere, such as `main` or `best`."""
    from lmviz.text.checkpoint_names import holds_model

    known = {each.path for each in steps}
    with contextlib.suppress(OSError):
        inner = sorted(path for path in folder.iterdir() if os.path.isdir(path) and path not in known)
        return tuple(path for path in inner if not path.name.startswith(".") and holds_model(path))
    return ()


def _unnamed(folder: Path) -> tuple[NamedStep, ...]:
    """Files of weights without numbers in their names, where there are several of them and nothing else."""
    files = [path for path in weights_in(folder) if path.suffix.lower() in SAVED]
    if len(files) < 2 or is_checkpoint(folder):
        return ()
    return tuple(NamedStep(path, None) for path in files)


def _step_of(named: NamedStep) -> int | None:
    if (said := step_of_trainer(named.path / TRAINER_STATE)) is not None:
        return said
    if os.path.isdir(named.path):
        return named.step
    if named.path.suffix.lower() in SAVED:
        if (said := step_inside(named.path)) is not None:
            return said
        if named.step is None:
            return _counted_in(named.path)
    return named.step


def step_of_trainer(state: Path) -> int | None:
    """The step in a trainer_state.json; None where there is none.

    The file is sorted by name, and the step stands before what was measured at every step: its beginning is
    enough, however long a training was.
    """
    from lmviz.interchange.stored_tensors import read_json
    from lmviz.text.ordinary_files import check_ordinary

    try:
        check_ordinary(state)
        with open(state, "rb") as file:
            begins = file.read(BEGINNING)
    except (OSError, LmvizError):
        return None
    if b'"log_history"' in begins or len(begins) == BEGINNING:
        found = re.search(rb'"global_step"\s*:\s*(\d{1,12})\s*[,}]', begins.partition(b'"log_history"')[0])
        if found:
            return int(found[1])
    with contextlib.suppress(LmvizError):
        step = read_json(state, LARGEST_STATE).get("global_step")
        if type(step) is int and step >= 0:
            return step
    return None


def step_inside(path: Path) -> int | None:
    """The number of updates that a file of torch.save says beside its weights; None where it says none.

    Its description is searched for the name, behind which the number stands. Nothing of it is run or built,
    and it takes a fraction of a millisecond, so that hundreds of files are put in order at once.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            inner = next(item for item in archive.infolist() if item.filename.endswith("/data.pkl"))
            if inner.file_size > LARGEST_INDEX or inner.compress_type != zipfile.ZIP_STORED:
                return None
            description = archive.read(inner)
    except (OSError, ValueError, StopIteration, zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return None
    return next(
        (step for name in SURE_COUNTS if (step := _number_behind(name, description)) is not None), None
    )


def _number_behind(name: str, description: bytes) -> int | None:
    """The whole number that is a value of a name in a pickle, as torch.save writes both.

    A name is a BINUNICODE, which is remembered (BINPUT or LONG_BINPUT); a number follows as BININT1,
    BININT2 or BININT.
    """
    written = b"X" + len(name).to_bytes(4, "little") + name.encode()
    found = re.search(re.escape(written) + rb"(?:q.|r.{4})?(?:K(.)|M(..)|J(.{4}))", description, re.DOTALL)
    if found is None:
        return None
    number = int.from_bytes(next(group for group in found.groups() if group is not None), "little")
    return number if number < 2**31 else None


def _counted_in(path: Path) -> int | None:
    """What a file calls its number of updates, read whole; None where it says nothing."""
    from lmviz.interchange.stored_tensors import read_saved

    with contextlib.suppress(LmvizError):
        values: dict[str, Any] = read_saved(path)
        return next((values[name] for name in COUNTS if type(values.get(name)) is int), None)
    return None
