"""Encodes a long text by its segments, each distinct one only once.

No token of words or byte pairs crosses a boundary between segments, so the ids of a text are those of its
segments, concatenated; a test compares this with the Hugging Face tokenizer. Most segments of a text occur
many times (Zipf 1935), which makes this many times as fast.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from lmviz.text.tokenizer_file import library_call
from lmviz.text.words import PLAIN_SPACED_PATTERN, SPACES

if TYPE_CHECKING:
    import tokenizers

SEGMENTS = {
    "words": re.compile(rf"\n|[^{SPACES}]+"),
    "spaces": re.compile(rf"\n|[^{SPACES}]+"),
    "plain spaces": re.compile(PLAIN_SPACED_PATTERN),
    "bpe": re.compile(rf" ?[^{SPACES}]+|[{SPACES}]+(?![^{SPACES}])|[{SPACES}]"),
}
"""The segments of a text by the kind of tokenizer: what stands between spaces, and for byte pairs
the spaces as GPT-2 cuts them (Radford et al. 2019)."""

_REMEMBERED = 300_000


class SegmentEncoder:
    """Encodes texts with a tokenizer of the `tokenizers` library, remembering segments."""

    def __init__(self, backend: tokenizers.Tokenizer, segments: re.Pattern[str]) -> None:
        self._backend = backend
        self._segments = segments
        self._known: dict[str, list[int]] = {}

    def encode(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The ids of the texts one after the other, (token,) int64, and how many each has, (text,)."""
        segmented = [self._segments.findall(text) for text in texts]
        known = self._look_up(set(chain.from_iterable(segmented)))
        found = [known[segment] for segment in chain.from_iterable(segmented)]
        ends = np.zeros(len(found) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, found), dtype=np.int64, count=len(found)), out=ends[1:])
        borders = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(segments) for segments in segmented], out=borders[1:])
        ids = np.fromiter(chain.from_iterable(found), dtype=np.int64, count=int(ends[-1]))
        return ids, np.diff(ends[borders])

    def _look_up(self, segments: set[str]) -> dict[str, list[int]]:
        """The ids of all known segments, these among them.

        The dictionary is replaced rather than emptied, since another thread may be reading it.
        """
        if len(self._known) > _REMEMBERED:
            self._known = {}
        known = self._known
        unseen = [segment for segment in segments if segment not in known]
        with library_call():
            encodings = self._backend.encode_batch_fast(unseen, add_special_tokens=False)
        known.update((segment, encoding.ids) for segment, encoding in zip(unseen, encodings, strict=True))
        return known
