"""Dictionaries of features with directions drawn at random: what is shown of them must be right with any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import lmviz

if TYPE_CHECKING:
    from lmviz.features.dictionary import Dictionary
    from lmviz.models.model import Model


def made_features(
    model: Model, tap: str, text: str, *, size: int = 24, k: int = 3, seed: int = 0
) -> Dictionary:
    """A dictionary of a tap, around the mean state of a text."""
    from lmviz.features.dictionary import Dictionary

    random = np.random.default_rng(seed)
    states = lmviz.trace(model, text)[tap].array
    mean = states[1:].mean(0) if len(states) > 1 else states[0]
    decoder = random.standard_normal((size, states.shape[1])).astype(np.float32)
    encoder = (random.standard_normal(decoder.shape) / states.shape[1]).astype(np.float32)
    return Dictionary("topk", tap, encoder, -encoder @ mean, decoder, mean, k=k)
