"""Named tensors in one safetensors file, with a few words of text in its header. Never pickle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from lmviz.errors import LmvizError
from lmviz.training.atomic import NotWritten, replacing


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor], header: Mapping[str, str]) -> None:
    """Write contiguous tensors of the CPU at once or not at all; raises NotWritten.

    Tensors that share their memory, such as tied weights, are written one by one.
    """
    seen: set[int] = set()
    separate = {}
    for name, tensor in tensors.items():
        shared = tensor.data_ptr() in seen
        seen.add(tensor.data_ptr())
        separate[name] = tensor.clone() if shared else tensor
    with replacing(path) as beside:
        try:
            save_file(separate, beside, metadata=dict(header))
        except SafetensorError as error:
            raise NotWritten(path, error) from error


def read_tensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """The tensors and the header of a file, or LmvizError whatever its bytes are."""
    try:
        with safe_open(path, framework="pt") as file:
            names = list(file.keys())
            return {name: file.get_tensor(name) for name in names}, dict(file.metadata() or {})
    except FileNotFoundError:
        raise LmvizError(f"{path} is not there: choose another snapshot, or another run.") from None
    except (SafetensorError, OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        raise LmvizError(
            f"{path} cannot be read as safetensors ({error}): choose another snapshot."
        ) from None
