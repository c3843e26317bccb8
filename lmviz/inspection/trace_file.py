"""Traces as files: an .npz with one array per tap, and a JSON description of everything else."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.traced_array import TracedArray
from lmviz.models.prediction import Prediction
from lmviz.models.prefix import Prefix
from lmviz.models.sequences import ALONG, TEXT
from lmviz.models.tap import SCALES, Stage
from lmviz.text.ordinary_files import read_file

TOKENS, DESCRIPTION = "tokens", "description"

UNPACKED_FREELY = 256_000_000
"""Bytes to which a trace may unpack, however small its file is."""

LARGEST_RATIO = 30
"""How many times as large as its file a larger trace may be. Numbers of a model hardly shrink; a mask and the
zeros that it leaves do."""


def write_trace(path: str | Path, fields: Mapping[str, Any]) -> None:
    """Write a trace, given as the fields of `lmviz.inspection.trace.Trace`; its origin and vocabulary are
    left out.

    LmvizError where the file cannot be written.
    """
    arrays: Mapping[str, TracedArray] = fields["arrays"]
    description = {
        "tokens": fields["tokens"],
        "ids": fields["ids"].tolist(),
        "text": fields["text"],
        "offsets": fields["offsets"],
        "family": fields["family"],
        "stages": [dataclasses.asdict(stage) for stage in fields["stages"]],
        "interventions": [intervention.to_values() for intervention in fields["interventions"]],
        "dropped": fields["dropped"],
        "further": {name: _described(prefix) for name, prefix in fields["further"].items()},
        "predicts": dataclasses.asdict(fields["predicts"]),
        "name": fields["name"],
        "step": fields["step"],
        "taps": {address: [traced.axes, traced.scale] for address, traced in arrays.items()},
    }
    members = {address: traced.array for address, traced in arrays.items()}
    members[TOKENS] = np.array(fields["tokens"], dtype=np.str_)
    members[DESCRIPTION] = np.array(json.dumps(description))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **members)
    write_atomically(path, buffer.getvalue())


def read_trace(path: str | Path) -> dict[str, Any]:
    """The fields of the trace in a file; LmvizError when it holds none. Nothing in it is ever run."""
    try:
        content = read_file(path)
        _check_unpacked(content)
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            description = json.loads(str(file[DESCRIPTION][()]))
            return _fields(description, {address: file[address] for address in description["taps"]})
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror or error}): choose another file.") from None
    except Exception as error:  # strangers' bytes break zip, npy and JSON in more ways than can be listed
        raise LmvizError(
            f"{path} holds no trace that can be read ({error}): trace again, and save it."
        ) from None


def _check_unpacked(content: bytes) -> None:
    """Raise ValueError where an archive says that it unpacks to far more than traces do.

    No more than it says is ever unpacked.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > max(UNPACKED_FREELY, LARGEST_RATIO * len(content)):
        raise ValueError(f"its {len(content) / 1e6:,.0f} MB unpack to {unpacked / 1e6:,.0f} MB")


def _fields(description: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The trace that a description and its arrays make; ValueError and the like where they do not fit."""
    read = _prefix(description)
    further = {str(name): _prefix(values) for name, values in description.get("further", {}).items()}
    lengths = {TEXT: len(read)} | {name: len(prefix) for name, prefix in further.items()}
    return {
        "tokens": read.tokens,
        "ids": read.ids,
        "text": read.text,
        "offsets": read.offsets,
        "further": further,
        "family": str(description["family"]),
        "stages": tuple(_stage(values) for values in description["stages"]),
        "arrays": {
            address: _traced(address, arrays[address], axes, scale, lengths)
            for address, (axes, scale) in description["taps"].items()
        },
        "interventions": tuple(Intervention.from_values(values) for values in description["interventions"]),
        "dropped": read.dropped,
        "predicts": _prediction(description.get("predicts", {})),
        "name": str(description["name"]),
        "step": int(description["step"]),
    }


def _described(prefix: Prefix) -> dict[str, Any]:
    """A sequence as plain values."""
    return {**dataclasses.asdict(prefix), "ids": prefix.ids.tolist()}


def _prediction(values: Mapping[str, Any]) -> Prediction:
    """What the model predicts; ValueError and the like where it is none."""
    predicts = Prediction(**{**values, "names": tuple(map(str, values.get("names", ())))})
    if predicts.axis not in ("token", "label") or predicts.per not in ("position", "text"):
        raise ValueError("it does not say what is predicted")
    return predicts


def _prefix(description: Mapping[str, Any]) -> Prefix:
    """A sequence that was read; ValueError and the like where its parts do not fit one another."""
    tokens = tuple(map(str, description["tokens"]))
    ids = np.array(description["ids"], dtype=np.int64)
    offsets = tuple((int(first), int(end)) for first, end in description["offsets"])
    if ids.shape != (len(tokens),) or len(offsets) != len(tokens):
        raise ValueError("its tokens, ids and offsets differ in number")
    return Prefix(str(description["text"]), ids, tokens, offsets, int(description["dropped"]))


def _traced(
    address: str, array: np.ndarray, given: list[str], scale: str, lengths: Mapping[str, int]
) -> TracedArray:
    axes = tuple(map(str, given))
    if array.ndim != len(axes) or array.dtype.kind not in "fiu" or scale not in SCALES:
        raise ValueError(f"{address} is not what its description says")
    for axis, size in zip(axes, array.shape, strict=True):
        if axis in ALONG and size != lengths[ALONG[axis]]:
            raise ValueError(f"{address} is not as long as the {ALONG[axis]}")
    return TracedArray(array, axes, scale)


def _stage(values: dict[str, Any]) -> Stage:
    """A stage, its lists tuples again."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return Stage(**fields)
