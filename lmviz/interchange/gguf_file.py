"""A GGUF file as it lies on disk: what it says of itself, and its tensors, made float when they are wanted.

The format is that of llama.cpp (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3).
The `gguf` package knows how each kind of block is packed. The beginning of the file is read here, because the
package is slow with large vocabularies. The file is mapped into memory: what nobody reads takes none.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.interchange.containers import not_the_file
from lmviz.interchange.gguf_blocks import UNPACK
from lmviz.models.blocks import BlockMatrix, Rows
from lmviz.text.ordinary_files import check_ordinary

MAGIC = b"GGUF"

GGUF_ENDING = ".gguf"

MOST_ENTRIES = 10_000_000
"""Of a list in what a file says of itself: as many as the largest vocabulary may have tokens."""

MOST_AXES = 4

_NUMBERS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
"""The kinds of single values, as `struct` calls them."""

_TEXT, _LIST = 8, 9

_AS_THEY_ARE = {0: torch.float32, 1: torch.float16, 30: torch.bfloat16}
"""The kinds of tensors that torch has itself: F32, F16 and BF16."""

PIECE = 1 << 22
"""Numbers that are made float at once; the package takes several times their room meanwhile."""


@dataclass(frozen=True)
class PackedTensor:
    """A tensor of a file: its shape as torch has it, its kind of block ("Q4_K"), its bytes (row, byte)."""

    shape: tuple[int, ...]
    kind: str
    number: int
    packed: np.ndarray

    @property
    def stored_as(self) -> torch.dtype:
        """What `values` gives: single precision for everything that torch does not have."""
        return _AS_THEY_ARE.get(self.number, torch.float32)

    @property
    def packed_as(self) -> str:
        """Its kind of block, or "" where torch has it as it is."""
        return "" if self.number in _AS_THEY_ARE else self.kind

    @property
    def stays_packed(self) -> bool:
        """Whether `values` leaves the numbers in their blocks."""
        return len(self.shape) == 2 and self.kind in UNPACK

    def values(self) -> torch.Tensor:
        """The numbers: mapped from the file where torch has their kind or they can be unpacked as they are
        used, otherwise in single precision."""
        if self.stays_packed:
            blocks = torch.frombuffer(self.packed.data, dtype=torch.uint8).reshape(self.packed.shape)
            return BlockMatrix([Rows(blocks, UNPACK[self.kind])], self.shape[1])
        if self.number in _AS_THEY_ARE:
            # torch warns of arrays that may not be written to, and nothing writes into weights
            numbers = torch.frombuffer(self.packed.data, dtype=self.stored_as)
            return numbers.reshape(self.shape)
        import gguf  # half a second, which nobody else should wait

        kind = gguf.GGMLQuantizationType(self.number)
        values = torch.empty(len(self.packed), self.shape[-1])
        rows = max(1, PIECE // self.shape[-1])
        for first in range(0, len(self.packed), rows):
            with np.errstate(all="ignore"):  # what is no number in a damaged file is found by whoever asks
                piece = gguf.dequantize(self.packed[first : first + rows], kind)
            values[first : first + rows] = torch.from_numpy(piece)
        return values.reshape(self.shape)


PART = re.compile(r"(.+)-(\d{5})-of-(\d{5})")
"""The name, without its ending, of a part of a model that is split into several files."""

MOST_PARTS = 1000


@dataclass(frozen=True)
class GgufFile:
    """What a file says of itself by name, and its tensors by name; of several parts what all of them hold."""

    path: Path
    said: dict[str, Any]
    tensors: dict[str, PackedTensor]
    parts: tuple[Path, ...]
    maps: tuple[mmap.mmap, ...] = ()


def parts_of(path: Path) -> tuple[Path, ...]:
    """All files of the model that a file is, or is a part of, the first one first."""
    found = PART.fullmatch(path.stem)
    if found is None or not 1 <= int(found[3]) <= MOST_PARTS:
        return (path,)
    names = (f"{found[1]}-{number:05}-of-{found[3]}{path.suffix}" for number in range(1, int(found[3]) + 1))
    return tuple(map(path.with_name, names))


def models_in(folder: Path) -> list[Path]:
    """The models in GGUF in a folder, each by its first part; what sees pictures for one of them is none."""
    files = (path for path in folder.glob(f"*{GGUF_ENDING}") if not path.name.startswith("mmproj"))
    return sorted({parts_of(path)[0] for path in files})


def gguf_in(folder: Path) -> Path | None:
    """The one model in GGUF in a folder, its first part where there are several; None if there is not one."""
    found = models_in(folder)
    return found[0] if len(found) == 1 else None


def read_gguf(path: Path) -> GgufFile:
    """Read everything but the numbers, from all parts where a file is one of several.

    LmvizError where a file is none, is cut short, or where a part is missing.
    """
    parts = parts_of(path)
    missing = [part.name for part in parts if not os.path.exists(part)]
    if missing and len(parts) > 1:
        raise LmvizError(
            f"{path} is one of {len(parts)} files of a model, and {missing[0]} is not beside it: put all of "
            "them into one folder."
        )
    first, *others = map(_read_file, parts)
    tensors, maps = dict(first.tensors), (*first.maps, *(each for other in others for each in other.maps))
    for other in others:
        if twice := tensors.keys() & other.tensors.keys():
            raise LmvizError(f"{other.path} holds {min(twice)[:80]!r} once more: choose another checkpoint.")
        tensors |= other.tensors
    expected = first.said.get("split.tensors.count", len(tensors))
    if len(tensors) != expected:
        raise LmvizError(
            f"{path} and its other parts hold {len(tensors):,} tensors of {expected!s:.20}: get them again."
        )
    return GgufFile(path, first.said, tensors, parts, maps)


def _read_file(path: Path) -> GgufFile:
    try:
        import gguf
    except ImportError:
        raise LmvizError(
            f"{path} needs the gguf package, which is not installed: `python3 start.py` installs it, and so "
            "does `pip install gguf`."
        ) from None
    check_ordinary(path)
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise LmvizError(
                not_the_file(path)
                or f"{path} is not a GGUF file, whatever its name says: choose another checkpoint."
            )
        # A copy on write: torch wants memory that could be written to, and the file stays as it is.
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    try:
        return _read(path, mapped, gguf.GGML_QUANT_SIZES, gguf.GGMLQuantizationType)
    except (struct.error, ValueError, OverflowError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error) if type(error) is ValueError else "it is damaged, or cut short"
        raise LmvizError(
            f"{path} cannot be read as GGUF ({reason}): get it again, or choose another checkpoint."
        ) from error


def _read(path: Path, mapped: mmap.mmap, sizes: Any, kind_of: Callable[[int], Any]) -> GgufFile:
    reader = _Reader(mapped, len(MAGIC))
    version = reader.number("I")
    if version not in (2, 3):
        other = version & 0xFFFF == 0 and version != 0
        raise ValueError(
            "it is written for machines of the other byte order" if other else f"its version is {version}"
        )
    tensors, values = reader.number("Q"), reader.number("Q")
    said = {}
    for _ in range(values):
        name = reader.text()
        said[name] = reader.value(reader.number("I"))
    described = []
    for _ in range(tensors):
        name = reader.text()
        axes = reader.number("I")
        if not 1 <= axes <= MOST_AXES:
            raise ValueError(f"{name[:80]!r} has {axes} axes")
        shape = tuple(reader.number("Q") for _ in range(axes))[::-1]
        described.append((name, shape, reader.number("I"), reader.number("Q")))
    step = said.get("general.alignment", 32)
    if type(step) is not int or not 1 <= step <= 1 << 20:
        raise ValueError("its alignment is not a number of bytes")
    start = -(-reader.place // step) * step
    found: dict[str, PackedTensor] = {}
    for name, shape, number, offset in described:
        try:
            kind = kind_of(number)
            block, size = sizes[kind]
        except (ValueError, KeyError):
            raise ValueError(f"{name[:80]!r} is packed in a way {number} that is not known") from None
        rows, length = torch.Size(shape[:-1]).numel(), shape[-1]
        if min(shape) < 1 or length % block or name in found:
            raise ValueError(f"{name[:80]!r} cannot have the shape {shape}")
        width = length // block * size
        if start + offset + rows * width > len(mapped):
            raise ValueError(f"it ends before {name[:80]!r} does")
        packed = np.frombuffer(mapped, np.uint8, rows * width, start + offset).reshape(rows, width)
        found[name] = PackedTensor(shape, kind.name, number, packed)
    return GgufFile(path, said, found, (path,), (mapped,))


class _Reader:
    """Reads one value after the other; struct.error at the end of the file."""

    def __init__(self, mapped: mmap.mmap, place: int) -> None:
        self._mapped, self.place = mapped, place

    def number(self, form: str) -> Any:
        form = "<" + form
        (value,) = struct.unpack_from(form, self._mapped, self.place)
        self.place += struct.calcsize(form)
        return value

    def text(self) -> str:
        length = self.number("Q")
        if length > len(self._mapped) - self.place:
            raise ValueError("a word in it is longer than the file")
        self.place += length
        return self._mapped[self.place - length : self.place].decode("utf-8")

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind in _NUMBERS:
            number = self.number(_NUMBERS[kind])
            # a float of single precision as it was written down: 1e-05 and not 9.99999974e-06
            return float(f"{number:.7g}") if _NUMBERS[kind] == "f" else number
        if kind == _TEXT:
            return self.text()
        if kind != _LIST or depth:
            raise ValueError(f"it holds a value of the kind {kind}")
        kind, count = self.number("I"), self.number("Q")
        if count > min(MOST_ENTRIES, len(self._mapped)):
            raise ValueError(f"it holds a list of {count:,} entries")
        if kind not in _NUMBERS:
            return [self.value(kind, depth + 1) for _ in range(count)]
        form = f"<{count}{_NUMBERS[kind]}"
        values = struct.unpack_from(form, self._mapped, self.place)
        self.place += struct.calcsize(form)
        return list(values)
