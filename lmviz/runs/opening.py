"""Opens whatever holds a model: a run of lmviz, a checkpoint of another program or a series of them, an ARPA
file of n-grams."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.base.places import shipped
from lmviz.families import open_run_model
from lmviz.interchange.arpa_tokenizer import ARPA_ENDINGS
from lmviz.interchange.chosen_bases import NoBase, chosen_base
from lmviz.runs.folder_contents import contents_of
from lmviz.runs.tuned import TunedRun, check_base
from lmviz.text.checkpoint_names import (
    ADAPTER_WEIGHTS,
    DISTRIBUTED,
    WEIGHT_ENDINGS,
    holds_model,
    is_adapter,
    is_checkpoint,
    is_distributed,
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
    if path.name == DISTRIBUTED or path.suffix == ".distcp":
        return path.parent if is_distributed(path.parent) else path
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
    if base is not None and is_run:
        run = Run.open(path)
        if run.description.tuned_from is not None:
            return TunedRun(path, run.description, base_of(run, Path(base)))
    if base is not None and (is_run or is_arpa):
        raise LmvizError(f"{path} is not an adapter, and so has no base: leave the base out.")
    if found is None:
        raise LmvizError(contents_of(path).sentence)
    if is_run:
        run = Run.open(path)
        return run if run.description.tuned_from is None else TunedRun(path, run.description, base_of(run))
    from lmviz.series.foreign import ArpaRun, CheckpointRun
    from lmviz.series.series_run import SeriesRun, is_series

    if is_arpa:
        from lmviz.interchange.arpa import open_arpa

        return ArpaRun(found, open_arpa(found))
    if is_series(found):
        return SeriesRun(found, None if base is None else Path(base))
    from lmviz.interchange.checkpoint import open_checkpoint

    return CheckpointRun(found, open_checkpoint(found, base))


def base_of(run: Run, chosen: Path | None = None) -> Model:
    """The model that a run which was trained on from one began with; NoBase where it is not there.

    LmvizError where another model lies there by now.
    """
    said = run.description.tuned_from
    assert said is not None, "asked of tuned runs alone"
    base = base_at(place_of_base(run, chosen), said.get("step"))
    check_base(run.folder, said, base)
    return base


def place_of_base(run: Run, chosen: Path | None = None) -> Path:
    """Where the model is with which a run began that was trained on from one; NoBase where it is not there.

    It is `chosen`, or what was chosen for the run before, as it is where the run was begun on this machine.
    What only the run says is looked for beside it and among the sample models, as whoever wrote it may have
    named any file of the machine.
    """
    said = run.description.tuned_from
    assert said is not None, "asked of tuned runs alone"
    place, named = said["place"], re.split(r"[/\\]", said["place"].rstrip("/\\"))[-1]
    before = chosen or chosen_base(run.folder)
    places = [] if before is None else [before]
    if before is None and named not in ("", ".", "..") and "\0" not in named:
        places = [*([shipped("sample_models") / named] if place == named else [])]
        places += [run.folder / named, run.folder.parent / named]
    for found in places:
        if os.path.exists(found):
            return found
    raise NoBase(
        f"{run.folder} was trained on from {said['name'][:200]!r}, which is not beside it: choose where that "
        f"model is (it was at {place[:200]}).",
        run.folder,
    )


_BASES: WeakValueDictionary[tuple[object, ...], Model] = WeakValueDictionary()
"""The bases that somebody still holds: scrubbing through a run opens its base once."""

_opening: set[str] = set()


def base_at(place: Path, step: int | None = None) -> Model:
    """The model at a place, for training on from it or for adding to it what was learned; LmvizError."""
    there = os.path.realpath(place)
    if there in _opening:
        raise LmvizError(f"{place} names itself as the model that it began with: choose another run.")
    key = (there, step, _written(place))
    known = _BASES.get(key)
    if known is not None:
        return known
    _opening.add(there)
    try:
        model = open_model_of(open_recorded(place), step)
    finally:
        _opening.discard(there)
    _BASES[key] = model
    return model


def _written(place: Path) -> tuple[tuple[str, int], ...]:
    """When the files of a model were written."""
    try:
        files = [place, *sorted(place.iterdir())] if os.path.isdir(place) else [place]
        return tuple((file.name, os.stat(file).st_mtime_ns) for file in files[:200])
    except OSError:
        return ()


def open_model_of(run: Run, step: int | None = None) -> Model:
    """The model of a run after `step` updates, by default at its last snapshot, for reading.

    LmvizError where there is no such snapshot, or where its files do not fit together.
    """
    from lmviz.series.foreign import ForeignRun

    if isinstance(run, TunedRun | ForeignRun):
        return run.model(step)
    return open_run_model(run, step)


def _holds_model(folder: Path) -> bool:
    from lmviz.interchange.gguf_file import models_in

    return holds_model(folder) or bool(models_in(folder))


def _is_refused(path: Path) -> bool:
    """Whether it is a model of a kind that is recognised and not opened, or lacks its weights."""
    from lmviz.interchange.containers import container, describes_model

    return container(path) is not None or describes_model(path / "config.json")
