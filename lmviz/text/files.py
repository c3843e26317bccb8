"""Files written so that a crash leaves the old one or the new one, never half of one."""

from __future__ import annotations

import os
from pathlib import Path

from lmviz.errors import LmvizError


def name_beside(path: Path) -> Path:
    """A hidden name in the same folder, for the file that is to become this one."""
    return path.with_name(f".{path.name}-{os.urandom(4).hex()}")


def write_atomically(path: str | Path, data: bytes) -> Path:
    """Write beside and rename; LmvizError where the folder cannot be written to."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = name_beside(path)
        try:
            with beside.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise LmvizError(f"{path} cannot be written ({error.strerror}): choose another folder.") from error
    except ValueError as error:  # a path without a name, or with a NUL in it
        raise LmvizError(f"{str(path)!r} cannot be written ({error}): choose another name.") from error
    return path
