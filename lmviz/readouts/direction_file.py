"""Files of several directions: safetensors with a header in JSON, or a control vector of llama.cpp."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lmviz.base.arguments import file_to_write, named_file
from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing
from lmviz.base.loading import loads
from lmviz.readouts.direction import FORMAT as ONE
from lmviz.readouts.direction import StateDirection, read_direction

FORMAT = "lmviz directions 1"
LARGEST = 500_000_000
"""Bytes of a file of directions."""

LONGEST = 200
"""Characters of a name, an origin or an address that are read."""


def write_directions(directions: Sequence[StateDirection], path: str | Path) -> Path:
    """Write directions into one file, a control vector where it ends in .gguf; returns the file.

    LmvizError where it cannot be written, and for a control vector where two are of one layer.
    """
    from lmviz.models.tensor_file import write_tensor_file

    path = file_to_write(path)
    if path.suffix.casefold() == ".gguf":
        from lmviz.readouts.control_vector import write_control_vector

        return write_control_vector(directions, path)
    import torch

    told = [
        {"address": one.address, "length": one.length, "origin": one.origin, "name": one.name}
        for one in directions
    ]
    tensors = {str(number): torch.tensor(one.vector) for number, one in enumerate(directions)}
    try:
        with replacing(path) as unfinished:
            header = {"format": FORMAT, "directions": json.dumps(told, ensure_ascii=False)}
            write_tensor_file(unfinished, tensors, header)
    except OSError as fault:
        raise LmvizError(f"{path} cannot be written ({fault.strerror}): choose another place.") from fault
    return path


@loads("directions")
def read_directions(path: str | Path) -> tuple[StateDirection, ...]:
    """The directions of a file: of one, of several, or a control vector; LmvizError where it holds none."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    from lmviz.text.ordinary_files import read_file

    path = named_file(path)
    if path.suffix.casefold() == ".gguf":
        from lmviz.readouts.control_vector import read_control_vector

        return read_control_vector(path)
    data = read_file(path, LARGEST)
    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])["__metadata__"]
        if header["format"] == ONE:
            return (read_direction(path),)
        if header["format"] != FORMAT:
            raise ValueError(header["format"])
        told, vectors = json.loads(header["directions"]), load(data)
        found = [_read(one, vectors[str(number)]) for number, one in enumerate(told)]
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise LmvizError(f"{path} holds no directions of lmviz: choose a file that was saved.") from fault
    return tuple(found)


def _read(told: dict[str, object], vector: np.ndarray) -> StateDirection:
    address, origin, name = (str(told[key])[:LONGEST] for key in ("address", "origin", "name"))
    length = float(str(told["length"]))
    is_finite = np.isfinite(vector).all() and np.isfinite(length) and length > 0
    own = np.linalg.norm(vector.astype(np.float64)) if vector.ndim == 1 and is_finite else 0.0
    if not np.isclose(own, 1, atol=1e-3):
        raise ValueError("a vector is not of length 1")
    return StateDirection(address, vector.astype(np.float32), length, origin, name)
