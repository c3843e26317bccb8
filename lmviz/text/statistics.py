"""Statistics of a corpus: token counts, document lengths, unknown tokens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmviz.text.tokenizer import Tokenizer

_MOST_COLUMNS = 40
_STEP = 1 << 20  # ids counted at a time, so that a memory-mapped corpus stays on the disk


@dataclass(frozen=True, eq=False)
class Statistics:
    """Counts of a corpus; START and END are counted in `counts` and `lengths` alone.

    `counts` is (token,) int64, how often each id occurs in the training part; `lengths` is (document,)
    int64, the tokens of each training document between START and END. `unknown_rate` is the share of
    unknown tokens in the validation part.
    """

    training_tokens: int
    validation_tokens: int
    types: int
    counts: np.ndarray
    lengths: np.ndarray
    unknown_rate: float

    @property
    def tokens(self) -> int:
        """Tokens of both parts."""
        return self.training_tokens + self.validation_tokens

    @cached_property
    def by_rank(self) -> np.ndarray:
        """The ids that occur, the most frequent first, (rank,) int64."""
        order = np.argsort(-self.counts, kind="stable")
        return order[self.counts[order] > 0]

    @property
    def rank_frequency(self) -> np.ndarray:
        """How often the token of each rank occurs, (rank,) int64, never rising (Zipf 1935)."""
        return self.counts[self.by_rank]

    @property
    def rank_share(self) -> np.ndarray:
        """The share of all occurrences that the token of each rank has, (rank,) float64."""
        return self.rank_frequency / self.counts.sum()

    def length_histogram(self) -> tuple[np.ndarray, np.ndarray]:
        """Edges (column + 1,) of at most 40 columns of equal width, and documents in each (column,)."""
        shortest, longest = int(self.lengths.min()), int(self.lengths.max())
        width = max(1, -(-(longest + 1 - shortest) // _MOST_COLUMNS))
        edges = np.arange(shortest, longest + width + 1, width)
        return edges, np.histogram(self.lengths, bins=edges)[0]


def measure(
    training: np.ndarray, validation: np.ndarray, tokenizer: Tokenizer, sequences: np.ndarray | None = None
) -> Statistics:
    """Count two streams of ids.

    `sequences` are the lengths of those that the training stream consists of, (sequence,), with END where
    it has one; without them START says where documents begin.
    """
    counts, held_out = (count_ids(ids, tokenizer.vocabulary_size) for ids in (training, validation))
    boundaries = [index for index in (tokenizer.start_id, tokenizer.end_id) if index is not None]
    real = np.ones(tokenizer.vocabulary_size, dtype=bool)
    real[boundaries] = False
    held_out_tokens = int(held_out[real].sum())
    unknown = 0 if tokenizer.unknown_id is None else int(held_out[tokenizer.unknown_id])
    return Statistics(
        training_tokens=int(counts[real].sum()),
        validation_tokens=held_out_tokens,
        types=int(np.count_nonzero(counts[real])),
        counts=counts,
        lengths=_lengths(training, tokenizer)
        if sequences is None
        else sequences - _ends(training, tokenizer),
        unknown_rate=unknown / held_out_tokens if held_out_tokens else 0.0,
    )


def count_ids(ids: np.ndarray, vocabulary_size: int) -> np.ndarray:
    """How often each id occurs, (token,) int64."""
    counts = np.zeros(vocabulary_size, dtype=np.int64)
    for start in range(0, len(ids), _STEP):
        counts += np.bincount(ids[start : start + _STEP], minlength=vocabulary_size)
    return counts


def _ends(ids: np.ndarray, tokenizer: Tokenizer) -> int:
    """1 where END stands behind each sequence, which it then does behind the last, and otherwise 0."""
    return int(len(ids) > 0 and tokenizer.end_id is not None and ids[-1] == tokenizer.end_id)


def _lengths(ids: np.ndarray, tokenizer: Tokenizer) -> np.ndarray:
    if not tokenizer.marks_boundaries:
        return np.array([len(ids)], dtype=np.int64)
    starts = [
        start + np.flatnonzero(ids[start : start + _STEP] == tokenizer.start_id)
        for start in range(0, len(ids), _STEP)
    ]
    return np.diff(np.concatenate([*starts, [len(ids)]])) - 2
