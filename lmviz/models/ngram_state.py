"""Counts as few and small tensors, for snapshots.

The n-grams of an order are kept as their last tokens and as how many of them each context begins: in
lexicographic order that says it all. Everything is in the smallest integers that hold it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import torch

from lmviz.errors import LmvizError
from lmviz.models.ngram_level import ABSENT, Level


def pack(levels: tuple[Level, ...], start_id: int | None) -> dict[str, torch.Tensor]:
    """The tensors of levels: `orders.K.counts`, and above order 1 `orders.K.words`, `orders.K.followers`."""
    tensors = {"start": torch.tensor([ABSENT if start_id is None else start_id])}
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
    try:
        arrays = {name: tensor.numpy().astype(np.int64) for name, tensor in tensors.items()}
        start_id = int(arrays["start"][0])
        levels = [
            Level(np.arange(vocabulary_size), arrays["orders.1.counts"], 1, vocabulary_size),
        ]
        for k in range(2, order + 1):
            followers, words = arrays[f"orders.{k}.followers"], arrays[f"orders.{k}.words"]
            contexts = np.repeat(np.arange(len(levels[-1])), followers)
            keys = contexts * vocabulary_size + words
            levels.append(Level(keys, arrays[f"orders.{k}.counts"], len(followers), vocabulary_size))
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise _damaged(str(error)) from None
    if f"orders.{order + 1}.words" in arrays:
        raise _damaged(f"it counts more than {order}-grams")
    if not ABSENT <= start_id < vocabulary_size:
        raise _damaged(f"the START token {start_id} is outside the vocabulary")
    for below, level in pairwise(levels):
        _check(level, below)
    if len(levels[0].counts) != vocabulary_size:
        raise _damaged(f"it counts {len(levels[0].counts)} tokens where the vocabulary has {vocabulary_size}")
    return tuple(levels), None if start_id == ABSENT else start_id


def _check(level: Level, below: Level) -> None:
    words = level.keys - level.vocabulary_size * (level.keys // level.vocabulary_size)
    if level.contexts != len(below) or len(level.counts) != len(level):
        raise _damaged("its tensors differ in length")
    if (np.diff(level.keys) <= 0).any() or (words < 0).any():
        raise _damaged("its n-grams are out of order")


def _damaged(reason: str) -> LmvizError:
    return LmvizError(
        f"This snapshot of an n-gram model cannot be read ({reason}): choose another, or train again."
    )


def _smallest(values: np.ndarray) -> torch.Tensor:
    """The same whole numbers from 0 up in the smallest type that holds them."""
    largest = int(values.max(initial=0))
    kind = next(kind for kind in (np.uint8, np.uint16, np.int32, np.int64) if largest <= np.iinfo(kind).max)
    return torch.from_numpy(values.astype(kind))
