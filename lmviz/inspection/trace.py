"""A trace: one forward pass written down."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from lmviz.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.traced_array import TracedArray
from lmviz.models.tap import Stage

if TYPE_CHECKING:
    from pathlib import Path

    from lmviz.inspection.origin import Origin
    from lmviz.models.model import Model


@dataclass(frozen=True, eq=False)
class Trace:
    """What a model computed for one prefix, as frozen numpy; it does not keep the model alive.

    `tokens`, `ids` (position,) and `offsets`, the places (from, to) in `text` in characters, are those
    that the model read; `dropped` more stood before them, which its context has no room for. `arrays`
    are the recorded taps by address. `interventions` were in force. `name` and `step` say which model
    it was and how many updates it had seen; `origin` knows it again, unless the trace comes from a file.
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
    name: str = ""
    step: int = 0
    origin: Origin | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrays", MappingProxyType(dict(self.arrays)))
        self.ids.flags.writeable = False
        for traced in self.arrays.values():
            traced.lock()

    def __getitem__(self, address: str) -> TracedArray:
        """The value of a tap; LmvizError names the nearest address where it was not recorded."""
        if address not in self.arrays:
            import difflib  # for those who mistype

            near = difflib.get_close_matches(address, self.arrays, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(self.arrays)}."
            raise LmvizError(f"The trace has no {address!r}: {hint}")
        return self.arrays[address]

    def __contains__(self, address: str) -> bool:
        return address in self.arrays

    def __len__(self) -> int:
        """The number of positions."""
        return len(self.ids)

    def save(self, path: str | Path) -> None:
        """Write an .npz with each array under its tap's address, and "tokens"."""
        from lmviz.inspection.trace_file import save_trace

        save_trace(self, path)

    @staticmethod
    def load(path: str | Path) -> Trace:
        """Read what `save` wrote; LmvizError when it is no trace."""
        from lmviz.inspection.trace_file import load_trace

        return load_trace(path)


def trace(
    model: Model,
    text_or_ids: str | Sequence[int] | np.ndarray,
    *,
    taps: Collection[str] | None = None,
    interventions: Sequence[Intervention] = (),
    earlier: Trace | None = None,
) -> Trace:
    """Write down one forward pass, without gradients and without dropout.

    `taps` are patterns of addresses such as "layers/*/hidden"; by default every tap is recorded. Of a
    prefix longer than the model's context only the last tokens are read (`Trace.dropped`).
    Interventions that are switched off have no effect; those of a `ChangedModel` come first. Where
    `earlier`, a trace by the same model with the same weights, begins alike, its values are taken over as
    far as that goes. LmvizError when the prefix cannot be read, when a pattern matches no tap, or when an
    intervention does not fit.
    """
    from lmviz.inspection.changed_model import ChangedModel
    from lmviz.inspection.recording import record

    while isinstance(model, ChangedModel):
        model, interventions = model.unchanged, (*model.interventions, *interventions)
    return record(model, text_or_ids, taps, interventions, earlier)
