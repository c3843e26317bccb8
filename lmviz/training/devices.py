"""The device and the number format of a computation."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext

import torch

from lmviz.base.errors import LmvizError
from lmviz.training.options import TrainingOptions


def choose_device(name: str) -> torch.device:
    """The device that an option names, or LmvizError when this machine has none such.

    Under torchrun each process takes the card with its number.
    """
    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if name == "auto":
        name = "cuda" if cuda else "mps" if mps else "cpu"
    if (name == "cuda" and not cuda) or (name == "mps" and not mps):
        raise LmvizError(f"torch finds no device {name!r} on this machine: choose auto or cpu.")
    if name == "cuda":
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    return torch.device(name)


def computing(device: torch.device, options: TrainingOptions) -> AbstractContextManager[object]:
    """The context in which to compute losses: bfloat16 where it was asked for."""
    if options.precision == "float32":
        return nullcontext()
    if device.type != "cuda":
        raise LmvizError(f"bfloat16 needs device cuda, not {device.type}: choose float32, or that device.")
    return torch.autocast("cuda", dtype=torch.bfloat16)


def seed_chance(device: torch.device, seed: int) -> None:
    """Let what the model draws next, such as dropout, depend on nothing but this seed."""
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)
    elif device.type == "mps":
        torch.mps.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)
