"""Writes a model, or the curves of a run, in the format of another program."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.interchange.chosen_bases import choose_base
from lmviz.runs.opening import open_model_of
from lmviz.runs.tuned import TunedRun

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.training.run import Run

ARPA, EVENTS = ".arpa", (".tensorboard", ".tfevents")
"""The endings that say what is wanted; anything else is a folder of transformers."""


@loads("convert", doing="converted")
def convert(run: Run, out: str | Path, step: int | None = None, *, merged: bool = False) -> Path:
    """Write a run's model as a folder of transformers, or an n-gram as OUT.arpa; its curves as
    OUT.tensorboard.

    Of a LoRA that was learned beside a folder of transformers, the adapter alone is written, as peft reads
    it; with `merged` the whole model.

    What was written; an ARPA file or curves that are there already are replaced. LmvizError where the model
    cannot be written in that form, where a checkpoint lies at `out`, or where it cannot be written to.
    """
    if not isinstance(out, str | os.PathLike) or str(out) == "":
        raise LmvizError("There is no place to write to: name a folder, or a file that ends in .arpa.")
    path = Path(out)
    if path.suffix.lower() in EVENTS:
        from lmviz.interchange.event_file import write_events

        return write_events(path, run.metrics(), _began(run))
    if isinstance(run, TunedRun) and not merged and (base := _base_for_peft(run)) is not None:
        return _save_adapter(run, base, path, step)
    return save_as(open_model_of(run, step), path)


def _base_for_peft(run: TunedRun) -> Path | None:
    """The folder of transformers beside whose matrices the run has learned; None where there is none such."""
    said, base = run.description.tuned_from, run.base
    if said is None or not run.tuning.products() or base.checkpoint is None:
        return None
    # The base of an adapter is another model than the adapter that was opened.
    return base.checkpoint if os.path.exists(base.checkpoint) and not base.has_adapter else None


def _save_adapter(run: TunedRun, base: Path, path: Path, step: int | None) -> Path:
    from lmviz.interchange.adapter_saving import save_adapter

    steps = run.snapshots()
    chosen = steps[-1] if step is None and steps else step
    if chosen is None or chosen not in steps:
        run.model(chosen)  # which says what is there
    assert chosen is not None, "refused above"
    learned = run.load_learned(chosen)
    if not learned:
        raise LmvizError(f"At step {chosen} nothing was learned yet: choose a later step of {run.folder}.")
    written = save_adapter(path, base, run.tuning, learned)
    with suppress(OSError):  # it would only be asked for when the adapter is opened
        choose_base(written, base)
    return written


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
