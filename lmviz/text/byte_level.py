"""GPT-2's byte-level alphabet, and its merges.

Every byte is mapped to one printable character (Radford et al. 2019; Sennrich et al. 2016 for the
merges), so that any text can be written with 256 symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache


@cache
def _bytes_by_character() -> dict[str, int]:
    """Printable Latin-1 characters stand for themselves; the other bytes for U+0100 onwards, in order."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}


def piece_bytes(piece: str) -> bytes:
    """The bytes that a piece stands for; characters outside the alphabet stand for themselves."""
    table = _bytes_by_character()
    return b"".join(
        bytes([table[character]]) if character in table else character.encode("utf-8", "replace")
        for character in piece
    )


def readable_piece(piece: str) -> str:
    r"""A piece as text; bytes that are only a part of a character as \xNN."""
    return piece_bytes(piece).decode("utf-8", "backslashreplace")


def places_in_text(pieces: Sequence[str]) -> tuple[str, list[tuple[int, int]]] | None:
    """The text of pieces one after the other, and the place (from, to) of each in it, in characters.

    Parts of one character have its place. A character that either end cuts is no part of the text, and what
    is left of it has an empty place. None where the bytes within are no text.
    """
    parts = [piece_bytes(piece) for piece in pieces]
    data = b"".join(parts)
    first, last = _whole(data)
    try:
        text = data[first:last].decode("utf-8")
    except UnicodeDecodeError:
        return None
    begun = [0]  # how many characters begin before each byte
    for byte in data[first:last]:
        begun.append(begun[-1] + (byte & 0xC0 != 0x80))
    places, start = [], 0
    for part in parts:
        begin, end = (min(max(first, at), last) - first for at in (start, start + len(part)))
        continues = begin < end and data[first + begin] & 0xC0 == 0x80
        places.append((begun[begin] - continues, begun[end]))
        start += len(part)
    return text, places


def _whole(data: bytes) -> tuple[int, int]:
    """From where to where bytes are whole characters, if they are a stretch of a text."""
    first = 0
    while first < min(3, len(data)) and data[first] & 0xC0 == 0x80:
        first += 1
    for back in range(1, min(3, len(data) - first) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            size = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return first, len(data) - (back if size > back else 0)
    return first, len(data)


def whole_characters(text: str, tokens: Sequence[str], offsets: Sequence[tuple[int, int]]) -> list[str]:
    """The display tokens of a text, where a part of a character shows the character and its number.

    `offsets` are the places of each token in the text, in characters; parts of one character overlap. A token
    that stands for nothing in the text, such as an end put behind it, has an empty place.
    """
    shown = list(tokens)
    first = 0
    while first < len(tokens):
        after = first + 1
        while after < len(tokens) and offsets[after][0] < min(offsets[after - 1][1], offsets[after][1]):
            after += 1
        if after - first > 1:
            for place in range(first, after):
                begin, end = offsets[place]
                shown[place] = f"{text[begin:end]}⟨{place - first + 1}/{after - first}⟩"
        first = after
    return shown
