"""Opens whatever holds a model: a run of lmviz, a checkpoint of another program or a series of them, an ARPA
file of n-grams."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.families import open_run_model
from lmviz.interchange.arpa_tokenizer import ARPA_ENDINGS
from lmviz.runs.folder_contents import contents_of
from lmviz.text.checkpoint_names import (
    ADAPTER_WEIGHTS,
    WEIGHT_ENDINGS,
    holds_model,
    is_adapter,
    is_checkpoint,
    is_of_transformers,
)
from lmviz.training.run import INNER_FOLDERS, Run

if TYPE_CHECKING:
    from lmviz.models.model import Model


BESIDE_WEIGHTS = ("merges.txt", "tokenizer.model", "tokenizer.pkl", "meta.pkl")
"""Files beside weights, apart from those in JSON, any of which stands for the model."""


def find_model(path: Path) -> Path | None:
    """The folder or file of a model that a path is, or lies in; None where it is something else.

    What lmviz recognises and does not open is found too, so that opening says why. Nothing is read but the
    names of files, and of a config.json whether it describes a model.
    """
    inner = (path.parent.parent,) if path.parent.name in INNER_FOLDERS else ()
    for folder in (path, path.parent, *inner):
        if os.path.isfile(folder / "run.json"):
            return folder
    if os.path.isdir(path):
        return _model_in(path)
    if path.name.lower().endswith(ARPA_ENDINGS):
        return path
    is_beside = path.suffix.lower() == ".json" or path.name in BESIDE_WEIGHTS
    if is_beside and _holds_model(path.parent):
        return path.parent
    belongs = is_of_transformers(path) or path.name in ADAPTER_WEIGHTS
    if belongs and (is_checkpoint(path.parent) or is_adapter(path.parent)):
        return path.parent
    return path if path.suffix.lower() in WEIGHT_ENDINGS or _is_refused(path) else None


def _model_in(folder: Path) -> Path | None:
    """The folder itself, where it holds a model or the checkpoints of a training in order of their steps."""
    from lmviz.series.series_run import is_series

    if is_series(folder) or is_checkpoint(folder) or is_adapter(folder):
        return folder
    return folder if _holds_model(folder) or _is_refused(folder) else None


@loads("run")
def open_recorded(folder: str | Path, base: str | Path | None = None) -> Run:
    """The run in a folder, or what another program wrote seen as one; LmvizError where there is neither.

    `base` is the model that an adapter is added to, by default the one that it names.
    """
    path = Path(folder)
    found = find_model(path)
    is_run = found is None or os.path.isfile(found / "run.json")
    is_arpa = found is not None and found.name.lower().endswith(ARPA_ENDINGS)
    if base is not None and (is_run or is_arpa):
        raise LmvizError(f"{path} is not an adapter, and so has no base: leave the base out.")
    if found is None:
        raise LmvizError(contents_of(path).sentence)
    if is_run:
        return Run.open(path)
    from lmviz.series.foreign import ArpaRun, CheckpointRun
    from lmviz.series.series_run import SeriesRun, is_series

    if is_arpa:
        from lmviz.interchange.arpa import open_arpa

        return ArpaRun(found, open_arpa(found))
    if is_series(found):
        return SeriesRun(found, None if base is None else Path(base))
    from lmviz.interchange.checkpoint import open_checkpoint

    return CheckpointRun(found, open_checkpoint(found, base))


def open_model_of(run: Run, step: int | None = None) -> Model:
    """The model of a run after `step` updates, by default at its last snapshot, for reading.

    LmvizError where there is no such snapshot, or where its files do not fit together.
    """
    from lmviz.series.foreign import ForeignRun

    return run.model(step) if isinstance(run, ForeignRun) else open_run_model(run, step)


def _holds_model(folder: Path) -> bool:
    from lmviz.interchange.gguf_file import models_in

    return holds_model(folder) or bool(models_in(folder))


def _is_refused(path: Path) -> bool:
    """Whether it is a model of a kind that is recognised and not opened, or lacks its weights."""
    from lmviz.interchange.containers import container, describes_model

    return container(path) is not None or describes_model(path / "config.json")
