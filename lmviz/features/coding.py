"""The computation of a dictionary of features: scores, which of them are on, and what these write.

score = E x + b and state = D' a + c, where the rows of E read a state and those of D are directions. Which
scores become activations is what the kinds differ in: of each state the k largest (Gao et al. 2024), those
above a threshold of their own (Rajamanoharan et al. 2024) or above one for all (Bussmann et al. 2024), or all
above 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lmviz.base.errors import LmvizError

BY_THRESHOLD = ("batchtopk", "jumprelu")
"""Kinds in which a score counts where it is above a threshold."""


def largest(scores: torch.Tensor, k: int) -> torch.Tensor:
    """(..., feature) the `k` largest scores of each row that are above 0, and 0 for all others."""
    values, places = scores.topk(min(k, scores.shape[-1]), dim=-1)
    return torch.zeros_like(scores).scatter(-1, places, values.clamp_min(0))


def above(scores: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
    """(..., feature) the scores that are above 0 and above `threshold` (feature,), and 0 for all others."""
    return torch.where(scores > threshold, scores.clamp_min(0), torch.zeros_like(scores))


def switched_on(
    kind: str, scores: torch.Tensor, k: int | None = None, threshold: torch.Tensor | None = None
) -> torch.Tensor:
    """(..., feature) what scores become as activations, by the kind of the dictionary."""
    if kind in BY_THRESHOLD and threshold is not None:
        return above(scores, threshold)
    if kind == "topk" and k is not None:
        return largest(scores, k)
    return scores.clamp_min(0)


@dataclass(frozen=True, eq=False)
class Coding:
    """The tensors of a dictionary, where a model computes; see `lmviz.features.dictionary.Dictionary`."""

    kind: str
    encoder: torch.Tensor
    encoder_bias: torch.Tensor
    decoder: torch.Tensor
    decoder_bias: torch.Tensor
    k: int | None = None
    threshold: torch.Tensor | None = None
    skip: torch.Tensor | None = None

    def scores(self, states: torch.Tensor) -> torch.Tensor:
        """(..., feature) how well states (..., channel) fit each feature; LmvizError for another width."""
        width = self.encoder.shape[-1]
        if states.shape[-1] != width:
            raise LmvizError(
                f"The features are of states of {width} channels, and these have {states.shape[-1]}: "
                "open the model that they were found in."
            )
        return torch.nn.functional.linear(states, self.encoder, self.encoder_bias)

    def encoded(self, states: torch.Tensor) -> torch.Tensor:
        """(..., feature) the activations of states (..., channel)."""
        return switched_on(self.kind, self.scores(states), self.k, self.threshold)

    def decoded(self, activations: torch.Tensor) -> torch.Tensor:
        """(..., channel) what activations (..., feature) write, and what is written without any."""
        return activations @ self.decoder + self.decoder_bias

    def reconstructed(self, states: torch.Tensor, activations: torch.Tensor | None = None) -> torch.Tensor:
        """(..., channel) what features put in place of states, or of what a feed-forward network writes.

        The `activations` (..., feature) of the states may be given where they are known.
        """
        written = self.decoded(self.encoded(states) if activations is None else activations)
        return written if self.skip is None else written + states @ self.skip.T
