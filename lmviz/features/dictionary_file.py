"""Reads lmviz's own file of a dictionary: safetensors, with all that is no array in the header."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from lmviz.base.arguments import named_file
from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.features.dictionary import ARRAYS, FORMAT, KINDS, Dictionary
from lmviz.features.worth import Worth
from lmviz.text.ordinary_files import check_ordinary, read_file

LARGEST = 20_000_000_000
"""Bytes of a file of features."""

BEGINNING = 10_000
"""Bytes in which the header of a file of lmviz says what it is."""


def is_own_file(path: Path) -> bool:
    """Whether the beginning of a file says that lmviz wrote it; also where no file can be read."""
    try:
        check_ordinary(path)
        with path.open("rb") as file:
            beginning = file.read(BEGINNING)
    except OSError:
        return True
    return FORMAT.encode("ascii") in beginning


def is_foreign(path: Path) -> bool:
    """Whether features are in the form of another program."""
    is_own_folder = os.path.isdir(path) and not os.path.isfile(path / "cfg.json")
    return not is_own_folder and (os.path.isdir(path) or not is_own_file(path))


@loads("features")
def read_dictionary(path: str | Path) -> Dictionary:
    """A dictionary that `Dictionary.save` wrote; LmvizError where the file is none."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    data = read_file(named_file(path), LARGEST)
    header: Any = {}
    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length]).get("__metadata__", {})
        is_dictionary = header.get("format") == FORMAT
    except (ValueError, AttributeError, RecursionError):
        is_dictionary = False
    if not is_dictionary:
        raise LmvizError(f"{path} holds no features of lmviz: find some with lmviz.find_features.")
    try:
        told: dict[str, Any] = json.loads(header["dictionary"]) | load(data)
        worth = told.pop("worth", None)
        found = Dictionary(**told, worth=None if worth is None else Worth(**worth))
        check_dictionary(found)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise LmvizError(f"{path} holds damaged features ({fault}): find others.") from fault
    return found


def check_dictionary(found: Dictionary) -> None:
    """ValueError where the parts of a dictionary do not belong together."""
    if found.kind not in KINDS:
        raise ValueError(f"their kind is {found.kind!r}")
    for name in ("tap", "written", "model"):
        if not isinstance(getattr(found, name), str):
            raise ValueError(f"{name} is no text")
    for name in ("k", "tokens", "seed", "step"):
        number = getattr(found, name)
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 0):
            raise ValueError(f"{name} is no number of things")
    encoder, decoder = found.encoder, found.decoder
    if encoder.ndim != 2 or decoder.ndim != 2 or not encoder.size or not decoder.size:
        raise ValueError("their encoder or decoder is no matrix")
    size, width = encoder.shape
    shapes: dict[str, tuple[int, ...]] = {
        "encoder_bias": (size,),
        "decoder": (size, decoder.shape[1]),
        "decoder_bias": (decoder.shape[1],),
        "threshold": (size,),
        "skip": (decoder.shape[1], width),
        "rates": (size,),
    }
    for name, shape in shapes.items():
        array = getattr(found, name)
        if array is not None and array.shape != shape:
            raise ValueError(f"{name} has the shape {array.shape} and not {shape}")
    for name in ARRAYS:
        array = getattr(found, name)
        if array is not None and (array.dtype.kind != "f" or not np.isfinite(array).all()):
            raise ValueError(f"{name} has no finite numbers")
    if found.kind == "topk" and found.k is None:
        raise ValueError("it is not said how many are on")
    if found.kind in ("batchtopk", "jumprelu") and found.threshold is None:
        raise ValueError("their thresholds are missing")
    if not found.written and decoder.shape[1] != width:
        raise ValueError("they read and write states of different width")
    worth = found.worth
    if worth is not None and not all(
        value is None or (isinstance(value, int | float) and np.isfinite(value))
        for value in vars(worth).values()
    ):
        raise ValueError("what they are worth is no number")
