"""Where a run that is begun is written: a folder named after the moment and what is trained."""

from __future__ import annotations

import itertools
import os
import re
from datetime import datetime
from pathlib import Path

from lmviz.base.files import cut_name
from lmviz.runs.run_title import STAMP

LONGEST = 150
"""Bytes of a name; there has to be room for the moment, a number, and the endings of unfinished files."""


def new_folder(runs_folder: Path, name: str) -> Path:
    """A folder that does not exist yet, such as "2026-11-22-033511-gru-shakes", or that and "-2"."""
    name = cut_name(re.sub(r"[^\w.-]+", "-", name).strip("-."), LONGEST).strip("-.")
    stem = f"{datetime.now().strftime(STAMP)}-{name}"
    names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
    return next(folder for each in names if not os.path.exists(folder := runs_folder / each))
