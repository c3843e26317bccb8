"""Named tensors in one safetensors file, with text in its header. Never pickle."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open

from lmviz.base.errors import LmvizError
from lmviz.base.machine_memory import machine_memory
from lmviz.models.tensor_file import write_tensor_file
from lmviz.text.ordinary_files import check_ordinary
from lmviz.training.writing import replacing

ATTEMPTS = 100
SPARE = 16 * 2**20
"""Bytes that safetensors takes beside the tensors when it reads, with room to spare."""

NO_MEMORY = "annot allocate memory"
"""How safetensors and torch pass on what the system says."""


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor], header: Mapping[str, str]) -> None:
    """Write tensors of the CPU at once or not at all; raises NotWritten."""
    with replacing(path) as beside:
        write_tensor_file(beside, tensors, header)


def read_tensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """The tensors and the header of a file; LmvizError for any unreadable bytes.

    `safe_open` opens the path once for the header and once for the tensors: where another file has come
    to lie there meanwhile, both are read again, so that they belong together.
    """
    try:
        for _ in range(ATTEMPTS):
            check_ordinary(path, machine_memory())
            _check_spare_memory()
            lying_there = _identity(path)
            with safe_open(path, framework="pt") as file:
                names = list(file.keys())
                found = {name: file.get_tensor(name) for name in names}, dict(file.metadata() or {})
            if _identity(path) == lying_there:
                return found
        raise LmvizError(f"{path} is replaced all the time: read it when less is written there.")
    except FileNotFoundError:
        raise LmvizError(f"{path} is not there: choose another snapshot, or another run.") from None
    except MemoryError:
        raise _too_large(path) from None
    except OSError as error:
        reason = error.strerror or error
        raise LmvizError(f"{path} cannot be read ({reason}): choose another snapshot.") from None
    except (SafetensorError, ValueError, RuntimeError, KeyError, TypeError) as error:
        if NO_MEMORY in str(error):
            raise _too_large(path) from None
        raise LmvizError(
            f"{path} cannot be read as safetensors ({error}): choose another snapshot."
        ) from None


def _too_large(path: Path) -> LmvizError:
    return LmvizError(f"{path} does not fit into memory: close what else is open, or choose a smaller model.")


def _check_spare_memory() -> None:
    """MemoryError where little memory is left: safetensors, written in Rust, would end the process.

    The memory is reserved and not written to, which would take longer than writing a small model.
    """
    np.empty(SPARE, np.uint8)


def _identity(path: Path) -> tuple[int, int, int]:
    """Identifies a version of a file: it differs once the file is replaced."""
    status = os.stat(path)
    return status.st_ino, status.st_mtime_ns, status.st_size
