"""What other programs call a model and lmviz does not open: recognised, and refused with the way out.

Opening and `lmviz doctor` say the same, because both ask here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.text.ordinary_files import read_file

CONTAINERS = {
    "*.onnx": "a computation of ONNX",
    "tf_model*.h5": "weights of TensorFlow",
    "*.keras": "a model of Keras",
    "*.h5": "a model of Keras or TensorFlow",
    "saved_model.pb": "a model of TensorFlow",
    "*.tflite": "a model of TensorFlow Lite",
    "*.ckpt.index": "weights of TensorFlow",
    "*.ckpt-*.index": "weights of TensorFlow",
    "*.ckpt.data-*-of-*": "weights of TensorFlow",
    "*.ckpt-*.data-*-of-*": "weights of TensorFlow",
    "flax_model*.msgpack": "weights of Flax",
    "consolidated*.pth": "weights as Meta hands them out",
    "consolidated*.safetensors": "weights as Mistral AI hands them out",
    "openvino_model.*": "a model of OpenVINO",
    "*.mlmodel": "a model of Core ML",
    "*.mlpackage": "a model of Core ML",
    "*.nemo": "a model of NeMo",
    "*.distcp": "a part of a distributed checkpoint of torch",
    "*zero_pp_rank_*": "a part of what DeepSpeed has dealt out among processes",
    "*.llamafile": "a program with a GGUF file in it",
}
"""What the name of a file says that it holds; the first pattern that fits is meant."""

WAYS_OUT = {
    "*.distcp": "gather it with `python -m torch.distributed.checkpoint.format_utils dcp_to_torch`",
    "*zero_pp_rank_*": "gather it with the zero_to_fp32.py beside it",
    "consolidated*.pth": "choose a folder of transformers, or convert it with convert_llama_weights_to_hf.py",
}
"""What to do in place of choosing the same model in another form."""

WAY_OUT = "choose a folder of transformers with safetensors, or a GGUF file, of the same model"

PACKERS = {
    "gptq": "GPTQ",
    "awq": "AWQ",
    "bitsandbytes": "bitsandbytes",
    "mlx": "MLX",
    "hqq": "HQQ",
    "aqlm": "AQLM",
    "fp8": "FP8",
    "mxfp4": "MXFP4",
}
"""What programs that pack weights are called, by their names in a config.json."""

LARGEST_DESCRIPTION = 10_000_000
"""Bytes of a config.json, which may list thousands of labels."""

LONGEST_BEGINNING = 64
_POINTER = b"version https://git-lfs.github.com/spec/"


def container(path: Path) -> str | None:
    """Why a file, or a folder in which such a file lies, is not opened, as one sentence; None for all else.

    Nothing is read but the names of files.
    """
    is_folder = os.path.isdir(path) and path.suffix.lower() != ".mlpackage"
    names = sorted(os.listdir(path)) if is_folder else [path.name]
    for pattern, what in CONTAINERS.items():
        found = next((name for name in names if fnmatch(name.lower(), pattern)), None)
        if found is not None:
            place = path / found if is_folder else path
            return f"{place} is {what}, which lmviz does not read: {WAYS_OUT.get(pattern, WAY_OUT)}."
    if is_folder and os.path.isdir(path / "onnx"):
        return container(path / "onnx")
    return None


def check_unpacked(values: Mapping[str, Any], folder: Path) -> None:
    """Raise LmvizError where a config.json says that weights are packed into few bits.

    transformers writes a `quantization_config`, and MLX what it calls `quantization`.
    """
    said = values.get("quantization_config") or values.get("quantization")
    if not isinstance(said, Mapping):
        return
    packer = str(said.get("quant_method") or ("mlx" if "group_size" in said else ""))
    bits = next((said[name] for name in ("bits", "w_bit") if type(said.get(name)) is int), None)
    for flag, count in (("load_in_4bit", 4), ("load_in_8bit", 8)):
        bits = count if said.get(flag) is True else bits
        packer = packer or ("bitsandbytes" if said.get(flag) is True else "")
    by = f" by {PACKERS.get(packer, packer)[:40]}" if packer else ""
    size = f" into {bits} bits" if bits else ""
    raise LmvizError(
        f"{folder} holds weights that are packed{by}{size}, which lmviz does not unpack: choose the model in "
        "bfloat16 or float16 that it was made from, or a GGUF file of it."
    )


def describes_model(path: Path) -> bool:
    """Whether a file is a config.json of transformers, whatever lies beside it."""
    try:
        values = json.loads(read_file(path, LARGEST_DESCRIPTION))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(values, dict) and "model_type" in values


def not_the_file(path: Path) -> str | None:
    """Why a file is not what its name says, as one sentence: it was not fetched, or a download failed."""
    try:
        with path.open("rb") as file:
            begins = file.read(LONGEST_BEGINNING)
    except OSError:
        return None
    if not begins:
        return f"{path} is empty: get it again."
    if begins.startswith(_POINTER):
        return f"{path} is what Git leaves in place of a large file: fetch it with `git lfs pull`."
    if begins.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return f"{path} is a web page, as a refused download leaves one: get it again."
    return None
