"""Marks in a text that say where a document ends, such as <|endoftext|>: they become END, never letters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lmviz.text.documents import Documents
from lmviz.text.encodings import RECOGNISED

NONE = "none"
"""The setting with which nothing in a text ends a document."""

CERTAIN_MARKS = (
    "<|endoftext|>",
    "<|startoftext|>",
    "<|end_of_text|>",
    "<|begin_of_text|>",
    "<|endofdocument|>",
    "<|eos|>",
    "<|bos|>",
    "<|eot|>",
)
"""Marks that are nothing else wherever they stand."""

LINE_MARKS = ("</s>", "<s>", "<eos>", "<bos>", "<EOS>", "<BOS>", "[EOS]", "[BOS]", "<end>", "[SEP]")
"""Marks where each of them begins or ends a line; elsewhere they are words like others."""

ARTICLE = "<doc>"
"""Lines such as <doc id="12" title="Anarchism"> and </doc>, which WikiExtractor writes around articles."""

_ARTICLE = re.compile(rb"^<doc [^\n]*>[ \t\r]*$|^</doc>[ \t\r]*$", re.MULTILINE)

SAMPLE = 1 << 20
"""Bytes of each text in which marks are looked for."""

KNOWN_MARKS = frozenset((*CERTAIN_MARKS, *LINE_MARKS, ARTICLE))
_BLANK = b" \t\r\n\f\v"
_FEWEST = 2  # marks of lines that are no slip


def find_marks(texts: Sequence[bytes]) -> tuple[str, ...]:
    """The marks in some texts that are recognised."""
    samples = [text[:SAMPLE] for text in texts]
    certain = [mark for mark in CERTAIN_MARKS if any(mark.encode() in sample for sample in samples)]
    if certain:
        return tuple(certain)
    if all(
        sample.lstrip(_BLANK).startswith(b"<doc ") and _ARTICLE.match(sample.lstrip(_BLANK))
        for sample in samples
    ):
        return (ARTICLE,)
    return tuple(mark for mark in LINE_MARKS if _is_at_lines(mark.encode(), samples))


def _is_at_lines(mark: bytes, samples: Sequence[bytes]) -> bool:
    """Whether a mark occurs several times, and always at the beginning or the end of a line."""
    escaped = re.escape(mark)
    at_lines = re.compile(rb"^[ \t]*%b|%b[ \t\r]*$" % (escaped, escaped), re.MULTILINE)
    count = sum(sample.count(mark) for sample in samples)
    return count >= _FEWEST and count == sum(len(at_lines.findall(sample)) for sample in samples)


def chosen_marks(boundary: str, texts: Sequence[bytes]) -> tuple[str, ...]:
    """The marks, or the line of one's own, that the setting `boundary` says."""
    if boundary == RECOGNISED:
        return find_marks(texts)
    if not boundary.strip() or boundary == NONE:
        return ()
    parts = tuple(boundary.split())
    return parts if set(parts) <= KNOWN_MARKS else (boundary.strip(),)


def written_marks(marks: Sequence[str]) -> str:
    """The marks as the setting `boundary` has them."""
    return " ".join(marks) if marks else NONE


def divide_at(documents: Documents, marks: Sequence[str]) -> tuple[Documents, int]:
    """The documents, each cut where one of the marks stands, and how many there are.

    A mark that is not one of those that lmviz knows is looked for as a line of its own first. What is left
    has no white space around the marks, and nothing that is blank.
    """
    data = documents.data
    found = [place for place in _places(data, marks) if place[1] > place[0]]
    if not found:
        return documents, 0
    places = np.array(found, dtype=np.int64)
    spans = documents.spans
    owner = np.searchsorted(spans[:, 0], places[:, 0], side="right") - 1
    inside = (owner >= 0) & (places[:, 1] <= spans[np.maximum(owner, 0), 1])
    places = places[inside]
    starts = np.sort(np.concatenate([spans[:, 0], places[:, 1]]))
    ends = np.sort(np.concatenate([spans[:, 1], places[:, 0]]))
    cut = [_trimmed(data, *span) for span in zip(starts.tolist(), ends.tolist(), strict=True)]
    solid = np.array([span for span in cut if span[0] < span[1]], dtype=np.int64).reshape(-1, 2)
    return replace(documents, spans=solid, separator=documents.separator or "\n"), len(places)


def _trimmed(data: bytes, start: int, end: int) -> tuple[int, int]:
    """A stretch without the white space around it."""
    while start < end and data[start] in _BLANK:
        start += 1
    while end > start and data[end - 1] in _BLANK:
        end -= 1
    return start, end


def _places(data: bytes, marks: Sequence[str]) -> list[tuple[int, int]]:
    known = [mark.encode() for mark in marks if mark in KNOWN_MARKS and mark != ARTICLE]
    own = [re.escape(mark.encode()) for mark in marks if mark not in KNOWN_MARKS]
    found = [met.span() for met in _ARTICLE.finditer(data)] if ARTICLE in marks else []
    if known:
        pattern = re.compile(b"|".join(map(re.escape, known)))
        found += [met.span() for met in pattern.finditer(data)]
    for mark in own:
        lines = [met.span(1) for met in re.finditer(rb"(?m)^[ \t]*(%b)[ \t\r]*$" % mark, data)]
        found += lines or [met.span() for met in re.finditer(mark, data)]
    return sorted(found)
