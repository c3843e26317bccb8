"""Counts as few and small tensors, for snapshots.

Of each order, the n-grams' last tokens are stored, and how many n-grams each context begins. Lexicographic
order determines the rest. Everything is in the smallest integer type that holds it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.models.ngram.level import Level

LARGEST_COUNT = 1 << 40
"""Beyond any text; sums of counts stay exact."""


def pack(levels: tuple[Level, ...], start_id: int | None) -> dict[str, torch.Tensor]:
    """The tensors of levels: `orders.K.counts`, and above order 1 `orders.K.words`, `orders.K.followers`.

    `start` holds START's id, or nothing.
    """
    tensors = {"start": torch.tensor([] if start_id is None else [start_id], dtype=torch.int64)}
    for order, level in enumerate(levels, 1):
        tensors[f"orders.{order}.counts"] = _smallest(level.counts)
        if order > 1:
            tensors[f"orders.{order}.words"] = _smallest(level.words)
            tensors[f"orders.{order}.followers"] = _smallest(np.diff(level.first))
    return tensors


def unpack(
    tensors: Mapping[str, torch.Tensor], order: int, vocabulary_size: int
) -> tuple[tuple[Level, ...], int | None]:
    """The levels and START's id, or LmvizError where the tensors are not what `pack` gives."""
    expected = {"start", "orders.1.counts"}
    expected |= {
        f"orders.{k}.{part}" for k in range(2, order + 1) for part in ("counts", "words", "followers")
    }
    if set(tensors) != expected:
        raise _damaged(f"it does not hold the counts of a {order}-gram model")
    start = _numbers(tensors["start"], min(tensors["start"].numel(), 1), vocabulary_size - 1)
    counts = _numbers(tensors["orders.1.counts"], vocabulary_size, LARGEST_COUNT)
    levels = [Level(np.arange(vocabulary_size), counts, 1, vocabulary_size)]
    for k in range(2, order + 1):
        size = tensors[f"orders.{k}.words"].numel()
        words = _numbers(tensors[f"orders.{k}.words"], size, vocabulary_size - 1)
        followers = _numbers(tensors[f"orders.{k}.followers"], len(levels[-1]), min(size, vocabulary_size))
        counts = _numbers(tensors[f"orders.{k}.counts"], size, LARGEST_COUNT)
        if followers.sum() != size:
            raise _damaged("its n-grams do not fit their contexts")
        keys = np.repeat(np.arange(len(levels[-1])), followers) * vocabulary_size + words
        if (np.diff(keys) <= 0).any():
            raise _damaged("its n-grams are out of order")
        levels.append(Level(keys, counts, len(levels[-1]), vocabulary_size))
    return tuple(levels), int(start[0]) if len(start) else None


def _numbers(tensor: torch.Tensor, size: int, largest: int) -> np.ndarray:
    """A tensor as (size,) int64, or LmvizError where it is none of whole numbers from 0 to the largest."""
    if tensor.shape != (size,) or tensor.is_floating_point() or tensor.is_complex():
        raise _damaged("a tensor has another shape or type")
    numbers = tensor.numpy().astype(np.int64)
    if size and not 0 <= numbers.min() <= numbers.max() <= largest:
        raise _damaged("a number is out of bounds")
    return numbers


def _damaged(reason: str) -> LmvizError:
    return LmvizError(f"This snapshot of an n-gram model cannot be read ({reason}): choose another.")


def _smallest(values: np.ndarray) -> torch.Tensor:
    """The same whole numbers from 0 up in the smallest type that holds them."""
    largest = int(values.max(initial=0))
    kind = next(kind for kind in (np.uint8, np.uint16, np.int32, np.int64) if largest <= np.iinfo(kind).max)
    return torch.from_numpy(values.astype(kind))
