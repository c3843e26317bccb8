"""Where what was read off a run is kept: beside it, or with downloaded texts where it is not one's own."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from lmviz.base.places import shipped
from lmviz.text.resources import data_folder


def beside_run(folder: Path, created: str) -> tuple[Path, str]:
    """The folder in which files about a run are kept, and a mark of this run for their names.

    Another run may later be begun in the same folder, and finds nothing of this one's.
    """
    samples = shipped("sample_models").resolve()
    is_own = os.path.isfile(folder / "run.json") and samples not in folder.resolve().parents
    told = created if is_own else f"{folder.resolve()} {created}"
    digest = hashlib.sha256(told.encode("utf-8", errors="replace")).hexdigest()[:12]
    return (folder if is_own else data_folder()), digest
