"""A model with other numbers in the place of its own, while the first keeps what it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import torch
from torch import nn

from lmviz.models.model import Model

Module = TypeVar("Module", bound=nn.Module)


def with_tensors(model: Model, tensors: Mapping[str, torch.Tensor]) -> Model:
    """The same model with other tensors, by their dotted names; nothing of the first is changed."""
    return _with(model, dict(tensors), "")


def _with(module: Module, tensors: Mapping[str, torch.Tensor], prefix: str) -> Module:
    twin = module.__new__(type(module))
    children = {
        name: child and _with(child, tensors, f"{prefix}{name}.") for name, child in module._modules.items()
    }
    own = {
        name: parameter if parameter is None else _as_parameter(tensors[f"{prefix}{name}"])
        for name, parameter in module._parameters.items()
    }
    buffers = {
        name: buffer if buffer is None else tensors[f"{prefix}{name}"]
        for name, buffer in module._buffers.items()
    }
    kept = {name: value for name, value in module.__dict__.items() if name != "_named"}
    twin.__dict__ = kept | {"_modules": children, "_parameters": own, "_buffers": buffers, "training": False}
    return twin


def _as_parameter(tensor: torch.Tensor) -> nn.Parameter:
    if isinstance(tensor, nn.Parameter):
        return tensor
    with torch.inference_mode(False):
        return nn.Parameter(tensor, requires_grad=False)
