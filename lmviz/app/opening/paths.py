"""Opens a path given on the command line or dropped on the window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lmviz.app.session.session import Session


def title_of_path(path: Path) -> str:
    """What a person calls what is opened from a path: the title of a run, the name of everything else."""
    from lmviz.runs.opening import find_model
    from lmviz.runs.run_list import title_in

    folder = find_model(path)
    return path.name if folder is None else title_in(folder)


def race_at(path: Path) -> Path | None:
    """The folder of the race that a path is, or whose `race.json` it is; None where it is no race."""
    from lmviz.runs.race_folder import NAME, is_race

    folder = path.parent if path.name == NAME else path
    return folder if is_race(folder) else None


def open_models_and_texts(session: Session, paths: Sequence[Path]) -> tuple[list[Path], bool]:
    """Open runs and checkpoints as models, the rest as one corpus.

    The folders of the models, and whether there is such a corpus.
    """
    from lmviz.runs.opening import find_model

    models = [find_model(path) for path in paths]
    folders = list(dict.fromkeys(folder for folder in models if folder is not None))
    for folder in folders:
        session.library.open(folder)
    texts = [path for path, folder in zip(paths, models, strict=True) if folder is None]
    if texts:
        session.text.open(texts)
    return folders, bool(texts)
