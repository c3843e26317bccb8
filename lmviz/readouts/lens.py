"""A lens over a model: what its states say, read directly or by a map that was fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.looks.shown import Shown

if TYPE_CHECKING:
    from lmviz.inspection.logit_lens import LogitLens
    from lmviz.inspection.trace import Trace
    from lmviz.models.model import Model
    from lmviz.readouts.fitted_lens import FittedLens


@dataclass(frozen=True, eq=False, repr=False)
class Lens(Shown):
    """A model and what was `fitted` to it; nothing where its states are read as if they were the last."""

    model: Model
    fitted: FittedLens | None = None

    @property
    def kind(self) -> str:
        """ "logit", "tuned" or "jacobian"."""
        return "logit" if self.fitted is None else self.fitted.kind

    def __call__(self, trace: Trace, count: int = 5, positions: Sequence[int] | None = None) -> LogitLens:
        """The `count` likeliest tokens after each layer, at all positions of a trace or some.

        LmvizError as `logit_lens` raises it.
        """
        from lmviz.inspection.logit_lens import logit_lens

        if self.fitted is None:
            return logit_lens(self.model, trace, count, positions, after_layers=True)
        from lmviz.readouts.fitting import carrier

        return logit_lens(
            self.model, trace, count, positions, after_layers=True, carried=carrier(self.fitted)
        )

    def save(self, path: str | Path) -> Path:
        """Write what was fitted as a safetensors file; LmvizError where there is nothing to write."""
        if self.fitted is None:
            raise LmvizError("The logit lens is fitted to nothing, so there is nothing to save.")
        return self.fitted.save(path)
