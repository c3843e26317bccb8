"""Units of the loss: nats per token, bits per character, perplexity; and smoothed curves."""

from __future__ import annotations

import math

import numpy as np

BITS = "bits per character"
UNITS = ("nats", BITS, "perplexity")
ACCURACY = "accuracy"
LABEL_UNITS = ("nats", ACCURACY)
"""What is measured of labels, which have no characters."""


def convert_loss(loss: np.ndarray | float, unit: str, characters_per_token: float) -> np.ndarray:
    """A loss in nats per token, of any shape, in another unit.

    Bits per character make tokenizers comparable; perplexity is the exponential of the loss.
    """
    loss = np.asarray(loss, dtype=np.float64)
    if unit == BITS:
        return loss / (math.log(2) * characters_per_token)
    return np.exp(np.minimum(loss, 700.0)) if unit == "perplexity" else loss


def smooth(values: np.ndarray, weight: float) -> np.ndarray:
    """An exponential moving average, (point,), each point of which forgets the share 1 - `weight`.

    The beginning is corrected for what has not been seen yet, as in Adam (Kingma & Ba 2015).
    A weight of 0 changes nothing.
    """
    values = np.asarray(values, dtype=np.float64)
    if weight <= 0 or not len(values):
        return values
    # In blocks: within one, powers of the weight stay far from the smallest float.
    smoothed, carried, block = np.empty_like(values), 0.0, 64
    powers = weight ** np.arange(1, block + 1)
    for start in range(0, len(values), block):
        part = values[start : start + block]
        decay = powers[: len(part)]
        sums = np.cumsum(part / decay) * decay * (1 - weight) + carried * decay
        smoothed[start : start + block] = sums
        carried = float(sums[-1])
    return smoothed / (1 - weight ** np.arange(1, len(values) + 1))
