"""Where the files that come with lmviz lie, and where it keeps those that it fetches or makes."""

from __future__ import annotations

import os
from pathlib import Path

from lmviz.errors import LmvizError

DATA_VARIABLE = "LMVIZ_DATA"
"""The environment variable that names another folder for what lmviz keeps."""

_PACKAGE = Path(__file__).resolve().parent.parent


def resource_path(*parts: str) -> Path:
    """A file that comes with lmviz: inside the installed package, or beside it in a checkout."""
    candidates = (_PACKAGE / "resources", _PACKAGE.parent / "resources")
    for folder in candidates:
        path = folder.joinpath(*parts)
        if path.exists():
            return path
    raise LmvizError(f"This installation lacks the file {'/'.join(parts)}: install lmviz again.")


def data_folder() -> Path:
    """The folder of downloaded and generated texts; it may not exist yet."""
    chosen = os.environ.get(DATA_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return platformdirs.user_data_path("lmviz", appauthor=False)
