"""Runs a model for inspection, without gradients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    import torch

    from lmviz.models.model import Model

    Module = TypeVar("Module", bound=torch.nn.Module)


@contextmanager
def evaluation(model: Model) -> Iterator[Model]:
    """The model without gradients and without dropout.

    One that is being trained is not switched over, as the training may be under way in another thread:
    what is given is a twin with the same weights.
    """
    import torch

    with torch.inference_mode():
        yield _evaluating(model) if model.training else model


def _evaluating(module: Module) -> Module:
    """The same module with the same tensors, which evaluates."""
    twin = module.__new__(type(module))
    children = {name: child and _evaluating(child) for name, child in module._modules.items()}
    twin.__dict__ = module.__dict__ | {"_modules": children, "training": False}
    return twin


def on_device(model: Model, ids: np.ndarray) -> torch.Tensor:
    """Token ids, (position,) or (batch, position), as a batch (batch, position) where the model computes."""
    import torch

    tokens = torch.tensor(np.atleast_2d(ids))  # a copy: ids may be read-only, and torch has no such tensors
    parameter = next(model.parameters(), None)
    return tokens if parameter is None else tokens.to(parameter.device)
