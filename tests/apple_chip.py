"""A simulated Apple chip: a device without float64, on any machine.

What is put on the device "mps", and whatever is computed from that, is a tensor of the processor that says it
stands there, until `.cpu()` is called. Where float64 would come of it, or something of both devices, an error
is raised as by torch. What the real device lacks beside that, and how it rounds, is not shown by this.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

CHIP = torch.device("mps")
LEAVING = {torch.Tensor.cpu, torch.Tensor.numpy, torch.Tensor.tolist, torch.Tensor.item}
REACHING = {torch.Tensor.to, torch.Tensor.__getitem__, torch.Tensor.__setitem__}
"""What may be given tensors of both devices; indices are taken over from the processor."""
DEVICE = torch.Tensor.device.__get__  # type: ignore[attr-defined]


class AppleChip(TorchFunctionMode):
    """Marks what stands on the simulated device, by an attribute that tensors keep."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        leaves = tree_leaves((args, kwargs or {}))
        is_there = any(is_on_chip(leaf) for leaf in leaves)
        if is_there and function == DEVICE:
            return CHIP
        if function is torch._C._nn._parse_to:
            return function(*args, **kwargs or {})
        args, kwargs = tree_map(lambda leaf: "cpu" if _is_chip(leaf) else leaf, (args, kwargs or {}))
        if is_there and function not in REACHING and any(map(_is_elsewhere, leaves)):
            raise RuntimeError("Expected all tensors to be on the same device")
        found = function(*args, **kwargs)
        if function is torch.Tensor.cpu:
            return found.view_as(found) if is_there else found
        if function in LEAVING or not (is_there or any(_is_chip(leaf) for leaf in leaves)):
            return found
        for tensor in tree_leaves(found):
            if isinstance(tensor, torch.Tensor):
                if tensor.dtype == torch.float64:
                    raise TypeError("Cannot convert a MPS Tensor to float64 dtype")
                tensor.is_on_chip = True  # type: ignore[attr-defined]
        return found


def is_on_chip(value: object) -> bool:
    """Whether a tensor stands on the simulated device."""
    return isinstance(value, torch.Tensor) and value.__dict__.get("is_on_chip", False)


def _is_chip(value: object) -> bool:
    return isinstance(value, torch.device) and value == CHIP


def _is_elsewhere(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() > 0 and not is_on_chip(value)


@contextmanager
def apple_chip() -> Iterator[None]:
    """A machine with such a device, which is what "auto" chooses, and with no card."""
    with (
        patch("torch.cuda.is_available", lambda: False),
        patch("torch.backends.mps.is_available", lambda: True),
        patch("torch.mps.manual_seed", torch.default_generator.manual_seed),
        AppleChip(),
    ):
        yield
