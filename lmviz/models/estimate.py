"""Estimates a model's parameters, memory and work per step before it is built."""

from __future__ import annotations

from dataclasses import dataclass

BYTES_PER_NUMBER = 4
"""Everything is counted in 32-bit floating point."""

NUMBERS_PER_PARAMETER = 4
"""Training holds each parameter, its gradient, and the two moments that Adam keeps of it."""

PASSES = 3
"""A training step is one pass forward, and one backward that costs twice as much."""


@dataclass(frozen=True)
class Asked:
    """What a model is asked, as far as its size depends on it.

    It answers with one of so many `labels`, for each token or, `per_text`, for the text; 0 where it answers
    with tokens. `source_vocabulary` is the number of tokens that a source can have, 0 unless it translates.
    `pixels` is the number of those in a picture, 0 unless it writes captions.
    """

    labels: int = 0
    per_text: bool = False
    source_vocabulary: int = 0
    pixels: int = 0

    def outputs(self, vocabulary_size: int) -> int:
        """How many answers there are to choose from."""
        return self.labels or vocabulary_size


NEXT_TOKEN = Asked()


@dataclass(frozen=True)
class Estimate:
    """The cost of training a model.

    `parameters` counts learned numbers, tied ones once. `bytes` is the memory of training: weights,
    gradients, optimizer and the values kept for the backward pass. `operations_per_step` counts
    floating-point operations of one step, additions and multiplications apart.
    """

    parameters: int
    bytes: int
    operations_per_step: int


def training_estimate(parameters: int, multiplications: int, values: int, tokens: int) -> Estimate:
    """The estimate of a neural model trained by Adam on batches of `tokens` tokens.

    `multiplications` and `values` are per token of one forward pass: the multiplications in matrix
    products, each of which brings an addition, and the numbers that the backward pass has to find again.
    Element-wise work and the caches of libraries are left out.
    """
    numbers = NUMBERS_PER_PARAMETER * parameters + values * tokens
    return Estimate(
        parameters=parameters,
        bytes=BYTES_PER_NUMBER * numbers,
        operations_per_step=2 * PASSES * multiplications * tokens,
    )
