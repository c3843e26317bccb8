"""Reads the scalars in an event file of TensorBoard; `event_file.py` says how its records lie.

A scalar is a `simple_value` in the summary of an event, or a tensor of one number as TensorFlow 2 has it
(https://github.com/tensorflow/tensorboard, event.proto, summary.proto and tensor.proto).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lmviz.interchange.event_file import BYTES, DOUBLE, FLOAT, MASK_DELTA, VARINT, table
from lmviz.text.ordinary_files import read_file

LARGEST_FILE = 1_000_000_000
"""Bytes of an event file, which may hold pictures as well."""

LARGEST_SCALAR = 1 << 16
"""Bytes of a record with scalars; longer ones hold something else and are passed over."""

TOGETHER = 1 << 22
"""Bytes of records whose checksums are computed at once, each as long as the longest."""

HEAD, TAIL = 12, 4

DT_FLOAT, DT_DOUBLE = 1, 2

Part = tuple[int, int, bytes | int]
"""A field of a protocol buffer: its number, how it is written, and its value."""


@dataclass(frozen=True)
class EventScalar:
    """One measurement: the step and the name that the program gave it, and the number."""

    step: int
    name: str
    value: float


@dataclass(frozen=True)
class EventScalars:
    """The scalars of a file in their order. `damaged_at` is the byte from which it cannot be read, or None.

    A last record that is still being written is no damage.
    """

    scalars: tuple[EventScalar, ...]
    damaged_at: int | None = None


def read_scalars(path: str | Path) -> EventScalars:
    """The scalars of an event file, up to where it is damaged; OSError where it cannot be read."""
    content = read_file(path, LARGEST_FILE)
    found: list[EventScalar] = []
    waiting: list[tuple[int, bytes, int]] = []
    damaged: int | None = None
    widest = 0
    for place, message, checksum in _records(content):
        if message is None:
            damaged = place
            break
        if len(message) > LARGEST_SCALAR:
            continue
        waiting.append((place, message, checksum))
        widest = max(widest, len(message))
        if len(waiting) * widest > TOGETHER:
            damaged, waiting, widest = _take(waiting, found), [], 0
            if damaged is not None:
                break
    before = _take(waiting, found)
    return EventScalars(tuple(found), before if before is not None else damaged)


def _records(content: bytes) -> Iterator[tuple[int, bytes | None, int]]:
    """The place, the message and the stored checksum of each record; no message where a length is wrong."""
    place = 0
    while place + HEAD <= len(content):
        length, checksum = struct.unpack_from("<QI", content, place)
        if _masked(_crc32c_of([content[place : place + 8]]))[0] != checksum:
            yield place, None, 0
            return
        end = place + HEAD + length
        if end + TAIL > len(content):
            return  # it is being written
        yield place, content[place + HEAD : end], struct.unpack_from("<I", content, end)[0]
        place = end + TAIL


def _take(waiting: list[tuple[int, bytes, int]], found: list[EventScalar]) -> int | None:
    """Add the scalars of whole records; the place of the first that is damaged, if one is."""
    if not waiting:
        return None
    right = _masked(_crc32c_of([message for _, message, _ in waiting])) == np.array(
        [checksum for *_, checksum in waiting], np.uint32
    )
    for (place, message, _), is_whole in zip(waiting, right.tolist(), strict=True):
        if not is_whole:
            return place
        try:
            found.extend(_scalars(message))
        except (ValueError, IndexError, struct.error, UnicodeDecodeError):
            return place
    return None


def _crc32c_of(messages: list[bytes]) -> np.ndarray:
    """The CRC-32C of each message, (message,) uint32; one byte of all messages after the other."""
    lengths = np.array([len(message) for message in messages])
    order = np.argsort(-lengths, kind="stable")
    width = int(lengths.max(initial=0))
    padded = np.zeros((len(messages), width), np.uint8)
    for row, index in enumerate(order):
        padded[row, : lengths[index]] = np.frombuffer(messages[index], np.uint8)
    entries, state = np.array(table(), np.uint32), np.full(len(messages), 0xFFFFFFFF, np.uint32)
    going_on = np.searchsorted(
        -lengths[order], -np.arange(width), side="left"
    )  # those longer than each place
    for place in range(width):
        rows = slice(0, going_on[place])
        state[rows] = entries[(state[rows] ^ padded[rows, place]) & 0xFF] ^ (state[rows] >> np.uint32(8))
    found = np.empty_like(state)
    found[order] = state ^ np.uint32(0xFFFFFFFF)
    return found


def _masked(found: np.ndarray) -> np.ndarray:
    turned = (found >> np.uint32(15)) | (found << np.uint32(17))
    return turned + np.uint32(MASK_DELTA)


def _scalars(event: bytes) -> Iterator[EventScalar]:
    step, summaries = 0, []
    for number, kind, value in _parts(event):
        if number == 2 and kind == VARINT and isinstance(value, int):
            step = value if value < 1 << 63 else value - (1 << 64)
        elif number == 5 and isinstance(value, bytes):
            summaries.append(value)
    for summary in summaries:
        for number, _, value in _parts(summary):
            if number == 1 and isinstance(value, bytes) and (scalar := _scalar(step, value)) is not None:
                yield scalar


def _scalar(step: int, value: bytes) -> EventScalar | None:
    """A value of a summary, if it is one number."""
    name, number = "", None
    for field, kind, content in _parts(value):
        if not isinstance(content, bytes):
            continue
        if field == 1 and kind == BYTES:
            name = content.decode("utf-8")
        elif field == 2 and kind == FLOAT:
            number = struct.unpack("<f", content)[0]
        elif field == 8 and kind == BYTES:
            number = _single_number(content)
    return None if number is None or not name else EventScalar(step, name, number)


def _single_number(tensor: bytes) -> float | None:
    """The number of a tensor that holds just one in single or double precision."""
    kind, found = 0, b""
    for field, _, content in _parts(tensor):
        if field == 1 and isinstance(content, int):
            kind = content
        elif field in (4, 5, 6) and isinstance(content, bytes):  # its bytes, or its numbers by their kind
            found += content
    pattern = {DT_FLOAT: "<f", DT_DOUBLE: "<d"}.get(kind)
    if pattern is None or len(found) != struct.calcsize(pattern):
        return None
    return struct.unpack(pattern, found)[0]


def _parts(message: bytes) -> Iterator[Part]:
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, place = _varint(message, place)
            yield number, kind, value
            continue
        if kind == BYTES:
            size, place = _varint(message, place)
        elif kind in (DOUBLE, FLOAT):
            size = 8 if kind == DOUBLE else 4
        else:
            raise ValueError("a field of a kind that there is not")
        if place + size > len(message):
            raise ValueError("a field that is longer than its message")
        yield number, kind, message[place : place + size]
        place += size


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """A number of any length and the place behind it."""
    found = shift = 0
    while True:
        byte = message[place]
        found |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return found & 0xFFFFFFFFFFFFFFFF, place
        if shift > 63:
            raise ValueError("a number of too many bytes")
