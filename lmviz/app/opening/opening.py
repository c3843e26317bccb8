"""Opening what a person names, drops, or had open last time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.app.opening.first_screen import FirstScreen
    from lmviz.app.opening.settings import LastSession
    from lmviz.app.session.session import Session

FIRST_MODEL = "stories-transformer"
"""The sample model that is offered where none is open: every perspective has something to say of it."""
MODEL_OFFER = f"Open {FIRST_MODEL}"
FIRST_TEXT = "stories"
"""What one's own model is trained on where no other text has been opened."""


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
        session.open_model(folder)
    texts = [path for path, folder in zip(paths, runs, strict=True) if folder is None]
    if texts:
        session.open_corpus(texts[0] if len(texts) == 1 else texts)


def go_on(session: Session, last: LastSession, first: FirstScreen | None = None) -> None:
    """Open what the last session had open, in place of the first screen."""
    from lmviz.text.corpus import CorpusOptions

    if last.sources:
        source = last.sources[0] if len(last.sources) == 1 else last.sources
        try:
            session.open_corpus(source, CorpusOptions.from_values(last.corpus_options))
        except LmvizError as sentence:
            session.failed.emit("corpus", str(sentence))
    untouched = "" if first is None else first.trace.text
    if first is not None and first.model in session.models and str(first.model.folder) != last.run:
        session.close_model(first.model)
    for run in last.runs:
        session.open_model(run, last.step if run == last.run and not last.live else None)
    if session.prefix in ("", untouched):
        session.set_prefix(last.prefix)
