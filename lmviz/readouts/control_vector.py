"""Directions by layer as a control vector, the GGUF file that llama.cpp and repeng read and write.

`direction.N` is what is added to the stream behind layer N, which counts from 0; there is none for layer 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lmviz.base.arguments import file_to_write, named_file
from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing
from lmviz.base.loading import loads
from lmviz.interchange.gguf_file import read_gguf
from lmviz.models.address import Address
from lmviz.readouts.direction import StateDirection

NAME = re.compile(r"direction\.(\d{1,4})")
KIND = "controlvector"


def write_control_vector(directions: Sequence[StateDirection], path: str | Path, model: str = "") -> Path:
    """Write directions of different layers, each as long as it was found; returns the file.

    `model` is the kind of model that it is meant for, as llama.cpp calls it. LmvizError where a direction is
    not of the stream behind a layer but the first.
    """
    import gguf

    path = file_to_write(path)
    by_layer: dict[int, StateDirection] = {}
    for one in directions:
        address = Address.parse(one.address)
        layer = address.layer
        if layer is None or one.address != f"layers/{layer}/residual2" or layer < 1 or layer in by_layer:
            raise LmvizError(
                f"{one!r} has no place in a control vector: it holds one direction each of "
                "layers/1/residual2, layers/2/residual2, …"
            )
        by_layer[layer] = one
    if not by_layer:
        raise LmvizError("There is no direction to write: give at least one.")
    try:
        with replacing(path) as unfinished:
            writer = gguf.GGUFWriter(unfinished, KIND)
            writer.add_string(f"{KIND}.model_hint", model)
            writer.add_uint32(f"{KIND}.layer_count", len(by_layer))
            for layer, one in sorted(by_layer.items()):
                writer.add_tensor(f"direction.{layer}", (one.length * one.vector).astype(np.float32))
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
            writer.close()
    except OSError as fault:
        raise LmvizError(f"{path} cannot be written ({fault.strerror}): choose another place.") from fault
    return path


@loads("control vector")
def read_control_vector(path: str | Path) -> tuple[StateDirection, ...]:
    """The directions in such a file, by layer; LmvizError where it holds none."""
    path = named_file(path)
    file = read_gguf(path)
    found = []
    for name, packed in file.tensors.items():
        matched = NAME.fullmatch(name)
        if matched is None:
            continue
        values = packed.values().float().numpy().reshape(-1)
        if not np.isfinite(values).all():
            raise LmvizError(f"{path} has numbers in {name} that are none (NaN): get it again.")
        layer = int(matched[1])
        found.append((layer, StateDirection.of(f"layers/{layer}/residual2", values, f"{path.name}, {name}")))
    if not found:
        raise LmvizError(f"{path} holds no directions (direction.1, …): choose a control vector.")
    return tuple(one for _, one in sorted(found, key=lambda pair: pair[0]))
