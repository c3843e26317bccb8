"""A token of a sample, as panels keep it."""

from __future__ import annotations

from typing import NamedTuple, Self

from lmviz.decoding.sampling import SamplingStep


class DrawnToken(NamedTuple):
    """One token that was drawn: the uniform number that chose it, and the probability it had."""

    id: int
    token: str
    draw: float
    probability: float

    @classmethod
    def of(cls, step: SamplingStep) -> Self:
        """The token of one step of sampling."""
        assert step.draw is not None, "a sample draws each token"
        return cls(step.id, step.token, step.draw, step.probability)
