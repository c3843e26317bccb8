"""Double precision, also of what stands on a device that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

WITHOUT = frozenset({"mps"})
"""Devices without numbers of this precision: Apple chips."""


def in_float64(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in float64 where it stands, or on the processor where its device has no such numbers."""
    return (tensor.cpu() if tensor.device.type in WITHOUT else tensor).double()
