"""Curves as a TensorBoard event file: records of serialised `Event` messages, each with two checksums.

The format is that of TensorFlow's record writer: the length of a message as eight bytes, its masked CRC-32C,
the message, and the masked CRC-32C of that. Messages are protocol buffers of four fields, written by hand
(https://github.com/tensorflow/tensorboard, event.proto and summary.proto).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.loading import loads

FILE_MARK = "tfevents"
"""What TensorBoard knows its files by."""

ENDING = ".tensorboard"
"""How the folders end that are written for it."""

VERSION = b"brain.Event:2"
CASTAGNOLI = 0x82F63B78
MASK_DELTA = 0xA282EAD8

DOUBLE, VARINT, BYTES, FLOAT = 1, 0, 2, 5
"""How a value is written: eight bytes, a number of any length, bytes with their length, four bytes."""


@loads("convert", doing="converted")
def write_events(folder: str | Path, metrics: Iterable[Mapping[str, Any]], began: float) -> Path:
    """Write the lines of a run's metrics into a folder for TensorBoard; the file.

    TensorBoard takes a path for a file of events if its name has "tfevents" in it, a folder as well: such a
    folder is written under another name, which `readable_folder` gives.

    Every number of a line but its step is a curve of that name. `began` is the moment of step 0 in seconds
    since 1970, to which a line's "seconds" are added. LmvizError where there is nothing to write, or where
    the folder cannot be written to.
    """
    lines = [line for line in metrics if isinstance(line.get("step"), int)]
    if not lines:
        raise LmvizError("There are no curves to write: the run has measured nothing.")
    path = readable_folder(Path(folder)) / f"events.out.tfevents.{int(began):010d}.lmviz"
    return write_atomically(path, b"".join(map(record, _events(lines, began))))


def readable_folder(folder: Path) -> Path:
    """The folder itself, or one of another name where TensorBoard would take it for a file."""
    name = folder.name
    if name.endswith(FILE_MARK):
        name = f"{name.removesuffix(FILE_MARK).rstrip('.') or 'curves'}{ENDING}"
    return folder.with_name(name.replace(FILE_MARK, "events"))


def _events(lines: Iterable[Mapping[str, Any]], began: float) -> Iterator[bytes]:
    yield _field(1, DOUBLE, began) + _field(3, BYTES, VERSION)
    for line in lines:
        values = b"".join(
            _field(1, BYTES, _field(1, BYTES, name.encode("utf-8", "replace")) + _field(2, FLOAT, value))
            for name, value in line.items()
            if name not in ("step", "seconds") and type(value) in (int, float)
        )
        moment = began + float(line.get("seconds", 0.0))
        yield _field(1, DOUBLE, moment) + _field(2, VARINT, line["step"]) + _field(5, BYTES, values)


def record(message: bytes) -> bytes:
    """A message with its length and both checksums."""
    length = struct.pack("<Q", len(message))
    return length + _masked(length) + message + _masked(message)


def crc32c(data: bytes) -> int:
    """The CRC-32C of bytes, with Castagnoli's polynomial (RFC 3720)."""
    entries, found = table(), 0xFFFFFFFF
    for byte in data:
        found = entries[(found ^ byte) & 0xFF] ^ (found >> 8)
    return found ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    """The checksum of bytes, masked so that data which holds checksums has none that fits by chance."""
    found = crc32c(data)
    return struct.pack("<I", (((found >> 15) | (found << 17)) + MASK_DELTA) & 0xFFFFFFFF)


@cache
def table() -> tuple[int, ...]:
    """What each byte changes in a CRC-32C."""
    found = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (CASTAGNOLI if byte & 1 else 0)
        found.append(byte)
    return tuple(found)


def _field(number: int, kind: int, value: Any) -> bytes:
    """A field of a protocol buffer."""
    head = _varint(number << 3 | kind)
    if kind == VARINT:
        return head + _varint(value)
    if kind == BYTES:
        return head + _varint(len(value)) + value
    with np.errstate(over="ignore"):  # what four bytes cannot hold is written as infinite
        return head + np.float64(value).astype("<f8" if kind == DOUBLE else "<f4").tobytes()


def _varint(value: int) -> bytes:
    """Seven bits in each byte, the lowest first; the last byte has no high bit."""
    value &= 0xFFFFFFFFFFFFFFFF
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
