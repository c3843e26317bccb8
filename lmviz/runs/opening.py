"""Opens whatever holds a model: a run of lmviz, a checkpoint of another program, an ARPA file of n-grams."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.families import open_run_model
from lmviz.interchange.arpa_tokenizer import ARPA_ENDINGS
from lmviz.training.run import INNER_FOLDERS, Run

if TYPE_CHECKING:
    from lmviz.models.model import Model

WEIGHT_ENDINGS = (".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".gguf")
"""How the files of weights end that other programs write."""

SAVED_NAMES = ("ckpt.pt", "model.pt")
"""Files of nanoGPT and minGPT by which their folders are known."""


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
        return path if _holds_model(path) or _is_refused(path) else None
    if path.name.lower().endswith(ARPA_ENDINGS):
        return path
    describes = path.suffix.lower() == ".json" or path.name == "merges.txt"
    if describes and _holds_model(path.parent):
        return path.parent
    is_weights = path.suffix.lower() in WEIGHT_ENDINGS[:-1] and path.name not in SAVED_NAMES
    if is_weights and _is_folder_of_transformers(path.parent):
        return path.parent
    return path if path.suffix.lower() in WEIGHT_ENDINGS or _is_refused(path) else None


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
    if found is None or is_run:
        return Run.open(path)
    if is_arpa:
        from lmviz.interchange.arpa import open_arpa
        from lmviz.runs.foreign import ArpaRun

        return ArpaRun(found, open_arpa(found))
    from lmviz.interchange.checkpoint import open_checkpoint
    from lmviz.runs.foreign import CheckpointRun

    return CheckpointRun(found, open_checkpoint(found, base))


def open_model_of(run: Run, step: int | None = None) -> Model:
    """The model of a run after `step` updates, by default at its last snapshot, for reading.

    LmvizError where there is no such snapshot, or where its files do not fit together.
    """
    from lmviz.runs.foreign import STEP, ForeignRun

    if not isinstance(run, ForeignRun):
        return open_run_model(run, step)
    if step not in (None, STEP):
        raise LmvizError(f"{run.folder} was not trained here, and has no step {step}: leave the step out.")
    return run.model()


def _holds_model(folder: Path) -> bool:
    from lmviz.interchange.adapter import is_adapter
    from lmviz.interchange.gguf_file import models_in

    saved = any(os.path.isfile(folder / name) for name in SAVED_NAMES)
    return saved or _is_folder_of_transformers(folder) or is_adapter(folder) or bool(models_in(folder))


def _is_refused(path: Path) -> bool:
    """Whether it is a model of a kind that is recognised and not opened, or lacks its weights."""
    from lmviz.interchange.containers import container, describes_model

    return container(path) is not None or describes_model(path / "config.json")


def _is_folder_of_transformers(folder: Path) -> bool:
    from lmviz.text.reading import is_checkpoint

    return is_checkpoint(folder)
