"""Answers over a large vocabulary, computed at the positions that somebody looks at.

A text of 128 tokens has 6 million logits and as many probabilities in a model such as GPT-2. Making them
takes a third of a reading, and a person sees the row of one position. So a trace may leave them out, and
make a row from the state at its position when it is read. A row that was made is kept, also by the traces of
a text that has grown, so that a number never changes while it is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np
import torch

from lmviz.inspection.traced_array import TracedArray
from lmviz.models.explicit import ForwardPass
from lmviz.models.tap import Tap

ANSWERS = ("position", "token")

FEWEST = 1 << 20
"""Answers (position × token) from which on it is worth it."""


def later_taps(taps: Sequence[Tap], positions: int, vocabulary: int) -> frozenset[str]:
    """The last taps of a model, as far as each is a row of answers made of the same row of what it reads."""
    found: set[str] = set()
    if positions * vocabulary < FEWEST:
        return frozenset()
    for tap in reversed(taps):
        if tap.axes != ANSWERS or tap.scan or tap.operation.growth.by != "rows":
            break
        found.add(tap.address)
    return frozenset(found)


class LaterRows(TracedArray):
    """The value (position, token) of such a tap, made of `operands` and of `parameters` by name.

    The parameters are the model's own: whoever changes its weights puts other tensors in their place.
    `known` are rows that were made before, by position.
    """

    def __init__(
        self,
        tap: Tap,
        ids: np.ndarray,
        width: int,
        operands: Mapping[str, TracedArray],
        parameters: Mapping[str, torch.Tensor],
        known: Mapping[int, np.ndarray],
    ) -> None:
        object.__setattr__(self, "axes", tap.axes)
        object.__setattr__(self, "scale", tap.scale)
        object.__setattr__(self, "_tap", tap)
        object.__setattr__(self, "_ids", ids)
        object.__setattr__(self, "_width", width)
        object.__setattr__(self, "_operands", operands)
        object.__setattr__(self, "_parameters", parameters)
        object.__setattr__(self, "_known", dict(known))
        object.__setattr__(self, "_whole", None)
        object.__setattr__(self, "_making", Lock())

    _tap: Tap
    _ids: np.ndarray
    _width: int
    _operands: Mapping[str, TracedArray]
    _parameters: Mapping[str, torch.Tensor]
    _known: dict[int, np.ndarray]
    _whole: np.ndarray | None
    _making: Lock  # of two threads that read a row, the second waits for what the first makes

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes."""
        return len(self._ids), self._width

    @property
    def is_deferred(self) -> bool:
        return self._whole is None

    def is_known(self, **indices: int) -> bool:
        position = indices.get("position")
        return self._whole is not None or (position is not None and position % len(self._ids) in self._known)

    @property
    def known(self) -> Mapping[int, np.ndarray]:
        """The rows (token,) that have been made, by position."""
        return self._known

    @property
    def array(self) -> np.ndarray:
        """The whole; what is missing is made."""
        whole = self._whole
        if whole is None:
            whole = self.rows(range(len(self._ids)))
            whole.flags.writeable = False
            object.__setattr__(self, "_whole", whole)
            self._known.update(enumerate(whole))
        return whole

    def rows(self, positions: Sequence[int]) -> np.ndarray:
        """The rows of some positions, (position, token)."""
        with self._making:
            missing = [position for position in positions if position not in self._known]
            if missing:
                for position, row in zip(missing, self._made(missing), strict=True):
                    row.flags.writeable = False
                    self._known[position] = row
        return np.stack([self._known[position] for position in positions])

    def beginning(self, positions: int) -> tuple[np.ndarray, ...]:
        return (self.up_to(positions).array,)

    def up_to(self, positions: int) -> TracedArray:
        if positions == len(self._ids):
            return self
        operands = {address: traced.up_to(positions) for address, traced in self._operands.items()}
        known = {at: row for at, row in self._known.copy().items() if at < positions}
        return LaterRows(self._tap, self._ids[:positions], self._width, operands, self._parameters, known)

    def lock(self) -> None:
        """Rows are read-only from the moment they are made."""

    def _at(self, indices: dict[str, int]) -> np.ndarray:
        position = indices.get("position")
        if position is None or self._whole is not None:
            return super()._at(indices)
        self.rows([position])
        row = self._known[position][None]
        return TracedArray(row, self.axes, self.scale).at(**{**indices, "position": 0})

    def _made(self, positions: Sequence[int]) -> np.ndarray:
        """Rows (position, token) made anew."""
        with torch.inference_mode():
            device = next(iter(self._parameters.values())).device
            tokens = torch.from_numpy(self._ids[positions]).to(device)[None]
            scope = ForwardPass(tokens, self._parameters)
            for address, traced in self._operands.items():
                later = isinstance(traced, LaterRows)
                given = traced.rows(positions) if later else traced.array[positions]
                scope.give({address: torch.from_numpy(given).to(device)[None]})
            made: np.ndarray = self._tap.operation.compute(scope)[0].cpu().numpy()
        return made


def later_rows(
    tap: Tap,
    ids: np.ndarray,
    width: int,
    traced: Mapping[str, TracedArray],
    parameters: Mapping[str, torch.Tensor],
    earlier: TracedArray | None = None,
) -> LaterRows:
    """The value of a tap, made row by row; `earlier` is its value in a beginning of the text."""
    operands = {operand.address: traced[operand.address] for operand in tap.operation.operands}
    known: dict[int, np.ndarray] = {}
    if isinstance(earlier, LaterRows):
        known.update(earlier.known)
    elif earlier is not None:
        known.update(enumerate(earlier.array))
    return LaterRows(tap, ids, width, operands, parameters, known)
