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
from lmviz.runs.opening import open_model_of, place_of_base
from lmviz.runs.tuned import TunedRun

if TYPE_CHECKING:
    import torch

    from lmviz.models.model import Model
    from lmviz.training.run import Run

ARPA, EVENTS, GGUF = ".arpa", (".tensorboard", ".tfevents"), ".gguf"
"""The endings that say what is wanted; anything else is a folder of transformers."""


@loads("convert", doing="converted")
def convert(run: Run, out: str | Path, step: int | None = None, *, merged: bool = False) -> Path:
    """Write a run's model as a folder of transformers, or an n-gram as OUT.arpa; its curves as
    OUT.tensorboard.

    Of a LoRA that was learned beside a folder of transformers, the adapter alone is written, as peft reads
    it, or as OUT.gguf, as llama.cpp does; with `merged` the whole model.

    What was written; an ARPA file or curves that are there already are replaced. LmvizError where the model
    cannot be written in that form, where a checkpoint lies at `out`, or where it cannot be written to.
    """
    if not isinstance(out, str | os.PathLike) or str(out) == "":
        raise LmvizError("There is no place to write to: name a folder, or a file that ends in .arpa.")
    path = Path(out)
    if path.suffix.lower() in EVENTS:
        from lmviz.interchange.event_file import write_events

        return write_events(path, run.metrics(), _began(run))
    if path.suffix.lower() == GGUF:
        return _save_gguf(run, path, step, merged=merged)
    if isinstance(run, TunedRun) and not merged and (base := _base_for_peft(run)) is not None:
        return _save_adapter(run, base, path, step)
    return save_as(open_model_of(run, step), path)


def _base_for_peft(run: TunedRun) -> Path | None:
    """The folder of transformers beside whose matrices the run has learned; None where there is none such."""
    base = run.base
    if not _is_product(run) or base.checkpoint is None:
        return None
    return base.checkpoint if os.path.exists(base.checkpoint) else None


def _is_product(run: Run) -> bool:
    """Whether what a run has learned can be added to its base as an adapter."""
    if not isinstance(run, TunedRun) or run.description.tuned_from is None:
        return False
    # The base of an adapter is another model than the adapter that was opened.
    return bool(run.tuning.products()) and not run.base.has_adapter


def _save_adapter(run: TunedRun, base: Path, path: Path, step: int | None) -> Path:
    from lmviz.interchange.adapter_saving import save_adapter

    written = save_adapter(path, base, run.tuning, _learned(run, step))
    with suppress(OSError):  # it would only be asked for when the adapter is opened
        choose_base(written, base)
    return written


def _save_gguf(run: Run, path: Path, step: int | None, *, merged: bool) -> Path:
    place = place_of_base(run) if _is_product(run) and not merged else None
    if place is None or os.path.exists(place / "run.json"):
        raise LmvizError(
            f"Only a LoRA that was learned beside a checkpoint is written as {GGUF}: name a folder, of which "
            "llama.cpp's convert_hf_to_gguf.py makes such a file."
        )
    from lmviz.interchange.gguf_adapter import save_gguf_adapter

    assert isinstance(run, TunedRun)
    return save_gguf_adapter(path, place, run.tuning, _learned(run, step))


def _learned(run: TunedRun, step: int | None) -> dict[str, torch.Tensor]:
    """What was learned up to a step, or in all; LmvizError where that is nothing."""
    steps = run.snapshots()
    chosen = steps[-1] if step is None and steps else step
    if chosen is None or chosen not in steps:
        run.model(chosen)  # which says what is there
    assert chosen is not None, "refused above"
    learned = run.load_learned(chosen)
    if not learned:
        raise LmvizError(f"At step {chosen} nothing was learned yet: choose a later step of {run.folder}.")
    return learned


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
