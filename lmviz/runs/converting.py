"""Writes a model, or the curves of a run, in the format of another program."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.runs.opening import open_model_of

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.training.run import Run

ARPA, EVENTS = ".arpa", (".tensorboard", ".tfevents")
"""The endings that say what is wanted; anything else is a folder of transformers."""


@loads("convert", doing="converted")
def convert(run: Run, out: str | Path, step: int | None = None) -> Path:
    """Write a run's model as a folder of transformers, or an n-gram as OUT.arpa; its curves as
    OUT.tensorboard.

    What was written; an ARPA file or curves that are there already are replaced. LmvizError where the model
    cannot be written in that form, where a checkpoint lies at `out`, or where it cannot be written to.
    """
    if not isinstance(out, str | os.PathLike) or str(out) == "":
        raise LmvizError("There is no place to write to: name a folder, or a file that ends in .arpa.")
    path = Path(out)
    if path.suffix.lower() in EVENTS:
        from lmviz.interchange.event_file import write_events

        return write_events(path, run.metrics(), _began(run))
    return save_as(open_model_of(run, step), path)


def save_as(model: Model, path: Path) -> Path:
    """Write a model as a folder of transformers, or as an ARPA file where the path ends so."""
    if path.suffix.lower() != ARPA:
        from lmviz.interchange.saving import save_pretrained

        return save_pretrained(model, path)
    from lmviz.interchange.arpa import write_arpa
    from lmviz.models.ngram.backoff import BackoffNgram
    from lmviz.models.ngram.model import Ngram

    if isinstance(model, BackoffNgram):
        raise LmvizError(f"{model.name} is in ARPA format already: copy the file.")
    if not isinstance(model, Ngram) or model.tokenizer is None:
        raise LmvizError(f"Only an n-gram that was counted here can be written as {ARPA}: name a folder.")
    write_arpa(path, model, model.tokenizer)
    return path


def _began(run: Run) -> float:
    """When a run was begun, in seconds since 1970."""
    try:
        return datetime.fromisoformat(run.description.created).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
