"""A model between two others, or beyond them: the weights of the first plus a share of the change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.circuits.result import Numbers
from lmviz.differences.pair import ModelPair
from lmviz.models.blocks import without_blocks
from lmviz.models.interruption import look_up, part_of_work
from lmviz.models.model import Model
from lmviz.models.other_tensors import with_tensors
from lmviz.training.evaluation import evaluate_ids

LEAST, MOST = -0.5, 1.5
"""How far the strength of a change goes in the window: a little beyond either model."""

FURTHEST = 1e6
"""No strength is as large as that."""

STRENGTHS = tuple(round(LEAST + 0.1 * place, 1) for place in range(21))
"""The strengths along a curve."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StrengthCurve(Numbers):
    """The loss on a text, in nats per token, by the strength of the change.

    `strengths` are along the only axis, 0 being the first model and 1 the second; NaN where not yet measured.
    `tokens` is how many were judged.
    """

    strengths: tuple[float, ...]
    tokens: int

    @property
    def best(self) -> float:
        """The strength with the smallest loss."""
        return self.strengths[int(np.nanargmin(self.array))]


def between(pair: ModelPair, strength: float) -> Model:
    """W + strength × (W′ − W), as a model with the tokenizer of the first.

    At 0 and 1 its tensors are those of the two models themselves. LmvizError where these differ in tokens or
    shape, or where the strength is no finite number.
    """
    pair.check_alike()
    if not isinstance(strength, int | float | np.number) or not abs(strength) < FURTHEST:
        raise LmvizError(
            f"The strength of a change is a number such as 0.5, at most a million, and not {strength!r}."
        )
    before, after = pair.before.tensors(), pair.after.tensors()
    if strength in (0.0, 1.0):
        return with_tensors(pair.before, after if strength else before)
    return with_tensors(
        pair.before, {name: _between(tensor, after[name], strength) for name, tensor in before.items()}
    )


def strength_curve(
    pair: ModelPair,
    documents: Sequence[np.ndarray],
    start: int | None = None,
    strengths: Sequence[float] = STRENGTHS,
) -> Iterator[StrengthCurve]:
    """The loss over documents of ids (token,) by strength, after each that was measured.

    Measured as by `evaluate_ids`, of which `start` is the ignored target.
    """
    pair.check_alike()
    losses, tokens = np.full(len(strengths), np.nan), 0
    for number, strength in enumerate(strengths):
        look_up(number / len(strengths))
        with part_of_work(number, len(strengths)):
            try:
                found = evaluate_ids(between(pair, strength), documents, start)
            except LmvizError:
                if strength in (0.0, 1.0):
                    raise  # the text, or a model, is at fault, and not the distance
                continue
        losses[number], tokens = found.negative_log_likelihood, found.tokens
        yield StrengthCurve(
            array=losses.copy(),
            axes=("strength",),
            names={"strength": tuple(f"{one:g}" for one in strengths)},
            strengths=tuple(strengths),
            tokens=tokens,
        )


def _between(before: torch.Tensor, after: torch.Tensor, strength: float) -> torch.Tensor:
    """In single precision, or in double where the models have it; whole numbers stay as they are."""
    if not before.is_floating_point():
        return before.detach()
    with torch.inference_mode(False), torch.no_grad():
        one, other = (without_blocks(tensor.detach()) for tensor in (before, after))
        kind = torch.float64 if one.dtype == torch.float64 else torch.float32
        one, other = one.to(kind), other.to(device=one.device, dtype=kind)
        return torch.lerp(one, other, strength)
