"""A dictionary as Gemma Scope hands it out: `params.npz`, with a threshold for each feature."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import numpy as np

from lmviz.base.arguments import named_file
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.loading import loads
from lmviz.features.dictionary import Dictionary
from lmviz.features.dictionary_file import LARGEST
from lmviz.features.stored_features import named_arrays, reading_features, stored_dictionary

NAMES = ("W_enc", "W_dec", "b_enc", "b_dec", "threshold")
UNPACKED_FREELY = 256_000_000
"""Bytes to which a file may unpack, however small it is."""

LARGEST_RATIO = 4
"""How many times as large as its file a larger one may be: numbers of a model hardly shrink."""


@loads("features")
def read_gemma_scope(path: str | Path) -> Dictionary:
    """The dictionary in such a file; LmvizError where it holds none. Nothing in it is run.

    The file does not say where it belongs: a folder above it that is named after a layer, "layer_20", is
    taken as the state after that layer, as in Gemma Scope's own folders.
    """
    from lmviz.text.ordinary_files import read_file

    path = named_file(path)
    content = read_file(path, LARGEST)
    with reading_features(path, "Gemma Scope"):
        arrays = {}
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > max(UNPACKED_FREELY, LARGEST_RATIO * len(content)):
                raise ValueError(f"it unpacks to {unpacked / 1e6:,.0f} MB")
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                for name in NAMES:
                    arrays[name] = _array(file[name], name)
        except (KeyError, ValueError, MemoryError):
            raise
        except Exception as fault:  # strangers' bytes break zip and npy in more ways than can be listed
            raise ValueError(str(fault) or type(fault).__name__) from fault
        return stored_dictionary(arrays, "jumprelu", _hook(path))


def _array(found: np.ndarray, name: str) -> np.ndarray:
    if found.dtype.kind != "f":
        raise ValueError(f"{name} has no numbers")
    return found.astype(np.float32)


def _hook(path: Path) -> str:
    numbers = [re.fullmatch(r"layer_(\d{1,4})", part) for part in path.parts]
    layers = [found[1] for found in numbers if found is not None]
    return f"layers/{int(layers[-1])}/residual2" if layers else ""


def save_gemma_scope(dictionary: Dictionary, path: str | Path) -> Path:
    """Write it as Gemma Scope does; LmvizError for other than thresholds, and for what it cannot hold."""
    if dictionary.threshold is None or dictionary.skip is not None:
        raise LmvizError(
            "A file of Gemma Scope holds features with a threshold each, and nothing beside them: save these "
            "for SAELens or circuit-tracer."
        )
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **named_arrays(dictionary))
    return write_atomically(path, buffer.getvalue())
