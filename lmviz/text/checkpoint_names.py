"""Folders and files in which other programs keep what they have trained, known by their names alone.

Nothing is read here, so that this can be asked of any folder before it is taken for something else. The
layouts are those of transformers' Trainer and of peft (`checkpoint-500/`), of Lightning
(`epoch=3-step=400.ckpt`), of nanoGPT and its kin (`ckpt.pt`, `ckpt_1000.pt`, `model_000500.pt`), and of
whoever names them alike.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

DESCRIPTION, ADAPTER, TRAINER_STATE = "config.json", "adapter_config.json", "trainer_state.json"

DISTRIBUTED = ".metadata"
"""What torch.distributed.checkpoint writes last into the folder of a checkpoint."""

ADAPTER_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")

WEIGHT_ENDINGS = (".safetensors", ".pt", ".pth", ".ckpt", ".bin", ".gguf")
"""How the files end in which programs keep weights."""

READINGS = "readings.json"
"""What describes readings of lmviz, which hold what a module answered and none of its weights."""

SAVED_NAMES = ("ckpt.pt", "model.pt")
"""The names that nanoGPT and minGPT give."""

_TEXT_ENDINGS = frozenset(
    (".txt", ".csv", ".tsv", ".jsonl", ".ndjson", ".conll", ".conllu", ".parquet", ".tmx")
)

_NO_TEXT = re.compile(r"(merges|vocab|requirements|readme|licen[cs]e)\b.*\.txt", re.ASCII | re.IGNORECASE)
"""Files beside weights that end like texts."""

_OF_TRANSFORMERS = re.compile(
    r"(model|pytorch_model)(-\d{5}-of-\d{5})?\.(safetensors|bin)(\.index\.json)?", re.ASCII
)
"""The names that transformers gives to weights, whole or in parts."""

_NO_WEIGHTS = re.compile(
    r"(adapter_model|optim|scheduler|rng_state|scaler|training_args|token_bytes|mmproj|zero_pp_rank)",
    re.ASCII,
)
"""How the files begin that are saved beside weights, end alike, and are none."""

_NUMBER = r"[=_-]?(\d{1,12})(?!\d|[kmb]\b)"
_STEPS = [
    re.compile(pattern, re.ASCII | re.IGNORECASE)
    for pattern in (
        rf"(?<![a-z])(?:global_?)?(?:step|iter|iteration|update)s?{_NUMBER}",
        rf"(?:checkpoint|ckpt|model|snapshot|weights|state){_NUMBER}",
        rf"(?<![a-z])epochs?{_NUMBER}",
    )
]
"""Where the name of a checkpoint says its step: a number of updates first, and one of anything else last."""

_TOKENS = re.compile(
    r"(?:tokens?[=_-]?(\d{1,6}(?:\.\d{1,3})?)([kmbt])|(\d{1,6}(?:\.\d{1,3})?)([kmbt])[_-]?tokens?)(?![a-z0-9])",
    re.ASCII | re.IGNORECASE,
)
"""Where a name says how many tokens were read, which orders checkpoints as steps do."""

_THOUSANDS = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}

_UNFINISHED = re.compile(
    r"(tmp|temp|partial)[-_.].*|.*[.](tmp|part|partial|incomplete|lock)", re.ASCII | re.IGNORECASE
)
"""What programs call what they have not written to its end."""

_LAST_NUMBER = re.compile(r"(.*?)(\d{1,12})", re.ASCII)

DEEP = 3
"""Folders within one another in which a model is looked for."""

MOST_ENTRIES = 10_000
"""Entries of a folder that are looked at."""


@dataclass(frozen=True)
class NamedStep:
    """A checkpoint in a folder of several; `step` is the number in its name, None where there is none."""

    path: Path
    step: int | None


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder holds a model as Hugging Face's transformers writes it."""
    weights = (path for ending in ("safetensors", "bin") for path in folder.glob(f"*.{ending}"))
    return os.path.isfile(folder / DESCRIPTION) and any(weights)


def is_adapter(folder: Path) -> bool:
    """Whether a folder holds what peft writes."""
    return os.path.isfile(folder / ADAPTER) and any(os.path.isfile(folder / name) for name in ADAPTER_WEIGHTS)


def is_distributed(folder: Path) -> bool:
    """Whether a folder holds what torch.distributed.checkpoint has written to its end."""
    return os.path.isfile(folder / DISTRIBUTED)


def is_of_transformers(path: Path) -> bool:
    """Whether a file is called as transformers calls the weights of a folder, or a part of them."""
    return _OF_TRANSFORMERS.fullmatch(path.name) is not None


def is_weights(path: Path) -> bool:
    """Whether a file is called like the weights of a whole model.

    Many programs end their files in ".bin", so that this says nothing where there is no other sign.
    """
    if path.suffix.lower() == ".bin":
        return is_of_transformers(path)
    return path.suffix.lower() in WEIGHT_ENDINGS and _NO_WEIGHTS.match(path.name) is None


def weights_in(folder: Path) -> list[Path]:
    """The files of a folder that are called like weights, in the order of their names."""
    return sorted(path for path in _entries(folder) if is_weights(path) and os.path.isfile(path))


def holds_model(folder: Path) -> bool:
    """Whether a folder holds the weights of a model, or an adapter, itself, and is no folder of texts."""
    if is_checkpoint(folder) or is_adapter(folder) or is_distributed(folder):
        return True
    found = weights_in(folder)
    is_known = any(path.name in SAVED_NAMES or path.suffix.lower() == ".gguf" for path in found)
    return is_known or (bool(found) and not holds_texts(folder, deep=1))


def holds_texts(folder: Path, deep: int = 2) -> bool:
    """Whether files that end like texts lie in a folder, or in one within it."""
    inner = [path for path in _entries(folder) if os.path.isdir(path)] if deep > 1 else []
    return any(
        path.suffix.lower() in _TEXT_ENDINGS and _NO_TEXT.fullmatch(path.name) is None
        for path in _entries(folder)
    ) or any(holds_texts(path, deep - 1) for path in inner)


def step_in_name(name: str) -> int | None:
    """The step that the name of a checkpoint says, without its ending; None where it says none.

    Where it says tokens alone, it is their number.
    """
    found = (pattern.search(name) for pattern in _STEPS)
    said = next((int(each[1]) for each in found if each), None)
    if said is None and (read := _TOKENS.search(name)):
        return round(float(read[1] or read[3]) * _THOUSANDS[(read[2] or read[4]).lower()])
    return int(name) if said is None and re.fullmatch(r"\d{1,12}", name, re.ASCII) else said


def named_steps(folder: Path) -> tuple[NamedStep, ...]:
    """The checkpoints of a training that lie in a folder, by the steps in their names; none if it is no such.

    They are folders that hold a model each and are called by a number, or at least two files of weights that
    are. A model in parts is one model. Beside whole ones, a folder counts in which one has only been begun.
    """
    folders: list[NamedStep] = []
    begun: list[NamedStep] = []
    files: list[NamedStep] = []
    for path in _entries(folder):
        if _UNFINISHED.fullmatch(path.name):
            continue
        if os.path.isdir(path):
            step = step_in_name(path.name)
            if step is not None or os.path.isfile(path / TRAINER_STATE):
                kept = folders if holds_model(path) else begun if _is_begun(path) else []
                kept.append(NamedStep(path, step))
        elif is_weights(path) and not is_of_transformers(path) and not _is_part(path):
            files.append(NamedStep(path, step_in_name(path.stem)))
    found = [*folders, *begun] if folders else _numbered_alike(files)
    return tuple(sorted(found, key=lambda each: (-1 if each.step is None else each.step, each.path.name)))


def _is_begun(folder: Path) -> bool:
    """Whether a folder holds what a program writes around the weights of a model."""
    known = any(os.path.isfile(folder / name) for name in (DESCRIPTION, ADAPTER, TRAINER_STATE))
    return known or any(path.suffix == ".distcp" for path in _entries(folder))


def _numbered_alike(files: list[NamedStep]) -> list[NamedStep]:
    """Files of which at least two say a step, or differ in nothing but a number at the end of their names."""
    if len(files) > 1 and any(each.step is not None for each in files):
        return files
    ends = [_LAST_NUMBER.fullmatch(each.path.stem) for each in files]
    begins = {end[1] for end in ends if end}
    if len(files) < 2 or not all(ends) or len(begins) > 1:
        return []
    return [
        NamedStep(each.path, int(end[2])) for each, end in zip(files, ends, strict=True) if end is not None
    ]


def holds_series(folder: Path) -> bool:
    """Whether a folder may hold the checkpoints of a training in the order of their steps.

    Beside them may lie what a training has come to, or a model itself may: then only folders called by their
    steps, at least two of them, are a series.
    """
    if not os.path.isdir(folder) or os.path.isfile(folder / "run.json"):
        return False
    if is_checkpoint(folder) or is_adapter(folder):
        folders = [each for each in named_steps(folder) if os.path.isdir(each.path)]
        return sum(each.step is not None for each in folders) > 1
    return True


def may_be_series(folder: Path) -> bool:
    """Whether a folder holds several checkpoints that are called by their steps; no file is read."""
    if not os.path.isdir(folder) or not holds_series(folder):
        return False
    return sum(each.step is not None for each in named_steps(folder)) > 1


def models_below(folder: Path, deep: int = DEEP) -> Iterator[Path]:
    """The folders below this one that hold a model or the checkpoints of a training, the nearest first."""
    level = [folder]
    for _ in range(deep):
        further = []
        for place in level:
            for path in _entries(place):
                if os.path.isdir(path) and not os.path.islink(path):
                    if holds_model(path) or named_steps(path):
                        yield path
                    else:
                        further.append(path)
        level = further[:MOST_ENTRIES]


def _is_part(path: Path) -> bool:
    return re.search(r"-\d{5}-of-\d{5}$", path.stem, re.ASCII) is not None


def _entries(folder: Path) -> Iterable[Path]:
    """The visible files and folders in one, in the order of their names; none where it may not be read."""
    try:
        with os.scandir(folder) as listed:
            names = [entry.name for entry, _ in zip(listed, range(MOST_ENTRIES), strict=False)]
    except OSError:
        return []
    return [folder / name for name in sorted(names) if not name.startswith(".")]
