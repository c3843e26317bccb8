"""Which steps of a training are kept as snapshots, frequent at first and further apart later, and how.

A model learns most in its first steps, so snapshots are spaced evenly in the logarithm of the step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from lmviz.base.errors import LmvizError
from lmviz.training.tensors import read_tensors, write_tensors


def snapshot_steps(steps: int, count: int) -> tuple[int, ...]:
    """At most `count` steps from 0 to `steps`, both among them, evenly spread in log(step + offset).

    The offset is the smallest power of two with which no two neighbours round to the same step.
    """
    if count > steps:
        return tuple(range(steps + 1))
    offset = 1
    while offset * ((1 + steps / offset) ** (1 / (count - 1)) - 1) < 1:
        offset *= 2
    growth = 1 + steps / offset
    shares = [index / (count - 1) for index in range(count)]
    return tuple(math.floor(offset * (growth**share - 1) + 0.5) for share in shares)


def superfluous(steps: Sequence[int], count: int) -> list[int]:
    """Which of the ascending steps to give up so that `count` remain, first and last always.

    Again and again the step goes whose neighbours are nearest one another in the logarithm.
    """
    kept = list(steps)
    given_up = []
    while len(kept) > max(2, count):
        gaps = [
            math.log1p(later) - math.log1p(earlier) for earlier, later in zip(kept, kept[2:], strict=False)
        ]
        given_up.append(kept.pop(1 + gaps.index(min(gaps))))
    return given_up


_SCALE = "|scale"


def state_bytes(state: Mapping[str, torch.Tensor], precision: str = "full") -> int:
    """How large a snapshot of this state will be, but for a header of a few kilobytes."""
    return sum(tensor.nbytes for tensor in _packed(state, precision).values())


def write_snapshot(path: Path, step: int, state: Mapping[str, torch.Tensor], precision: str = "full") -> None:
    """Write the state of a model, its float32 tensors in a precision of options.py; raises NotWritten."""
    write_tensors(path, _packed(state, precision), {"step": str(step), "precision": precision})


def read_snapshot(path: Path) -> dict[str, torch.Tensor]:
    """The state of a model as it was written, in float32 again where it was stored in less; or LmvizError."""
    state, header = read_tensors(path)
    if header.get("precision", "full") == "full":
        return state
    return {name: _unpacked(name, state) for name in state if not name.endswith(_SCALE)}


def _packed(state: Mapping[str, torch.Tensor], precision: str) -> dict[str, torch.Tensor]:
    packed = {}
    for name, tensor in state.items():
        if tensor.dtype != torch.float32 or precision == "full":
            packed[name] = tensor
        elif precision == "quarter" and tensor.dim() == 2:
            scale = tensor.abs().amax(dim=1, keepdim=True).clamp_min(torch.finfo(torch.float32).tiny) / 127
            packed[name] = (tensor / scale).round().to(torch.int8)
            packed[name + _SCALE] = scale
        else:
            packed[name] = tensor.to(torch.float16)
    return packed


def _unpacked(name: str, state: Mapping[str, torch.Tensor]) -> torch.Tensor:
    tensor, scale = state[name], state.get(name + _SCALE)
    if scale is not None:
        if tensor.dim() != 2 or scale.shape != (tensor.shape[0], 1):
            raise LmvizError(f"The snapshot's scale for {name} does not fit it: choose another snapshot.")
        return tensor.float() * scale
    return tensor.float() if tensor.dtype == torch.float16 else tensor
