"""Documents joined into one stream of ids, from which models learn."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from itertools import chain
from typing import IO

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard
from lmviz.text.documents import DocumentBatch, Documents
from lmviz.text.resources import DATA_VARIABLE, data_folder
from lmviz.text.tokenizer import Tokenizer

LARGE = 1 << 26
"""Bytes of ids from which on they lie in a file."""

_PART = 600  # characters from one known place in a long text to the next
_BREAK = re.compile(r"(?<=\S)[ \n]")
_FIRST_TOKEN = 1000  # characters among which the first token is


@dataclass(frozen=True, eq=False)
class Stream:
    """The ids of documents, (token,) in the smallest unsigned type, and what they stand for.

    With boundaries the ids are START, document, END, START, document, END and so on; `starts` are the
    places where documents begin, and the end, (document + 1,) int64. `characters` are those of the tokens
    that a model predicts; END is the break between documents. `cuts` (cut, 2) int64 are places within long
    documents, in the ids and in the bytes of the text: what stands between two of them is encoded as it would
    be by itself. `front` is 1 where START stands before each document.
    """

    ids: np.ndarray
    characters: int
    documents: Documents
    tokenizer: Tokenizer
    starts: np.ndarray
    cuts: np.ndarray
    front: int


def encode_documents(
    documents: Documents,
    tokenizer: Tokenizer,
    progress: Report = unheard,
    *,
    start: bool | None = None,
    end: bool | None = None,
) -> Stream:
    """The stream of the documents, batch by batch; ids beyond `LARGE` bytes lie in a file.

    START stands before each and END behind it where the tokenizer marks boundaries, or as `start` and
    `end` say.
    `progress` hears of the share that is done, and may raise to cancel.
    """
    writer = _Writer(np.min_scalar_type(tokenizer.vocabulary_size - 1))
    first = tokenizer.start_id if (tokenizer.marks_boundaries if start is None else start) else None
    last = tokenizer.end_id if (tokenizer.marks_boundaries if end is None else end) else None
    lengths: list[np.ndarray] = []
    cuts: list[tuple[int, int]] = []
    characters = total = 0
    for batch in documents.batches():
        ids, counts, places = _encode(batch, tokenizer, first, last)
        writer.add(ids)
        if batch.begins:
            lengths.append(counts)
        else:
            lengths[-1] = lengths[-1] + counts
            cuts.append((total, batch.starts[0]))
        cuts += [(total + token, byte) for token, byte in places]
        total += len(ids)
        characters += sum(map(len, batch.texts))
        progress(min(1.0, characters / max(1, documents.size)))
    if tokenizer.marks_boundaries:
        characters += len(documents) * len(documents.separator) if last is not None else 0
    elif len(documents):
        characters -= _first_token_length(documents, tokenizer)
    starts = np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int64)
    known = np.array(cuts, dtype=np.int64).reshape(-1, 2)
    return Stream(writer.finish(), characters, documents, tokenizer, starts, known, int(first is not None))


def _encode(
    batch: DocumentBatch, tokenizer: Tokenizer, start: int | None, end: int | None
) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    """The ids of a batch, (token,) int64, how many each text has, (text,), and cuts within the texts.

    `start` and `end`, where given, stand where documents begin and end.
    """
    divided = [_divided(text) for text in batch.texts] if tokenizer.reads_locally else []
    is_cut = sum(map(len, divided)) > len(batch.texts)
    flat, counts = tokenizer.encode_batch(list(chain.from_iterable(divided)) if is_cut else batch.texts)
    firsts = np.cumsum([0, *map(len, divided)])[:-1]
    lengths = np.add.reduceat(counts, firsts) if is_cut else counts
    begins, ends = batch.begins and start is not None, batch.ends and end is not None
    lengths = lengths + begins + ends
    stops = np.cumsum(lengths)
    cuts: list[tuple[int, int]] = []
    for number, parts in enumerate(divided):
        token, byte = int(stops[number] - lengths[number]) + begins, batch.starts[number]
        for place in range(len(parts) - 1):
            token += int(counts[firsts[number] + place])
            byte += len(parts[place].encode("utf-8"))
            cuts.append((token, byte))
    if not begins and not ends:
        return flat, lengths, cuts
    ids = np.full(stops[-1], -1, dtype=np.int64)
    if begins:
        ids[stops - lengths] = start
    if ends:
        ids[stops - 1] = end
    ids[ids < 0] = flat
    return ids, lengths, cuts


def _divided(text: str) -> list[str]:
    """A text in parts, cut before spaces, where no token reaches across."""
    parts, start = [], 0
    while len(text) - start > _PART:
        found = _BREAK.search(text, start + _PART)
        if found is None:
            break
        parts.append(text[start : found.start()])
        start = found.start()
    return [*parts, text[start:]]


def _first_token_length(documents: Documents, tokenizer: Tokenizer) -> int:
    """Characters up to the end of the first token, which nothing predicts in a single document.

    A character that this token begins and others go on with counts as theirs. Special tokens that a
    tokenizer puts before a text are not in the stream.
    """
    beginning = next(documents.batches()).texts[0][:_FIRST_TOKEN]
    offsets = [(start, end) for start, end in tokenizer.encode_prefix(beginning).offsets if end > start]
    if not offsets:
        return len(beginning)
    return min(offsets[0][1], offsets[1][0]) if len(offsets) > 1 else offsets[0][1]


class _Writer:
    """Collects ids in memory, or in a file that vanishes with the array once they are many."""

    def __init__(self, dtype: np.dtype) -> None:
        self._dtype = dtype
        self._parts: list[np.ndarray] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None

    def add(self, ids: np.ndarray) -> None:
        self._parts.append(ids.astype(self._dtype))
        self._bytes += self._parts[-1].nbytes
        if self._bytes > LARGE:
            self._write()

    def finish(self) -> np.ndarray:
        """All ids, read-only."""
        if self._file is None:
            ids = np.concatenate([np.zeros(0, dtype=self._dtype), *self._parts])
            ids.flags.writeable = False
            return ids
        self._write()
        return np.memmap(self._file, dtype=self._dtype, mode="r")

    def _write(self) -> None:
        folder = data_folder()
        try:
            if self._file is None:
                folder.mkdir(parents=True, exist_ok=True)
                self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115, the array keeps it open
            for part in self._parts:
                self._file.write(part.tobytes())
            self._file.flush()
        except OSError as error:
            raise LmvizError(
                f"{folder} has no place for the ids of this large text ({error.strerror}): "
                f"name another folder in {DATA_VARIABLE}."
            ) from error
        self._parts = []
