"""Small changes of the bytes of a file, as damage and malice make them."""

from __future__ import annotations

import random
import re

NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?")
STRANGE = (
    b"null", b"[]", b"{}", b'""', b"-1", b"0", b"1e999", b"NaN", b"2147483648", b"9" * 400, b"true",
    b"[" * 2000, b'"\\ud800"', b"\x00", b"\xff\xfe", b"1e-320", b"18446744073709551616", b"/dev/zero",
)  # fmt: skip
"""What stands for another value, or where none belongs."""


def mutate(content: bytes, chance: random.Random) -> bytes:
    """The content with one to four changes."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        chance.choice(CHANGES)(changed, chance)
    return bytes(changed)


def _flip(content: bytearray, chance: random.Random) -> None:
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def _set(content: bytearray, chance: random.Random) -> None:
    if content:
        content[chance.randrange(len(content))] = chance.choice((0, 0x7F, 0x80, 0xFF, chance.randrange(256)))


def _remove(content: bytearray, chance: random.Random) -> None:
    begin, end = _stretch(content, chance)
    del content[begin:end]


def _repeat(content: bytearray, chance: random.Random) -> None:
    begin, end = _stretch(content, chance)
    content[end:end] = content[begin:end] * chance.choice((1, 2, 50))


def _cut(content: bytearray, chance: random.Random) -> None:
    del content[chance.randint(0, len(content)) :]


def _insert(content: bytearray, chance: random.Random) -> None:
    place = chance.randint(0, len(content))
    content[place:place] = chance.choice((chance.choice(STRANGE), chance.randbytes(chance.randint(1, 16))))


def _another_number(content: bytearray, chance: random.Random) -> None:
    numbers = list(NUMBER.finditer(content[:200_000]))
    if numbers:
        begin, end = chance.choice(numbers).span()
        content[begin:end] = chance.choice(STRANGE)


def _another_value(content: bytearray, chance: random.Random) -> None:
    """A JSON value in the place of what follows a colon or a comma."""
    places = [match.end() for match in re.finditer(rb"[:,\[]\s*", content[:200_000])]
    if places:
        begin = chance.choice(places)
        end = re.compile(rb"[,}\]\n]|$").search(content, begin)
        content[begin : end.start() if end else begin] = chance.choice(STRANGE)


def _stretch(content: bytearray, chance: random.Random) -> tuple[int, int]:
    begin = chance.randint(0, len(content))
    return begin, min(len(content), begin + chance.choice((1, 2, 8, 64, 512)))


CHANGES = (_flip, _set, _remove, _repeat, _cut, _insert, _another_number, _another_value)
