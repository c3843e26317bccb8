"""Back from an n-gram to the places of the text that it was counted at."""

from __future__ import annotations

import numpy as np


def places_of(gram: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """The positions in a stream of token ids (token,) at which the n-gram (order,) begins, ascending.

    The n-gram may hold ABSENT in front, as the tap `orders/K/context` does; the empty one is everywhere.
    """
    gram = np.asarray(gram)
    gram = gram[gram >= 0]
    begins = np.arange(max(len(tokens) - len(gram) + 1, 0))
    for place, token in enumerate(gram):
        begins = begins[tokens[begins + place] == token]  # the first pass leaves few
    return begins
