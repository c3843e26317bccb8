"""A transcoder as circuit-tracer reads it: one safetensors file a layer, and a `config.yaml` for all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import torch

from lmviz.base.arguments import named_file
from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing
from lmviz.base.loading import loads
from lmviz.features.dictionary import Dictionary
from lmviz.features.stored_features import (
    named_arrays,
    plain_number,
    read_arrays,
    reading_features,
    stored_dictionary,
)
from lmviz.models.tensor_file import write_tensor_file

THRESHOLD = "activation_function.threshold"
READ, WRITTEN = "feature_input_hook", "feature_output_hook"
LARGEST_SETTINGS = 1_000_000
"""Bytes."""


@loads("features")
def read_transcoder(path: str | Path) -> Dictionary:
    """The transcoder in a file of circuit-tracer; LmvizError where it holds none.

    Its layer is the number in its name, and where it reads and writes is said by a `config.yaml` beside it;
    without one these are what the feed-forward network reads and writes.
    """
    path = named_file(path)
    with reading_features(path, "circuit-tracer"):
        arrays = read_arrays(path)
        threshold = arrays.pop(THRESHOLD, arrays.pop("threshold", None))
        encoder = arrays["W_enc"]  # (feature, channel), as circuit-tracer has it
        if encoder.ndim != 2:
            raise ValueError("its encoder is no matrix")
        decoder = arrays["W_dec"]
        if decoder.shape != encoder.shape and decoder.T.shape == encoder.shape:
            decoder = decoder.T  # older files
        k = arrays.pop("k", None)
        named = arrays | {"W_enc": encoder.T, "W_dec": decoder}
        kind = "relu"
        if k is not None:
            kind = "topk"
        elif threshold is not None:
            kind = "jumprelu"
            named["threshold"] = np.broadcast_to(threshold.reshape(-1), encoder.shape[:1])
        read, written = _hooks(path)
        number = None if k is None else plain_number(int(k.reshape(-1)[0]), "k")
        return stored_dictionary(named, kind, read, written=written, k=number)


def _hooks(path: Path) -> tuple[str, str]:
    """Where it reads and writes, as far as names and `config.yaml` say."""
    found = re.search(r"(\d{1,4})\D*$", path.stem)
    if found is None:
        return "", ""
    layer = int(found[1])
    told = _settings(path.parent / "config.yaml")
    read, written = f"layers/{layer}/norm2", f"layers/{layer}/feedforward/output"
    if READ in told and told[READ] not in ("mlp.hook_in", "hook_mlp_in"):
        read = f"blocks.{layer}.{told[READ]}"
    if WRITTEN in told and told[WRITTEN] not in ("mlp.hook_out",):
        written = f"blocks.{layer}.{told[WRITTEN]}"
    return read, written


def _settings(path: Path) -> dict[str, str]:
    """The lines "name: word" of a file; none where there is no such file."""
    from lmviz.text.ordinary_files import read_text_file

    try:
        text = read_text_file(path, LARGEST_SETTINGS)
    except (OSError, ValueError):
        return {}
    lines = re.findall(r"^(\w+):[ \t]*[\"']?([\w.]+)[\"']?[ \t]*$", text, flags=re.MULTILINE)
    return dict(lines)


def save_transcoder(dictionary: Dictionary, path: str | Path) -> Path:
    """Write it as circuit-tracer does; LmvizError for an autoencoder, and where it cannot be written."""
    if not dictionary.is_transcoder:
        raise LmvizError(
            "circuit-tracer reads transcoders, and these features write what they are read from: save "
            "them for SAELens."
        )
    path = named_file(path)
    arrays = named_arrays(dictionary)
    tensors = {
        name: torch.tensor(array) for name, array in arrays.items() if name not in ("W_enc", "threshold")
    }
    tensors["W_enc"] = torch.tensor(dictionary.encoder)  # (feature, channel), as circuit-tracer has it
    if dictionary.threshold is not None:
        tensors[THRESHOLD] = torch.tensor(dictionary.threshold)
    if dictionary.kind == "topk":
        tensors["k"] = torch.tensor(dictionary.k)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            write_tensor_file(unfinished, tensors, {})
    except (OSError, ValueError) as fault:
        raise LmvizError(f"{path} cannot be written ({fault}): choose another place.") from fault
    return path
