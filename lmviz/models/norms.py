"""How a row of numbers is normalised: what models and their explanations have in common.

Configurations know these forms, so that torch is imported only to compute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class NormForm:
    """What normalisation does.

    `kind` "layer" takes the mean away and divides by the standard deviation (Ba et al. 2016); "rms" only
    divides by the root mean square (Zhang & Sennrich 2019). With `one_plus` the gain is 1 + the weight.

    `over` says what is normalised together: "" are the channels of a tap (position, channel). Of a tap (head,
    position, channel), "head" are those of each head, which share one gain; "heads" the same, each head with
    a gain of its own; "all" are the channels of all heads.
    """

    kind: str
    epsilon: float
    one_plus: bool = False
    over: str = ""

    def of(self, values: torch.Tensor, gain: torch.Tensor | None, bias: torch.Tensor | None) -> torch.Tensor:
        """Normalise (batch, position, channel), or (batch, head, position, channel)."""
        if gain is not None and self.one_plus:
            gain = gain + 1
        if self.over == "all":
            heads = values.shape[1]
            joined = self._of_rows(values.transpose(1, 2).flatten(2), gain, bias)
            return joined.unflatten(2, (heads, -1)).transpose(1, 2)
        if self.over == "heads" and gain is not None:
            by_head = gain.view(values.shape[1], 1, -1)
            scaled = self._of_rows(values, None, None) * by_head
            return scaled if bias is None else scaled + bias.view_as(by_head)
        return self._of_rows(values, gain, bias)

    def _of_rows(
        self, values: torch.Tensor, gain: torch.Tensor | None, bias: torch.Tensor | None
    ) -> torch.Tensor:
        from torch.nn import functional

        shape = values.shape[-1:]
        if self.kind == "rms":
            return functional.rms_norm(values, shape, gain, self.epsilon)
        return functional.layer_norm(values, shape, gain, bias, self.epsilon)
