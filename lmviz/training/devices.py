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


BFLOAT16_IN_HARDWARE = ("amx_bf16", "avx512_bf16")
"""What torch calls the instructions of a processor that multiply bfloat16."""


def has_bfloat16(device: torch.device) -> bool:
    """Whether a device multiplies matrices of bfloat16 itself; elsewhere they would only be slower."""
    if device.type == "cpu":
        able = torch.cpu.get_capabilities()
        return any(able.get(name, False) for name in BFLOAT16_IN_HARDWARE)
    return device.type == "cuda"


def computing(device: torch.device, options: TrainingOptions) -> AbstractContextManager[object]:
    """The context in which to compute losses: products in bfloat16 where that was asked for.

    Weights, their gradients and the updates are float32 in either case, as are sums and logarithms of the
    loss: mixed precision, by torch's autocast.
    """
    if options.precision == "float32":
        return nullcontext()
    if not has_bfloat16(device):
        what = "This processor" if device.type == "cpu" else f"Device {device.type}"
        raise LmvizError(f"{what} does not multiply bfloat16: choose float32, or another device.")
    return torch.autocast(device.type, dtype=torch.bfloat16)


def seed_chance(device: torch.device, seed: int) -> None:
    """Let what the model draws next, such as dropout, depend on nothing but this seed."""
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)
    elif device.type == "mps":
        torch.mps.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)
