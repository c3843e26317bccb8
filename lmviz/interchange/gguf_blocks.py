"""The numbers in the blocks of GGUF files, made by torch.

The `gguf` package unpacks every kind of block. These are the common ones once more, bit by bit the same and
twenty times as fast, so that matrices can stay packed and be unpacked as they are used. The layouts are those
of ggml-common.h (https://github.com/ggml-org/ggml); `d` and `m` are the scale and the offset of a block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

HALF = 2
"""Bytes of a number in half precision."""


def _half(part: torch.Tensor) -> torch.Tensor:
    """The numbers in half precision that a part (block, byte) holds, in single precision."""
    return part.contiguous().view(torch.float16).float()


def _nibbles(part: torch.Tensor) -> torch.Tensor:
    """The lower halves of all bytes, and after them the upper ones: (…, 2, byte)."""
    # a copy begins where four bytes can be taken at a time
    four = part.clone(memory_format=torch.contiguous_format).view(torch.int32)
    return torch.stack((four & 0x0F0F0F0F, (four >> 4) & 0x0F0F0F0F), dim=-2).view(torch.uint8)


def _bits(part: torch.Tensor) -> torch.Tensor:
    """The 32 bits of four bytes, the lowest first, (block, bit)."""
    places = torch.arange(8, dtype=torch.uint8)
    return ((part[..., None] >> places) & 1).flatten(-2)


def _q8_0(blocks: torch.Tensor) -> torch.Tensor:
    return blocks[:, HALF:].contiguous().view(torch.int8).float().mul_(_half(blocks[:, :HALF]))


def _q4_0(blocks: torch.Tensor) -> torch.Tensor:
    numbers = _nibbles(blocks[:, HALF:]).flatten(1).float()
    return numbers.sub_(8).mul_(_half(blocks[:, :HALF]))


def _q4_1(blocks: torch.Tensor) -> torch.Tensor:
    numbers = _nibbles(blocks[:, 2 * HALF :]).flatten(1).float()
    return numbers.mul_(_half(blocks[:, :HALF])).add_(_half(blocks[:, HALF : 2 * HALF]))


def _q5_0(blocks: torch.Tensor) -> torch.Tensor:
    numbers = _nibbles(blocks[:, HALF + 4 :]).flatten(1) | (_bits(blocks[:, HALF : HALF + 4]) << 4)
    return numbers.float().sub_(16).mul_(_half(blocks[:, :HALF]))


def _q5_1(blocks: torch.Tensor) -> torch.Tensor:
    high = _bits(blocks[:, 2 * HALF : 2 * HALF + 4]) << 4
    numbers = (_nibbles(blocks[:, 2 * HALF + 4 :]).flatten(1) | high).float()
    return numbers.mul_(_half(blocks[:, :HALF])).add_(_half(blocks[:, HALF : 2 * HALF]))


def _scales_and_offsets(part: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The 8 scales and 8 offsets of six bits in 12 bytes: the last four of each have their bits in two."""
    scale, offset, lower = part.unflatten(1, (3, 4)).unbind(1)
    scales = torch.cat((scale & 63, (lower & 15) | ((scale >> 2) & 48)), dim=1)
    offsets = torch.cat((offset & 63, (lower >> 4) | ((offset >> 2) & 48)), dim=1)
    return scales.float(), offsets.float()


def _of_eight(blocks: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """The numbers (block, 8, 32) of a block of eight, each with a scale and an offset of its own."""
    scales, offsets = _scales_and_offsets(blocks[:, 2 * HALF : 2 * HALF + 12])
    scales, offsets = scales * _half(blocks[:, :HALF]), offsets * _half(blocks[:, HALF : 2 * HALF])
    return numbers.float().mul_(scales[..., None]).sub_(offsets[..., None]).flatten(1)


def _q4_k(blocks: torch.Tensor) -> torch.Tensor:
    return _of_eight(blocks, _nibbles(blocks[:, 16:].unflatten(1, (4, 32))).flatten(1, 2))


def _q5_k(blocks: torch.Tensor) -> torch.Tensor:
    high = (blocks[:, None, 16:48] >> torch.arange(8, dtype=torch.uint8)[:, None]) & 1
    low = _nibbles(blocks[:, 48:].unflatten(1, (4, 32))).flatten(1, 2)
    return _of_eight(blocks, low | (high << 4))


def _q6_k(blocks: torch.Tensor) -> torch.Tensor:
    low = _nibbles(blocks[:, :128].unflatten(1, (2, 64))).flatten(1).unflatten(1, (8, 32))
    places = torch.arange(0, 8, 2, dtype=torch.uint8)[:, None]
    high = ((blocks[:, 128:192].unflatten(1, (2, 1, 32)) >> places) & 3).flatten(1, 2)
    scales = blocks[:, 192:208].contiguous().view(torch.int8).float() * _half(blocks[:, 208:])
    numbers = (low | (high << 4)).flatten(1).unflatten(1, (16, 16))
    return numbers.float().sub_(32).mul_(scales[..., None]).flatten(1)


def _unpacked(
    rows: torch.Tensor, *, size: int, unpack: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """The numbers (row, column) of blocks (row, byte) that are `size` bytes each."""
    return unpack(rows.reshape(-1, size)).reshape(len(rows), -1)


_KINDS = {
    "Q8_0": (34, _q8_0),
    "Q4_0": (18, _q4_0),
    "Q4_1": (20, _q4_1),
    "Q5_0": (22, _q5_0),
    "Q5_1": (24, _q5_1),
    "Q4_K": (144, _q4_k),
    "Q5_K": (176, _q5_k),
    "Q6_K": (210, _q6_k),
}

UNPACK = {name: partial(_unpacked, size=size, unpack=unpack) for name, (size, unpack) in _KINDS.items()}
"""What makes the numbers (row, column) of rows (row, byte), by the kind of their blocks."""
