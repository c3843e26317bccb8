"""Where a run that is begun is written: a folder named after the moment and what is trained."""

from __future__ import annotations

import os
import re
import time
from datetime import datetime
from pathlib import Path

from lmviz.runs.run_title import STAMP


def new_folder(runs_folder: Path, name: str) -> Path:
    """A folder that does not exist yet, such as "2026-11-22-033511-gru-shakes"."""
    name = re.sub(r"[^\w.-]+", "-", name).strip("-.")
    stem = f"{datetime.now().strftime(STAMP)}-{name}"
    taken = os.path.exists(runs_folder / stem)
    return runs_folder / (f"{stem}-{time.time_ns() % 1000:03d}" if taken else stem)
