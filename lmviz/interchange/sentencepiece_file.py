"""A `tokenizer.model` of SentencePiece, described as a `tokenizer.json` would.

The file is a protocol buffer (https://github.com/google/sentencepiece, sentencepiece_model.proto): the pieces
with their scores and types, how they were learned, and what is done to a text before it is cut. It is read
here, field by field, so that neither sentencepiece nor protobuf is needed. Pairs (Llama, Gemma) and unigrams
(T5, XLNet) are known.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.pieces import FLAGS, SPACE, merges_of, vocabulary_of
from lmviz.text.ordinary_files import read_file

LARGEST_FILE = 100_000_000
"""Bytes of a tokenizer.model; that of Gemma 3 takes five million."""

NORMAL, UNKNOWN, CONTROL, GIVEN, UNUSED, BYTE = range(1, 7)
"""The types of pieces: GIVEN ones are found whole in any text."""

UNIGRAM, PAIRS = 1, 2

_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
"""How a value of a protocol buffer is written."""


@dataclass
class SentencePiece:
    """What a file says. Ids are None where there is no such piece."""

    pieces: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    types: list[int] = field(default_factory=list)
    algorithm: int = UNIGRAM
    ids: dict[str, int | None] = field(default_factory=lambda: {"unk": 0, "bos": 1, "eos": 2, "pad": None})
    begins_with_space: bool = True
    keeps_spaces: bool = False
    spaces_end_words: bool = False
    characters: bytes = b""

    def description(self, adds_start: bool | None = None, adds_end: bool = False) -> dict[str, Any]:
        """The content of a tokenizer.json; START stands before a text unless that is denied.

        LmvizError, in a few words, where the library has no such tokenizer.
        """
        if self.algorithm not in (UNIGRAM, PAIRS):
            raise LmvizError("it cuts texts into words or characters, and not into pieces")
        if self.spaces_end_words:
            raise LmvizError("it puts spaces at the ends of words")
        spelt = [
            piece.replace(SPACE, " ") if kind == GIVEN else piece
            for piece, kind in zip(self.pieces, self.types, strict=True)
        ]
        vocabulary = vocabulary_of(spelt)
        strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
        decoders = [
            {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            *([strip] if self.begins_with_space else []),
        ]
        starts = self.algorithm == PAIRS if adds_start is None else adds_start
        return {
            "version": "1.0",
            "added_tokens": self._added(spelt, vocabulary),
            "normalizer": self._normalizer(),
            "pre_tokenizer": self._cutter(),
            "post_processor": self._around(spelt, starts, adds_end),
            "decoder": {"type": "Sequence", "decoders": decoders},
            "model": self._model(spelt, vocabulary),
        }

    def _model(self, spelt: list[str], vocabulary: dict[str, int]) -> dict[str, Any]:
        unknown = self.ids["unk"]
        has_bytes = BYTE in self.types
        if self.algorithm == UNIGRAM:
            scores = [list(pair) for pair in zip(spelt, self.scores, strict=True)]
            return {"type": "Unigram", "vocab": scores, "unk_id": unknown, "byte_fallback": has_bytes}
        joined = {
            piece: index
            for piece, index in vocabulary.items()
            if self.types[index] in (NORMAL, UNUSED) or len(piece) == 1
        }
        return {
            "type": "BPE",
            "vocab": vocabulary,
            "merges": merges_of(joined, self.scores),
            "unk_token": None if unknown is None else spelt[unknown],
            "byte_fallback": has_bytes,
            "fuse_unk": True,
        }

    def _normalizer(self) -> dict[str, Any]:
        parts: list[dict[str, Any]] = []
        if self.characters:
            charsmap = base64.b64encode(self.characters).decode("ascii")
            parts.append({"type": "Precompiled", "precompiled_charsmap": charsmap})
        if not self.keeps_spaces:
            parts += [
                {"type": "Replace", "pattern": {"Regex": r"\A +| +\z"}, "content": ""},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ]
        if self.begins_with_space and GIVEN not in self.types:
            parts.append({"type": "Prepend", "prepend": SPACE})
        parts.append({"type": "Replace", "pattern": {"String": " "}, "content": SPACE})
        return {"type": "Sequence", "normalizers": parts}

    def _cutter(self) -> dict[str, Any] | None:
        """What puts a space before a text and not behind each given token that divides it.

        A text that begins with a space gets no second one by it: that is why a normalizer does it elsewhere.
        """
        if not self.begins_with_space or GIVEN not in self.types:
            return None
        return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "first", "split": False}

    def _added(self, spelt: list[str], vocabulary: dict[str, int]) -> list[dict[str, Any]]:
        return [
            {"id": index, "content": piece, **FLAGS, "special": kind == CONTROL}
            for index, (piece, kind) in enumerate(zip(spelt, self.types, strict=True))
            if kind in (CONTROL, GIVEN) and piece and vocabulary[piece] == index
        ]

    def _around(self, spelt: list[str], starts: bool, ends: bool) -> dict[str, Any] | None:
        ids = [self.ids["bos"] if starts else None, self.ids["eos"] if ends else None]
        if ids == [None, None]:
            return None
        first, last = (
            [] if index is None else [{"SpecialToken": {"id": spelt[index], "type_id": 0}}] for index in ids
        )
        text, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
        named = {spelt[index]: index for index in ids if index is not None}
        return {
            "type": "TemplateProcessing",
            "single": [*first, text, *last],
            "pair": [*first, text, *last, second],
            "special_tokens": {
                piece: {"id": piece, "ids": [index], "tokens": [piece]} for piece, index in named.items()
            },
        }


def read_sentencepiece(path: Path) -> SentencePiece:
    """What a tokenizer.model says; LmvizError where it is none of SentencePiece."""
    try:
        content = read_file(path, LARGEST_FILE)
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another file.") from None
    try:
        found = _read(content)
    except (ValueError, struct.error, OverflowError) as error:
        raise LmvizError(f"{path} is not a model of SentencePiece: put a tokenizer.json there.") from error
    count = len(found.pieces)
    found.ids = {
        name: index if index is not None and 0 <= index < count else None for name, index in found.ids.items()
    }
    if UNKNOWN in found.types:
        found.ids["unk"] = found.types.index(UNKNOWN)
    return found


def _read(content: bytes) -> SentencePiece:
    found = SentencePiece()
    for number, kind, value in _fields(content):
        if kind != _BYTES:
            continue
        if number == 1:
            _add_piece(found, value)
        elif number == 2:
            _take_training(found, value)
        elif number == 3:
            _take_normalizer(found, value)
    if not found.pieces:
        raise ValueError
    return found


def _add_piece(found: SentencePiece, content: bytes) -> None:
    piece, score, kind = b"", 0.0, NORMAL
    for number, written, value in _fields(content):
        if (number, written) == (1, _BYTES):
            piece = value
        elif (number, written) == (2, _FOUR):
            (score,) = struct.unpack("<f", value)
        elif (number, written) == (3, _VARINT):
            kind = value
    if not math.isfinite(score) or not NORMAL <= kind <= BYTE:
        raise ValueError
    found.pieces.append(piece.decode("utf-8"))
    found.scores.append(score)
    found.types.append(kind)


def _take_training(found: SentencePiece, content: bytes) -> None:
    roles = {40: "unk", 41: "bos", 42: "eos", 43: "pad"}
    for number, written, value in _fields(content):
        if written != _VARINT:
            continue
        if number == 3:
            found.algorithm = value
        elif number == 24:
            found.spaces_end_words = value != 0
        elif number in roles:
            found.ids[roles[number]] = value if value < 1 << 31 else None  # a negative one stands for none


def _take_normalizer(found: SentencePiece, content: bytes) -> None:
    for number, written, value in _fields(content):
        if (number, written) == (2, _BYTES):
            found.characters = value
        elif (number, written) == (3, _VARINT):
            found.begins_with_space = value != 0
        elif (number, written) == (4, _VARINT):
            found.keeps_spaces = value == 0


def _fields(content: bytes) -> Iterator[tuple[int, int, Any]]:
    """The number, the form and the value of each field of a message; ValueError at its end if it is cut."""
    place = 0
    while place < len(content):
        head, place = _varint(content, place)
        number, kind = head >> 3, head & 7
        if kind == _VARINT:
            value, place = _varint(content, place)
            yield number, kind, value
            continue
        if kind == _BYTES:
            size, place = _varint(content, place)
        elif kind in (_EIGHT, _FOUR):
            size = 8 if kind == _EIGHT else 4
        else:
            raise ValueError
        if number == 0 or size > len(content) - place:
            raise ValueError
        yield number, kind, content[place : place + size]
        place += size


def _varint(content: bytes, place: int) -> tuple[int, int]:
    """A number of seven bits in each byte, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        if place >= len(content) or shift > 63:
            raise ValueError
        byte = content[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
