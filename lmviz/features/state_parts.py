"""The states at a dictionary in one text, as a sum: features that are on, an average, and an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.circuits.cached_pass import CachedPass
    from lmviz.features.dictionary import Dictionary


@dataclass(frozen=True, eq=False)
class StateParts:
    """`activations` (position, feature) and `error` (position, channel) of a dictionary, float64.

    `decoder` and `encoder` are (feature, channel), `average` (channel,), and `skip` (channel, channel) or
    None. The first state of a text is unlike all others and was never learned from: it is all error.
    """

    dictionary: Dictionary
    along: str
    activations: np.ndarray
    error: np.ndarray
    encoder: np.ndarray
    decoder: np.ndarray
    average: np.ndarray
    skip: np.ndarray | None

    @property
    def first(self) -> int:
        """The first position that is taken apart."""
        return int(self.along == "position")

    @classmethod
    def of(cls, dictionary: Dictionary, read: CachedPass) -> StateParts:
        """The states of a kept pass, taken apart."""
        states, given = (
            read.values[address][0].detach().cpu().double().numpy()
            for address in (dictionary.target, dictionary.tap)
        )
        along = read.axes[dictionary.target][0]
        first = int(along == "position")
        activations = dictionary.encode(given.astype(np.float32)).astype(np.float64)
        activations[:first] = 0
        decoder, average = dictionary.decoder.astype(np.float64), dictionary.decoder_bias.astype(np.float64)
        error = states - activations @ decoder - average
        skip = None if dictionary.skip is None else dictionary.skip.astype(np.float64)
        if skip is not None:
            error = error - given @ skip.T
        encoder = dictionary.encoder.astype(np.float64)
        return cls(dictionary, along, activations, error, encoder, decoder, average, skip)


def check_placed(dictionaries: Sequence[Dictionary], read: CachedPass) -> None:
    """LmvizError where there is no dictionary, two stand for the same states, or one is of another model."""
    if not dictionaries or len({one.target for one in dictionaries}) < len(dictionaries):
        raise LmvizError("Give one dictionary or several, each of other states.")
    missing = next(
        (one for one in dictionaries for tap in (one.tap, one.target) if tap not in read.axes), None
    )
    if missing is not None:
        raise LmvizError(f"{missing!r} is of states that this model has not: open the model it belongs to.")
