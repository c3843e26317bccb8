"""A trace: the recorded values of one forward pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from lmviz.base.arguments import file_path
from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.trace_file import read_trace, write_trace
from lmviz.inspection.traced_array import TracedArray, scores_behind
from lmviz.looks.shown import Shown
from lmviz.models.address import with_heads
from lmviz.models.prediction import NEXT_TOKEN, Prediction
from lmviz.models.prefix import Prefix
from lmviz.models.sequences import ALONG, TEXT
from lmviz.models.tap import Stage

if TYPE_CHECKING:
    from pathlib import Path

    from lmviz.inspection.origin import Origin

SHOWN = 60
"""How many characters of the text the representation shows."""


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Shown):
    """The values that a model computed for one prefix, as frozen numpy; it does not keep the model alive.

    `tokens`, `ids` (position,) and `offsets`, the places (from, to) in `text` in characters, are those
    that the model read; `dropped` more stood before them, which its context has no room for. `further` are
    the other sequences that it read, by name, and `sequences` all of them. `arrays` are the recorded taps by
    address. `interventions` were in force. `name` and `step` say which model
    it was and how many updates it had seen. `predicts` says what its probabilities are of, and
    `vocabulary` has the tokens by id. `origin` knows the model again; it and the vocabulary are missing where
    the trace comes from a file or was pickled.

    A trace is equal to itself alone.
    """

    tokens: tuple[str, ...]
    ids: np.ndarray
    text: str
    offsets: tuple[tuple[int, int], ...]
    family: str
    stages: tuple[Stage, ...]
    arrays: Mapping[str, TracedArray]
    interventions: tuple[Intervention, ...] = ()
    dropped: int = 0
    further: Mapping[str, Prefix] = field(default_factory=dict)
    name: str = ""
    step: int = 0
    predicts: Prediction = NEXT_TOKEN
    vocabulary: Sequence[str] = ()
    origin: Origin | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrays", MappingProxyType(dict(self.arrays)))
        object.__setattr__(self, "further", MappingProxyType(dict(self.further)))
        for sequence in self.sequences.values():
            sequence.ids.flags.writeable = False
        for traced in self.arrays.values():
            traced.lock()

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = {address: TracedArray(at.array, at.axes, at.scale) for address, at in self.arrays.items()}
        kept = {"arrays": arrays, "further": dict(self.further), "vocabulary": (), "origin": None}
        fields = dataclasses.fields(self)
        return type(self), tuple(kept.get(field.name, getattr(self, field.name)) for field in fields)

    def __getitem__(self, address: str) -> TracedArray:
        """The value of a tap; LmvizError, with the nearest address, if it was not recorded."""
        if isinstance(address, str) and with_heads(address) in self.arrays:
            return self.arrays[with_heads(address)]
        raise LmvizError(self._has_no(address))

    def _has_no(self, asked: object) -> str:
        from lmviz.models.other_names import hint, own_address  # for those who mistype

        if not isinstance(asked, str) and own_address(asked, self.arrays) is None:
            return f"{asked!r} is not an address: give one such as 'logits', or trace.arrays for all."
        return f"The trace has no {asked!r}: {hint(asked, self.arrays)}"

    def __contains__(self, address: str) -> bool:
        return address in self.arrays

    def __len__(self) -> int:
        """The number of positions."""
        return len(self.ids)

    def without_numbers(self) -> str | None:
        """The address of the first value in which NaN or plus infinity stands; None where there is none.

        Only where the last of the values has such numbers are the others looked at, for they reach it.
        """
        recorded = {
            address: traced
            for address, traced in self.arrays.items()
            if not traced.is_deferred and traced.array.dtype.kind == "f"
        }
        if not recorded or _are_numbers(recorded[next(reversed(recorded))].array):
            return None
        return next(address for address, traced in recorded.items() if not _are_numbers(traced.array))

    @property
    def sequences(self) -> Mapping[str, Prefix]:
        """Everything that was read, by the names of `lmviz.models.sequences`."""
        text = Prefix(self.text, self.ids, self.tokens, self.offsets, self.dropped)
        return {TEXT: text, **self.further}

    @property
    def beside(self) -> dict[str, Any]:
        """The sequences that were read beside the text, by name, as `trace` and `gradient` take them."""
        return {name: read.text or read.ids for name, read in self.further.items()}

    def unseen(self, address: str, **indices: int) -> np.ndarray:
        """Which cells of a tap a mask keeps out of the computation: bool, in the shape of `at(**indices)`.

        They are those pairs of a query and a key whose score is −∞, in every step from products to weights.
        A weight that an intervention has put there enters nevertheless.
        """
        traced, scores = self[address], scores_behind(self.arrays, address)
        if scores is None:
            return np.zeros(traced.at(**indices).shape, dtype=bool)
        hidden: np.ndarray = np.isneginf(scores.at(**indices))
        return hidden & (traced.at(**indices) == 0) if traced.scale == "share" else hidden

    def names(self, axis: str) -> Sequence[str]:
        """The names along an axis, one for each index: tokens of a sequence, labels, or the vocabulary.

        Nothing for axes of the model itself, such as its units.
        """
        if not isinstance(axis, str):
            raise LmvizError(f"{axis!r} is not an axis: give a name, such as 'position'.")
        if axis in ALONG:
            return self.sequences[ALONG[axis]].tokens
        return {"label": self.predicts.names, "token": self.vocabulary}.get(axis, ())

    def save(self, path: str | Path) -> None:
        """Write an .npz with each array under its tap's address, and "tokens"; `origin` and `vocabulary`
        are left out.

        LmvizError where the file cannot be written.
        """
        write_trace(path, {field.name: getattr(self, field.name) for field in dataclasses.fields(self)})

    @classmethod
    @loads("trace")
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote; LmvizError when it is no trace."""
        return cls(**read_trace(file_path(path)))


def _are_numbers(array: np.ndarray) -> bool:
    """Whether all are finite, or minus infinity, as of what cannot come."""
    return bool(array.max(initial=-np.inf) < np.inf)  # NaN where there is any
