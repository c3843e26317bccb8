"""Where fitted lenses are kept: beside the run they were fitted to, so that they are found again.

Nothing is written into the folder of a sample model, or of a checkpoint of another program: what was fitted
to it is in the folder of downloaded texts.
"""

from __future__ import annotations

import os
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.models.model import Model
from lmviz.readouts.fitted_lens import FittedLens, check_fits, read_lens
from lmviz.readouts.kept_beside import beside_run
from lmviz.readouts.stream_pass import StreamPass

FOLDER = "lenses"


def kept_at(folder: Path, created: str, kind: str, step: int) -> Path:
    """The file of a lens: of a run's folder, when it was begun, the kind of lens and the step of its model.

    Another run may later be begun in the same folder, and finds nothing of this one's.
    """
    place, digest = beside_run(folder, created)
    return place / FOLDER / f"{kind}-{step}-{digest}.safetensors"


def keep(lens: FittedLens, path: Path) -> Path:
    """Write a lens where it is kept; LmvizError where that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise LmvizError(
            f"The lens cannot be kept in {path.parent}: {fault.strerror}. It stays until lmviz is closed."
        ) from fault
    return lens.save(path)


def kept(path: Path, model: Model) -> FittedLens | None:
    """The lens that is kept for a model; None where there is none, or where the file is damaged."""
    if not os.path.isfile(path):
        return None
    try:
        lens = read_lens(path)
        check_fits(lens, StreamPass(model).widths())
    except LmvizError:
        return None
    return lens
