"""Examples of a task: the tokens that are read, and what should be answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self, overload

import numpy as np

from lmviz.text.documents import Documents


@dataclass(frozen=True, eq=False, repr=False)
class Sequences(Sequence[np.ndarray]):
    """Several sequences of ids in one array, one after the other.

    `ids` is (token,) in the smallest unsigned type, read-only. `starts` is (sequence + 1,) int64: sequence
    n is `ids[starts[n]:starts[n + 1]]`.
    """

    ids: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, sequences: Iterable[Iterable[int]], largest: int) -> Self:
        """Sequences of ids up to `largest`."""
        lists = [list(sequence) for sequence in sequences]
        flat = [id for sequence in lists for id in sequence]
        ids = np.array(flat, dtype=np.min_scalar_type(max(0, largest)))
        ids.flags.writeable = False
        return cls(ids, np.cumsum([0, *map(len, lists)], dtype=np.int64))

    def __repr__(self) -> str:
        return f"<{len(self):,} sequences of {len(self.ids):,} ids>"

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, index: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, index: slice) -> list[np.ndarray]: ...
    def __getitem__(self, index: int | slice) -> np.ndarray | list[np.ndarray]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]  # from the end where negative; IndexError beyond either end
        return self.ids[self.starts[place] : self.starts[place + 1]]

    def select(self, places: np.ndarray) -> Self:
        """Those sequences alone, by a mask (sequence,) or by their numbers."""
        places = np.flatnonzero(places) if places.dtype == bool else places
        lengths = self.lengths[places]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        shift = np.repeat(self.starts[places] - starts[:-1], lengths)
        ids = self.ids[np.arange(starts[-1]) + shift]
        ids.flags.writeable = False
        return type(self)(ids, starts)

    @property
    def lengths(self) -> np.ndarray:
        """How many ids each has, (sequence,) int64."""
        return np.diff(self.starts)

    def sequence_at(self, place: int) -> int:
        """The number of the sequence that the id at a place of `ids` belongs to."""
        return int(np.searchsorted(self.starts, place, side="right")) - 1


@dataclass(frozen=True, eq=False, repr=False)
class Examples:
    """What a model is asked, and what it should answer: as many `source` as `target` sequences.

    For tagging a target has one label id for each token of its source; for classification it is a single
    label id. Their sources have no START and no END. For translation a source ends in END, and a target has
    the ids of its own tokenizer, START first and END last. For captioning a source is the pixels of a
    picture, row by row, and a target is as for translation.

    Where a target is a text, `texts` has it as it is written, with the words that the vocabulary lacks; the
    target has the id `unknown` there.
    """

    source: Sequences
    target: Sequences
    texts: Documents | None = None
    unknown: int | None = None

    def __repr__(self) -> str:
        return f"<{len(self):,} examples of {len(self.source.ids):,} source tokens>"

    def __len__(self) -> int:
        return len(self.source)

    @property
    def marks_answers(self) -> bool:
        """Whether targets say of each token of a source whether it counts, and answer nothing."""
        return False

    def answers_to(self, ids: np.ndarray) -> tuple[tuple[int, ...], ...]:
        """All different targets of the examples whose source is exactly ids (token,), the first one first."""
        wanted = np.asarray(ids)
        alike = np.flatnonzero(self.source.lengths == len(wanted))
        if not len(alike) or not len(wanted):
            return ()
        words = self.source.ids[self.source.starts[alike][:, None] + np.arange(len(wanted))]
        found = alike[(words == wanted).all(axis=1)]
        return tuple(dict.fromkeys(tuple(self.target[int(place)].tolist()) for place in found))


@dataclass(frozen=True, eq=False, repr=False)
class AnsweredTexts(Examples):
    """Whole texts to go on with, of which some tokens count: a target has a 1 for each of these, else a 0."""

    @property
    def marks_answers(self) -> bool:
        return True
