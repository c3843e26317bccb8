"""Whether a checkpoint is there as a whole: all of its files, each as long as it says of itself.

A program that writes one leaves it half done for a while, and for ever where it was killed. Only the
beginnings and the ends of files are read, so that hundreds of checkpoints are looked at in a moment.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.interchange.stored_tensors import WEIGHT_FILES, parts_of
from lmviz.text.checkpoint_names import ADAPTER, ADAPTER_WEIGHTS, DISTRIBUTED, is_of_transformers, weights_in
from lmviz.text.ordinary_files import check_ordinary

LARGEST_HEADER = 100_000_000
"""Bytes of the description at the beginning of a safetensors file."""

_LENGTH = 8


def why_not_whole(place: Path) -> str:
    """What a checkpoint lacks, in a few words; "" where it is whole, as far as its files say."""
    try:
        files = _files_of(place)
        return next((why for path in files if (why := _why_not_whole_file(path))), "")
    except LmvizError as reason:
        return str(reason).rstrip(".")
    except OSError as error:
        return f"{place.name} cannot be read ({error.strerror})"


def files_of(place: Path) -> list[Path]:
    """The files of a checkpoint's weights that are there; none where nothing says which they are."""
    try:
        return [path for path in _files_of(place) if os.path.isfile(path)]
    except (LmvizError, OSError):
        return []


def _files_of(place: Path) -> list[Path]:
    if not os.path.isdir(place):
        return [place]
    if os.path.exists(place / DISTRIBUTED):
        return [place / DISTRIBUTED, *sorted(place.glob("*.distcp"))]
    if os.path.exists(place / ADAPTER):
        names = [name for name in ADAPTER_WEIGHTS if os.path.exists(place / name)] or ADAPTER_WEIGHTS[:1]
        return [place / names[0]]
    for name in WEIGHT_FILES:
        if os.path.exists(place / name):
            return [place / name]
        if os.path.exists(place / f"{name}.index.json"):
            return [place / part for part in parts_of(place / f"{name}.index.json")]
    found = weights_in(place)
    if not found:
        raise LmvizError(f"{place.name} holds no weights yet.")
    parts = [path for path in found if is_of_transformers(path)]
    if parts:  # in parts, and the index that names them all is written last
        raise LmvizError(f"{place.name} holds parts of weights, and no index that names them all.")
    return found


def _why_not_whole_file(path: Path) -> str:
    try:
        check_ordinary(path)
        size = os.stat(path).st_size
    except FileNotFoundError:
        return f"{path.name} is not there"
    if not size:
        return f"{path.name} is empty"
    if path.suffix.lower() == ".safetensors":
        return _why_not_safetensors(path, size)
    if path.suffix.lower() in (".pt", ".pth", ".ckpt", ".bin"):
        with open(path, "rb") as file:
            is_archive = b"PK".startswith(file.read(2))
        if is_archive and not zipfile.is_zipfile(path):  # its table of contents is written last
            return f"{path.name} breaks off after {size:,} bytes"
    return ""


def _why_not_safetensors(path: Path, size: int) -> str:
    """A file of safetensors says at its beginning where the numbers of each tensor end."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(_LENGTH), "little")
        if size < _LENGTH or length > LARGEST_HEADER or _LENGTH + length > size:
            return f"{path.name} breaks off after {size:,} bytes"
        described = file.read(length)
    try:
        ends = [
            int(each["data_offsets"][1])
            for name, each in json.loads(described).items()
            if name != "__metadata__"
        ]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return f"the beginning of {path.name} is damaged"
    whole = _LENGTH + length + max(ends, default=0)
    return f"{path.name} breaks off after {size:,} of {whole:,} bytes" if size < whole else ""
