"""The pixels of a picture as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lmviz.models.arithmetic import Arithmetic, Terms, constant
from lmviz.models.growth import WHOLE
from lmviz.models.operations.factors import explained
from lmviz.models.precision import widened
from lmviz.models.sequences import SOURCE
from lmviz.models.tap import GradientReader, Operation, Reader, Scope, Weight


@dataclass(frozen=True, eq=False)
class Pixels(Operation):
    """Each pixel of the source, 1 where it is painted and 0 where it is blank; axes (pixel).

    They are numbers of the same kind as those of `weight`, by which they will be multiplied.
    """

    weight: Weight
    sequence: str = SOURCE

    growth = WHOLE
    operands = ()

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, pixel)."""
        return scope.sequences[self.sequence].to(widened(scope.weight(self.weight)).dtype)

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """One for a painted pixel, and nothing for a blank one."""
        pixel = int(reader.ids(self.sequence)[index])
        terms = Terms("pixel", (constant(float(pixel)),))
        return explained(reader, address, index, "painted" if pixel else "blank", (terms,))

    def passed_back(
        self, reader: GradientReader, address: str, source: str, index: tuple[int, ...]
    ) -> tuple[Terms, ...]:
        """Nothing: it reads no tap and no parameter."""
        return ()
