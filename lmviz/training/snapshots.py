"""Which moments of a training to keep: close together at first, wider apart later.

A model learns most in its first steps, so moments are spread evenly in the logarithm of the step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

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


def state_bytes(state: Mapping[str, torch.Tensor], half: bool) -> int:
    """How large a snapshot of this state will be, but for a header of a few kilobytes."""
    return sum(_stored(tensor, half).itemsize * tensor.numel() for tensor in state.values())


def _stored(tensor: torch.Tensor, half: bool) -> torch.dtype:
    return torch.float16 if half and tensor.dtype == torch.float32 else tensor.dtype


def write_snapshot(path: Path, step: int, state: Mapping[str, torch.Tensor], half: bool = False) -> None:
    """Write the state of a model, with `half` its float32 tensors in 16 bits; raises NotWritten."""
    stored = {name: tensor.to(_stored(tensor, half)) for name, tensor in state.items()}
    write_tensors(path, stored, {"step": str(step), "precision": "half" if half else "full"})


def read_snapshot(path: Path) -> dict[str, torch.Tensor]:
    """The state of a model as it was written, in float32 again where it was halved; or LmvizError."""
    state, header = read_tensors(path)
    if header.get("precision") != "half":
        return state
    return {
        name: tensor.float() if tensor.dtype == torch.float16 else tensor for name, tensor in state.items()
    }
