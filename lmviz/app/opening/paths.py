"""Opens a path given on the command line or dropped on the window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmviz.app.session.session import Session


def run_folder(path: Path) -> Path | None:
    """The run that a path is, or lies in; None when it is something else."""
    for folder in (path, path.parent, path.parent.parent):
        if (folder / "run.json").is_file():
            return folder
    return None


def open_paths(session: Session, paths: Sequence[Path]) -> None:
    """Open runs as models, and everything else together as one corpus."""
    runs = [run_folder(path) for path in paths]
    for folder in dict.fromkeys(folder for folder in runs if folder is not None):
        session.library.open(folder)
    texts = [path for path, folder in zip(paths, runs, strict=True) if folder is None]
    if texts:
        session.text.open(texts[0] if len(texts) == 1 else texts)
