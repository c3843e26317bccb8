"""Where features are kept: beside the run they were found in, so that they are found again.

Nothing is written into the folder of a sample model, or of a checkpoint of another program: what was found in
it is in the folder of downloaded texts.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from lmviz.base.places import shipped
from lmviz.features.folder import FeatureFolder
from lmviz.text.resources import data_folder

FOLDER = "features"


def features_of(folder: Path) -> Path:
    """The folder of all features that were found in the model of a run's folder."""
    samples = shipped("sample_models").resolve()
    if os.path.isfile(folder / "run.json") and samples not in folder.resolve().parents:
        return folder / FOLDER
    digest = hashlib.sha256(str(folder.resolve()).encode("utf-8", errors="replace")).hexdigest()[:12]
    return data_folder() / FOLDER / f"{folder.name}-{digest}"


def kept_features(folder: Path) -> tuple[FeatureFolder, ...]:
    """The features that were found in a model, finished or not, by their names."""
    place = features_of(folder)
    if not os.path.isdir(place):
        return ()
    return tuple(
        found
        for path in sorted(place.iterdir())
        if (found := FeatureFolder(path)).is_finished or found.can_go_on
    )


def new_folder(folder: Path, name: str) -> FeatureFolder:
    """A folder for features to be found in a model, of a name that none has yet."""
    place, number = features_of(folder), 1
    while os.path.lexists(place / (name if number == 1 else f"{name} ({number})")):
        number += 1
    return FeatureFolder(place / (name if number == 1 else f"{name} ({number})"))


def name_for(tap: str, kind: str, size: int, k: int) -> str:
    """What a folder of features is called, such as "layers-1-residual2 topk 512 8"."""
    return f"{tap.replace('/', '-')} {kind} {size} {k}"
