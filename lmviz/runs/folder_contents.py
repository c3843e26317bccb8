"""What a folder or a file holds that is no model itself, and how what is in it would be opened."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lmviz.interchange.arpa_tokenizer import ARPA_ENDINGS
from lmviz.runs.race_folder import NAME
from lmviz.text.checkpoint_names import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    READINGS,
    holds_texts,
    is_adapter,
    models_below,
    weights_in,
)

MOST_SAID = 3
"""Names that a sentence lists."""

MOST_FOUND = 100
"""Models below a folder that are looked for."""


@dataclass(frozen=True)
class FolderContents:
    """What is there, in a sentence; and the runs, or the models of other programs, that can be chosen.

    `is_text` is whether it can be read as a corpus.
    """

    sentence: str
    runs: tuple[Path, ...] = ()
    models: tuple[Path, ...] = ()
    is_text: bool = False


def contents_of(path: Path) -> FolderContents:
    """What a path holds in which `find_model` has found no model; nothing but names is read."""
    if not os.path.exists(path):
        return FolderContents(f"There is nothing at {path}: check its name and folder.")
    if not os.path.isdir(path):
        way_out = "choose the folder of a model, or open it as a text"
        return FolderContents(f"{path} is a file, and no model that lmviz knows: {way_out}.", is_text=True)
    try:
        is_empty = not os.listdir(path)
    except OSError as error:
        return FolderContents(f"{path} cannot be read ({error.strerror}): choose another folder.")
    if is_empty:
        return FolderContents(f"The folder {path} is empty: choose one with a model in it.")
    if os.path.isfile(path / READINGS):
        return FolderContents(
            f"{path} holds what a module of another program answered, recorded, not recomputed, and "
            "no weights that a panel could compute with: read it with lmviz.open_readings."
        )
    runs = _runs_below(path)
    if runs:
        is_race = os.path.isfile(path / NAME)
        what = "is a race, a folder of runs" if is_race else f"holds {_several(runs, 'run')}"
        return FolderContents(f"{path} {what}{_listed(path, runs)}: choose one of them.", runs=runs)
    if tables := tuple(each for each in sorted(path.iterdir()) if each.name.lower().endswith(ARPA_ENDINGS)):
        way_out = "choose one of them" if len(tables) > 1 else "choose that"
        sentence = f"{path} holds {_several(tables, 'model')} in ARPA format{_listed(path, tables)}"
        return FolderContents(f"{sentence}: {way_out}.", models=tables)
    models = tuple(found for found, _ in zip(models_below(path), range(MOST_FOUND), strict=False))
    has_texts = holds_texts(path)
    if models:
        what = "adapter" if all(map(is_adapter, models)) else "model"
        way_out = "choose one of them" if len(models) > 1 else "choose that"
        sentence = f"{path} holds {_several(models, what)}{_listed(path, models)}: {way_out}."
        return FolderContents(sentence, models=models, is_text=has_texts)
    if os.path.isfile(path / ADAPTER):
        return FolderContents(
            f"{path} describes an adapter and lacks its weights: put {ADAPTER_WEIGHTS[0]} there."
        )
    if weights := weights_in(path):
        way_out = "choose the file itself" if len(weights) == 1 else "choose one of them"
        sentence = f"{path} holds {_several(weights, 'file')} of weights{_listed(path, weights)} beside texts"
        return FolderContents(f"{sentence}: {way_out}.", models=tuple(weights), is_text=True)
    if has_texts:
        way_out = "open it as a corpus, or choose the folder of a model"
        return FolderContents(f"{path} holds texts, and no model: {way_out}.", is_text=True)
    return FolderContents(
        f"{path} holds no model that lmviz knows: choose the folder of a run, of a checkpoint of "
        "transformers or of an adapter, or a file of weights.",
        is_text=True,
    )


def _runs_below(folder: Path) -> tuple[Path, ...]:
    """The runs in a folder, or where there are none, those in the folders within it."""
    direct = sorted(each.parent for each in folder.glob("*/run.json"))
    return tuple(direct or sorted(each.parent for each in folder.glob("*/*/run.json")))


def _several(places: Sequence[Path], what: str) -> str:
    count = f"{len(places)}" if len(places) < MOST_FOUND else f"{MOST_FOUND} or more"
    return f"{count} {what}s" if len(places) > 1 else f"one {what}"


def _listed(folder: Path, places: Sequence[Path]) -> str:
    """Some of the places by their names within the folder, behind a colon or in brackets."""
    names = [str(each.relative_to(folder)) for each in places[:MOST_SAID]]
    more = f" and {len(places) - MOST_SAID} more" if len(places) > MOST_SAID else ""
    return f" ({', '.join(names)}{more})"
