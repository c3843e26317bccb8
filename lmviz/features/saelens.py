"""The folder of a dictionary as SAELens writes it: `cfg.json` and `sae_weights.safetensors`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch

from lmviz.base.arguments import named_file
from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing, write_atomically
from lmviz.base.loading import loads
from lmviz.features.dictionary import Dictionary
from lmviz.features.stored_features import (
    hook_name,
    named_arrays,
    plain_number,
    read_arrays,
    reading_features,
    stored_dictionary,
)
from lmviz.models.tensor_file import write_tensor_file

SETTINGS, WEIGHTS = "cfg.json", "sae_weights.safetensors"
LARGEST_SETTINGS = 10_000_000
"""Bytes."""

KINDS = {
    "standard": "relu",
    "topk": "topk",
    "jumprelu": "jumprelu",
    "transcoder": "relu",
    "skip_transcoder": "relu",
    "jumprelu_transcoder": "jumprelu",
    "jumprelu_skip_transcoder": "jumprelu",
}
"""Architectures of SAELens; those with all scores above 0 are written as "standard"."""

FOLDED = ("none", "expected_average_only_in")
"""Normalisations that are no more than a factor, which SAELens folds into the weights it writes."""


def is_saelens(path: Path) -> bool:
    """Whether this looks like a folder that SAELens wrote, or like one of the two files in it."""
    folder = _folder(path)
    return os.path.isfile(folder / SETTINGS) and os.path.isfile(folder / WEIGHTS)


def _folder(path: Path) -> Path:
    return path.parent if path.name in (SETTINGS, WEIGHTS) else path


@loads("features")
def read_saelens(folder: str | Path) -> Dictionary:
    """The dictionary in a folder of SAELens, at the hook that it names; LmvizError where there is none.

    Also where it does what lmviz does not: other architectures, and states that are normalised one by one.
    """
    from lmviz.text.ordinary_files import read_file

    folder = _folder(named_file(folder))
    with reading_features(folder, "SAELens"):
        told = json.loads(read_file(folder / SETTINGS, LARGEST_SETTINGS))
        if not isinstance(told, dict):
            raise ValueError(f"{SETTINGS} holds no settings")
        kind, k = _kind(folder, told)
        for name, known in (("normalize_activations", FOLDED), ("reshape_activations", ("none",))):
            if told.get(name, "none") not in known:
                raise LmvizError(
                    f"{folder} is of states that are changed before they are read ({name} is "
                    f"{told[name]!r}), which lmviz does not do: choose other features."
                )
        metadata = told.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else told
        is_transcoder = "transcoder" in str(told.get("architecture", ""))
        return stored_dictionary(
            read_arrays(folder / WEIGHTS),
            kind,
            _text(metadata.get("hook_name") or told.get("hook_name")),
            written=_text(metadata.get("hook_name_out") or told.get("hook_name_out")),
            k=k,
            is_subtracted=bool(told.get("apply_b_dec_to_input", True)) and not is_transcoder,
            is_rescaled=bool(told.get("rescale_acts_by_decoder_norm", False)),
            model=_text(metadata.get("model_name") or told.get("model_name")),
        )


def _kind(folder: Path, told: dict[str, Any]) -> tuple[str, int | None]:
    """The kind, and how many features are on, of architectures old and new."""
    architecture = told.get("architecture", "standard")
    kind = KINDS.get(architecture) if isinstance(architecture, str) else None
    if kind is None:
        raise LmvizError(
            f"{folder} has features of the architecture {architecture!r}, which lmviz does not know: choose "
            f"{', '.join(KINDS)}."
        )
    further = told.get("activation_fn_kwargs") or {}
    if kind == "topk":
        return kind, plain_number(told["k"], "k")
    if kind == "relu" and told.get("activation_fn_str", told.get("activation_fn")) == "topk":
        return "topk", plain_number(further["k"], "k")
    return kind, None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def save_saelens(dictionary: Dictionary, folder: str | Path) -> Path:
    """Write it as SAELens does; LmvizError where it has nothing like it, or where it cannot be written."""
    folder = named_file(folder)
    told: dict[str, Any] = {
        "architecture": _architecture(dictionary),
        "d_in": dictionary.width,
        "d_sae": dictionary.size,
        "dtype": "float32",
        "device": "cpu",
        "apply_b_dec_to_input": False,
        "normalize_activations": "none",
        "reshape_activations": "none",
        "metadata": {"hook_name": hook_name(dictionary.tap), "model_name": dictionary.model},
    }
    if dictionary.kind == "topk":
        told |= {"k": dictionary.k, "rescale_acts_by_decoder_norm": False}
    if dictionary.is_transcoder:
        told["d_out"] = dictionary.decoder.shape[1]
        told["metadata"]["hook_name_out"] = hook_name(dictionary.written)
    tensors = {name: torch.tensor(array) for name, array in named_arrays(dictionary).items()}
    write_atomically(folder / SETTINGS, json.dumps(told).encode("utf-8"))
    try:
        with replacing(folder / WEIGHTS) as unfinished:
            write_tensor_file(unfinished, tensors, {})
    except OSError as fault:
        raise LmvizError(f"{folder} cannot be written ({fault.strerror}): choose another place.") from fault
    return folder


def _architecture(dictionary: Dictionary) -> str:
    by_threshold = dictionary.threshold is not None
    if not dictionary.is_transcoder:
        return "topk" if dictionary.kind == "topk" else "jumprelu" if by_threshold else "standard"
    if dictionary.kind == "topk":
        raise LmvizError(
            "SAELens has no transcoders of which the k largest scores are on: save one for circuit-tracer, "
            "or learn one of the kind batchtopk."
        )
    skip = "" if dictionary.skip is None else "skip_"
    return f"jumprelu_{skip}transcoder" if by_threshold else f"{skip}transcoder"
