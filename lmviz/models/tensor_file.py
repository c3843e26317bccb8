"""Writes named tensors as a safetensors file, whose bytes are as this program writes all its files.

The library would write beside the file under a name of its own, which nobody recognises after a crash, and
for nobody else to read (https://github.com/huggingface/safetensors describes the format).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

CODES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint64: "U64",
    torch.uint32: "U32",
    torch.uint16: "U16",
    torch.uint8: "U8",
    torch.float8_e4m3fn: "F8_E4M3",
    torch.float8_e5m2: "F8_E5M2",
    torch.bool: "BOOL",
}
ALIGNED = 8  # bytes: numbers of any kind begin at a multiple of their size, the largest kinds first


def write_tensor_file(path: Path, tensors: Mapping[str, torch.Tensor], header: Mapping[str, str]) -> None:
    """Write tensors of the CPU and the text of a header; raises OSError."""
    names = sorted(tensors, key=lambda name: (-tensors[name].element_size(), name))
    described: dict[str, Any] = {"__metadata__": dict(header)} if header else {}
    end = 0
    for name in names:
        tensor, begin = tensors[name], end
        end += tensor.numel() * tensor.element_size()
        described[name] = {
            "dtype": CODES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [begin, end],
        }
    head = json.dumps(described, separators=(",", ":")).encode("utf-8")
    head += b" " * (-len(head) % ALIGNED)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for name in names:
            flat = tensors[name].detach().contiguous().reshape(-1)
            file.write(flat.view(torch.uint8).numpy().data)
