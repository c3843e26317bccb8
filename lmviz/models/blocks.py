"""Matrices whose numbers stay packed in blocks, and are made float a few rows at a time as they are used.

A file of quantised weights is an eighth to a quarter as large as its numbers in single precision. A
`BlockMatrix` is a tensor in single precision to all that reads it; it holds the blocks, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

Unpack = Callable[[torch.Tensor], torch.Tensor]
"""Makes the numbers (row, column) of blocks (row, byte)."""


@dataclass(frozen=True)
class Rows:
    """Rows of a matrix that are packed alike: their blocks (row, byte), and what unpacks them."""

    blocks: torch.Tensor
    unpack: Unpack


PIECE = 1 << 22
"""Numbers that are made at once."""


class BlockMatrix(torch.Tensor):
    """A matrix (row, column) that is packed row by row, of which nobody changes a number.

    What takes some of its rows gets a `BlockMatrix` again, and what computes with it gets the numbers.
    """

    parts: tuple[Rows, ...]

    @staticmethod
    def __new__(cls, parts: Sequence[Rows], columns: int) -> BlockMatrix:
        rows = sum(len(part.blocks) for part in parts)
        made = torch.Tensor._make_wrapper_subclass(cls, (rows, columns), dtype=torch.float32)
        made.parts = tuple(parts)
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls,
        function: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """What torch does with it below its gradients."""
        kept = _KEPT.get(function)
        with torch.inference_mode(False):  # views of what is no tensor of inference have to be none
            found = None if kept is None else kept(*args, **kwargs or {})
            if found is not None:
                return found
            plain = {name: _plain(value) for name, value in (kwargs or {}).items()}
            return function(*map(_plain, args), **plain)

    def values(self) -> torch.Tensor:
        """The numbers, (row, column), in single precision.

        Of a large matrix they are made a few rows at a time, so that nothing beside them takes much memory.
        """
        if len(self.parts) == 1 and self.numel() <= PIECE:
            return self.parts[0].unpack(self.parts[0].blocks)
        values = torch.empty(self.shape)
        rows, first = max(1, PIECE // max(1, self.shape[1])), 0
        for part in self.parts:
            for blocks in part.blocks.split(rows):
                values[first : first + len(blocks)] = part.unpack(blocks)
                first += len(blocks)
        return values

    def rows(self, chosen: torch.Tensor) -> BlockMatrix:
        """The rows of these numbers (row), in this order, of a matrix that is packed alike throughout."""
        [part] = self.parts
        return BlockMatrix([Rows(part.blocks[chosen], part.unpack)], self.shape[1])

    def untyped_storage(self) -> torch.UntypedStorage:
        """That of its blocks."""
        return self.parts[0].blocks.untyped_storage()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The numbers, (row, column)."""
        return self.values().numpy(force=force)

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"BlockMatrix({' × '.join(map(str, self.shape))})"


def without_blocks(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself, or the numbers in its blocks."""
    return tensor.values() if isinstance(tensor, BlockMatrix) else tensor


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return without_blocks(value)


def _between(matrix: BlockMatrix, first: int, end: int) -> BlockMatrix:
    parts = []
    for part in matrix.parts:
        count = len(part.blocks)
        low, high = max(first, 0), min(end, count)
        if low < high:
            parts.append(Rows(part.blocks[low:high], part.unpack))
        first, end = first - count, end - count
    return BlockMatrix(parts or [Rows(matrix.parts[0].blocks[:0], matrix.parts[0].unpack)], matrix.shape[1])


def _slice(
    matrix: BlockMatrix, axis: int = 0, first: int | None = None, end: int | None = None, step: int = 1
) -> BlockMatrix | None:
    if axis != 0 or step != 1:
        return None
    return _between(matrix, *slice(first, end).indices(len(matrix))[:2])


def _split(matrix: BlockMatrix, size: int, axis: int = 0) -> tuple[BlockMatrix, ...] | None:
    if axis != 0:
        return None
    starts = range(0, len(matrix), size)
    return tuple(_between(matrix, first, min(first + size, len(matrix))) for first in starts)


def _split_unevenly(
    matrix: BlockMatrix, sizes: Sequence[int], axis: int = 0
) -> tuple[BlockMatrix, ...] | None:
    if axis != 0:
        return None
    ends = np.cumsum(sizes).tolist()
    return tuple(_between(matrix, end - size, end) for end, size in zip(ends, sizes, strict=True))


def _select(matrix: BlockMatrix, axis: int, index: int) -> torch.Tensor | None:
    if axis != 0:
        return None
    index %= len(matrix)
    return _between(matrix, index, index + 1).values()[0]


def _joined(matrices: Sequence[Any], axis: int = 0) -> BlockMatrix | None:
    if axis != 0 or not all(isinstance(each, BlockMatrix) for each in matrices):
        return None
    return BlockMatrix([part for each in matrices for part in each.parts], matrices[0].shape[1])


def _embedded(matrix: BlockMatrix, tokens: torch.Tensor, *_: Any) -> torch.Tensor:
    return _taken(matrix, tokens)


def _indexed(matrix: BlockMatrix, indices: Sequence[torch.Tensor | None]) -> torch.Tensor | None:
    first, *others = indices
    if first is None or first.dtype == torch.bool:
        return None
    rows = _taken(matrix, first)
    if not others:
        return rows
    column = others[0]
    if column is None or column.shape != first.shape:
        return None
    return rows.gather(-1, column[..., None])[..., 0]


def _taken(matrix: BlockMatrix, rows: torch.Tensor) -> torch.Tensor:
    """The numbers of these rows, (*rows, column)."""
    flat = rows.reshape(-1) % max(len(matrix), 1)
    if len(matrix.parts) == 1:
        [part] = matrix.parts
        found = part.unpack(part.blocks[flat])
    else:
        found = torch.cat([_between(matrix, row, row + 1).values() for row in flat.tolist()])
    return found.reshape(*rows.shape, matrix.shape[1])


def _same(matrix: BlockMatrix, *_: Any) -> BlockMatrix:
    return BlockMatrix(matrix.parts, matrix.shape[1])


_aten = torch.ops.aten
_KEPT: dict[Any, Callable[..., Any]] = {
    _aten.detach.default: _same,
    _aten.alias.default: _same,
    _aten.slice.Tensor: _slice,
    _aten.split.Tensor: _split,
    _aten.split_with_sizes.default: _split_unevenly,
    _aten.select.int: _select,
    _aten.cat.default: _joined,
    _aten.embedding.default: _embedded,
    _aten.index.Tensor: _indexed,
}
"""What need not unpack the whole; None says that it must, after all."""
