"""Stores a recurrent model's state between excerpts, whatever nested tuples it consists of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from lmviz.base.errors import LmvizError

Layout = Any
"""How a state nests, for JSON: null for none, the number of a tensor, or a list of layouts."""


def flatten(state: Any) -> tuple[list[torch.Tensor], Layout]:
    """The tensors in order, and how they nest."""
    tensors: list[torch.Tensor] = []

    def number(part: Any) -> Layout:
        if part is None:
            return None
        if isinstance(part, torch.Tensor):
            tensors.append(part)
            return len(tensors) - 1
        return [number(item) for item in part]

    return tensors, number(state)


def unflatten(tensors: Sequence[torch.Tensor], layout: Layout) -> Any:
    """The nest again; LmvizError when the layout does not fit the tensors."""
    if layout is None:
        return None
    if isinstance(layout, list):
        return tuple(unflatten(tensors, item) for item in layout)
    if type(layout) is not int or not 0 <= layout < len(tensors):
        raise _damaged()
    return tensors[layout]


def check_alike(state: Any, usual: Any) -> None:
    """Raise LmvizError where a state does not nest as the usual one does, or a tensor has another shape."""
    (tensors, layout), (others, usual_layout) = flatten(state), flatten(usual)
    shapes = [tensor.shape for tensor in tensors if tensor.is_floating_point()]
    if layout != usual_layout or shapes != [tensor.shape for tensor in others]:
        raise _damaged()


def _damaged() -> LmvizError:
    return LmvizError("The saved state of the text's streams is damaged: train again in another folder.")
