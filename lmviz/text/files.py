"""Files written so that a crash leaves the old one or the new one, never half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from lmviz.errors import LmvizError


def write_atomically(path: str | Path, data: bytes) -> Path:
    """Write beside and rename; LmvizError where the folder cannot be written to."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        beside = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise LmvizError(f"{path} cannot be written: {error.strerror}. Choose another folder.") from error
    return path
