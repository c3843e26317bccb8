"""Copies of checkpoints that another program will delete: what it takes to open them, and nothing else.

They lie among lmviz's own files, in one folder for each folder of a training, and are a part of the series
from then on, whether or not the program has deleted its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.interchange.litgpt import DESCRIPTION as LITGPT_DESCRIPTION
from lmviz.interchange.tokenizer_files import CHARACTERS, SMALL_FILES
from lmviz.interchange.wholeness import files_of
from lmviz.text.checkpoint_names import ADAPTER, TRAINER_STATE, is_weights
from lmviz.text.resources import data_folder

BESIDE = (*SMALL_FILES, ADAPTER, TRAINER_STATE, LITGPT_DESCRIPTION, CHARACTERS)
"""What is copied beside the weights of a checkpoint that is a folder."""

ALWAYS_FREE = 1_000_000_000
"""Bytes that stay free on the disk: a copy must never be what stops a training."""


def place_of_copies(folder: Path) -> Path:
    """Where copies of the checkpoints in a folder lie, or would."""
    resolved = folder.resolve()
    mark = hashlib.blake2b(str(resolved).encode(), digest_size=4).hexdigest()
    return data_folder() / "kept" / f"{resolved.name or 'root'}-{mark}"


def keep_copy(checkpoint: Path, copies: Path) -> Path:
    """Copy a checkpoint into a folder of copies; where it is then. One that is there already stays.

    LmvizError where there is no room, or where it cannot be read or written.
    """
    place = copies / checkpoint.name
    if os.path.exists(place):
        return place
    unfinished = copies / f"tmp-{checkpoint.name}"
    try:
        copies.mkdir(parents=True, exist_ok=True)
        for name in BESIDE:  # what describes all checkpoints lies beside them at times
            if os.path.isfile(checkpoint.parent / name) and not os.path.exists(copies / name):
                shutil.copy2(checkpoint.parent / name, copies / name)
        needed = size_of(checkpoint)
        if shutil.disk_usage(copies).free - needed < ALWAYS_FREE:
            raise LmvizError(
                f"No more copies are kept: there is no room for {needed / 1e6:,.0f} MB and 1 GB beside where "
                f"{copies} is; make room, or switch keeping off."
            )
        _remove(unfinished)
        if os.path.isdir(checkpoint):
            unfinished.mkdir()
            for path in _files(checkpoint):
                shutil.copy2(path, unfinished / path.name)
        else:
            shutil.copy2(checkpoint, unfinished)
        unfinished.rename(place)
    except OSError as error:
        _remove(unfinished)
        reason = error.strerror or str(error)
        raise LmvizError(f"{checkpoint} cannot be copied to {copies} ({reason}): make room there.") from None
    return place


def copies_in(copies: Path) -> list[Path]:
    """The copies that lie in a folder of them; none where there is no such folder."""
    with contextlib.suppress(OSError):
        inner = sorted(path for path in copies.iterdir() if not path.name.startswith("tmp-"))
        return [path for path in inner if os.path.isdir(path) or is_weights(path)]
    return []


def size_of(checkpoint: Path) -> int:
    """The bytes that a copy of a checkpoint takes."""
    paths = _files(checkpoint) if os.path.isdir(checkpoint) else [checkpoint]
    return sum(os.stat(path).st_size for path in paths)


def size_of_copies(copies: Path) -> int:
    """The bytes that all copies in a folder take; 0 where there are none."""
    total = 0
    for place, _, names in os.walk(copies):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.stat(os.path.join(place, name)).st_size
    return total


def _files(checkpoint: Path) -> list[Path]:
    beside = (checkpoint / name for name in BESIDE)
    indices = checkpoint.glob("*.index.json")
    return list(dict.fromkeys([*files_of(checkpoint), *filter(os.path.isfile, beside), *indices]))


def _remove(path: Path) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
