"""Splits a text into documents, and chooses those for validation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

_SPACE = b" \t\n\r\f\v"
_BREAK = re.compile(rb"(?<=[^\s])[ \n]")
_GAP = re.compile(rb"\s*\n|\s*\Z")
_PIECE = 1 << 15  # bytes of text at a time: while one call works on them no other thread has its turn
_FIRST_BYTE = -64  # bytes that continue a character in UTF-8 are 0x80 to 0xBF, signed -128 to -65
SEPARATORS = {"file": "", "blank line": "\n\n", "line": "\n"}
"""The separator between two documents in the text, for each way of dividing it."""


@dataclass(frozen=True)
class DocumentBatch:
    """Documents, or a piece of one, and whether a document begins and ends with each of them.

    `starts` are their places in the bytes of the text.
    """

    texts: list[str]
    begins: bool
    ends: bool
    starts: list[int]


@dataclass(frozen=True, eq=False, repr=False)
class Documents(Sequence[str]):
    """Stretches of one text in UTF-8.

    `spans` is (document, 2) int64, the places in `data` from which and up to which each one goes;
    `separator` is what stood between two of them.
    """

    data: bytes
    spans: np.ndarray
    separator: str

    def __repr__(self) -> str:
        return f"<{len(self):,} documents of a text of {len(self.data):,} bytes>"

    def __len__(self) -> int:
        return len(self.spans)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        start, end = self.spans[index]
        return self.data[start:end].decode("utf-8")

    def select(self, places: np.ndarray) -> Documents:
        """Those documents alone, by their numbers or a mask."""
        return replace(self, spans=self.spans[places])

    def batches(self) -> Iterator[DocumentBatch]:
        """All documents in order, some hundred kilobytes at a time.

        A batch holds many whole documents or a piece of a long one, which is cut before a space where
        no token reaches across.
        """
        sizes = self.spans[:, 1] - self.spans[:, 0]
        ends = np.cumsum(sizes)
        first = 0
        while first < len(self):
            if sizes[first] > _PIECE:
                yield from self._pieces(first)
                first += 1
                continue
            limit = ends[first] - sizes[first] + _PIECE
            after = int(np.searchsorted(ends, limit, side="right"))
            spans = self.spans[first:after].tolist()
            texts = [self.data[start:end].decode("utf-8") for start, end in spans]
            yield DocumentBatch(texts, True, True, [start for start, _ in spans])
            first = after

    def _pieces(self, index: int) -> Iterator[DocumentBatch]:
        begin, end = self.spans[index].tolist()
        start = begin
        while start < end:
            cut = end if end - start <= _PIECE else start + _cut(self.data[start : start + _PIECE])
            yield DocumentBatch([self.data[start:cut].decode("utf-8")], start == begin, cut == end, [start])
            start = cut

    @property
    def text(self) -> str:
        """All of it as one string."""
        return self.separator.join(self)

    def gaps(self) -> Iterator[str]:
        """What stands in the file after each document: the white space and line ends up to the next line.

        The line ends that the file has may be more or fewer than those of `separator`.
        """
        for end in self.spans[:, 1].tolist() if self.separator else ():
            found = _GAP.match(self.data, end)
            yield found[0].decode("utf-8") if found else ""

    @property
    def size(self) -> int:
        """Bytes in UTF-8."""
        return int((self.spans[:, 1] - self.spans[:, 0]).sum())


def divide(files: Sequence[bytes], documents: str) -> Documents:
    """The documents of some files, each ending at a "file", a "blank line" or a "line".

    Documents that hold nothing but white space are left out.
    """
    data = files[0] if len(files) == 1 else b"\n".join(files)
    ends = np.cumsum([len(file) + 1 for file in files]) - 1
    starts = ends - [len(file) for file in files]
    spans = np.stack([starts, ends], axis=1) if documents == "file" else _lines(data)
    if documents == "blank line" and len(spans):
        spans = _paragraphs(spans, starts)
    return Documents(data, spans.astype(np.int64), SEPARATORS[documents])


def _lines(data: bytes) -> np.ndarray:
    """The lines with something on them, (line, 2)."""
    codes = np.frombuffer(data, dtype=np.uint8)
    ends = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
    starts = np.concatenate([[0], ends[:-1] + 1])
    starts, ends = starts[starts < len(codes)], ends[starts < len(codes)]
    is_solid = ~np.isin(np.arange(256), list(_SPACE))
    solid = np.logical_or.reduceat(is_solid[codes], starts) if len(starts) else np.zeros(0, dtype=bool)
    return np.stack([starts[solid], ends[solid]], axis=1)


def _paragraphs(lines: np.ndarray, files: np.ndarray) -> np.ndarray:
    """Neighbouring lines of one file joined; (paragraph, 2)."""
    follows = lines[1:, 0] == lines[:-1, 1] + 1
    follows &= ~np.isin(lines[1:, 0], files)
    first = np.concatenate([[True], ~follows])
    last = np.concatenate([~follows, [True]])
    return np.stack([lines[first, 0], lines[last, 1]], axis=1)


def split(
    documents: Documents, validation: float, seed: int, exactly: bool, held_out: np.ndarray | None = None
) -> tuple[Documents, Documents]:
    """Training and validation documents; `held_out` says which are for validation, (document,) bool, if told.

    Several documents are drawn for validation at random, at least one of them. A single one is cut:
    its first part trains, up to the exact character or else to the next space. A share of 0 keeps
    everything for training.
    """
    if held_out is not None:
        return documents.select(~held_out), documents.select(held_out)
    if validation == 0:
        return documents, documents.select(np.zeros(0, dtype=np.int64))
    if len(documents) > 1:
        mask = draw(len(documents), validation, seed)
        return documents.select(~mask), documents.select(mask)
    start, end = (int(place) for place in documents.spans[0])
    cut = _place_of_share(documents.data, start, end, 1 - validation, exactly)
    first, second = (np.array([span], dtype=np.int64) for span in ((start, cut), (cut, end)))
    return replace(documents, spans=first), replace(documents, spans=second[: int(cut < end)])


def draw(count: int, validation: float, seed: int) -> np.ndarray:
    """Which of so many are for validation, (count,) bool: at least one, never all; none for a share of 0."""
    mask = np.zeros(count, dtype=bool)
    if validation > 0 and count > 1:
        held_out = min(count - 1, max(1, round(count * validation)))
        mask[np.random.default_rng(seed).permutation(count)[:held_out]] = True
    return mask


def _place_of_share(data: bytes, start: int, end: int, share: float, exactly: bool) -> int:
    """The place in UTF-8 after that share of the characters from `start` to `end`."""
    stretch = np.frombuffer(data, dtype=np.int8, count=end - start, offset=start)
    begins = stretch >= _FIRST_BYTE
    place = start + _nth_true(begins, int(np.count_nonzero(begins) * share))
    found = None if exactly else _BREAK.search(data, place, end)
    return found.start() if found else place


def _nth_true(mask: np.ndarray, n: int) -> int:
    """The place of the n-th True, counted from 0; the length when there are no more."""
    for start in range(0, len(mask), _PIECE):
        part = mask[start : start + _PIECE]
        count = int(np.count_nonzero(part))
        if n < count:
            return start + int(np.flatnonzero(part)[n])
        n -= count
    return len(mask)


def _cut(window: bytes) -> int:
    """Where to cut a window of UTF-8 that may end within a character."""
    text = window.decode("utf-8", "ignore")
    for place in range(len(text) - 1, 0, -1):
        if text[place] in " \n" and not text[place - 1].isspace():
            return len(text[:place].encode("utf-8"))
    return len(text.encode("utf-8"))
