"""Where the files shipped with lmviz are, and where downloaded and generated ones are kept."""

from __future__ import annotations

import os
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.base.places import shipped

DATA_VARIABLE = "LMVIZ_DATA"
"""The environment variable that names another folder for what lmviz keeps."""


def resource_path(*parts: str) -> Path:
    """A file that comes with lmviz; LmvizError when the installation lacks it."""
    path = shipped("resources").joinpath(*parts)
    if not os.path.exists(path):
        raise LmvizError(f"This installation lacks the file {'/'.join(parts)}: install lmviz again.")
    return path


def data_folder() -> Path:
    """The folder of downloaded and generated texts; it may not exist yet."""
    chosen = os.environ.get(DATA_VARIABLE)
    if chosen:
        return Path(os.path.expanduser(chosen))
    import platformdirs

    return platformdirs.user_data_path("lmviz", appauthor=False)
