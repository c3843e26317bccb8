"""Identifies the model and the weights that made a trace, so that values of another are never reused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import ref

import torch

if TYPE_CHECKING:
    from lmviz.models.model import Model

Mark = tuple[int, int]
MOST_NUMBERS = 16


class Origin:
    """`Origin(model)`: `is_of(model)` says whether it is the same model with the same weights.

    The model is held weakly. A name and a step do not tell models apart: two may be called the same, one
    may be trained again under its name, and one that is learning changes beneath a trace.
    """

    def __init__(self, model: Model) -> None:
        self._model = ref(model)
        holders = model.holders()
        self._held = tuple((ref(holder), _mark(holder)) for holder in holders)
        self._numbers = _some_numbers(holders)

    def is_of(self, model: Model) -> bool:
        """Whether the model would compute the same once more."""
        if self._model() is not model:
            return False
        holders = model.holders()
        are_same = len(holders) == len(self._held) and all(
            known() is holder and mark == _mark(holder)
            for (known, mark), holder in zip(self._held, holders, strict=True)
        )
        return are_same and self._numbers == _some_numbers(holders)

    def agrees_with(self, model: Model) -> bool:
        """Whether a model, this one or another, has the numbers that the one of the trace had then.

        That of an n-gram model are not compared: its name and step tell.
        """
        return self._numbers == _some_numbers(model.holders())


def _mark(holder: object) -> Mark | None:
    """What changes when a tensor is written to; None for what never changes once it is made."""
    if not isinstance(holder, torch.Tensor):
        return None
    return holder.data_ptr(), 0 if holder.is_inference() else holder._version


def _some_numbers(holders: Sequence[object]) -> tuple[float, ...]:
    """The middle numbers of some tensors spread over the model, which no step of a training leaves all alike.

    Fused optimizers do not count the writes to a tensor, and one made for inference has no count at all.
    """
    tensors = [holder for holder in holders if isinstance(holder, torch.Tensor) and holder.numel()]
    some = tensors[:: -(-len(tensors) // MOST_NUMBERS) or 1]
    return tuple(float(tensor.detach()[tuple(size // 2 for size in tensor.shape)]) for tensor in some)
