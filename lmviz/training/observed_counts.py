"""What counting finds in one slice of a text, order by order."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from lmviz.training.observation import CountedOrder


def counted_orders(
    ids: np.ndarray, begin: int, end: int, order: int, start_id: int | None
) -> tuple[CountedOrder, ...]:
    """The n-grams of each order up to `order` that end in ids[begin:end]; orders without any are left out.

    As in `count_ngrams`, none reaches across `start_id`, which is only ever the first of an n-gram.
    """
    found = []
    for size in range(1, order + 1):
        stretch = ids[max(0, begin - size + 1) : end]
        if len(stretch) < size:
            continue
        ngrams = sliding_window_view(stretch, size)  # (n-gram, token)
        if start_id is not None:
            later = ngrams[:, 1:] if size > 1 else ngrams
            ngrams = ngrams[(later != start_id).all(axis=1)]
        if not len(ngrams):
            continue
        different, times = np.unique(ngrams, axis=0, return_counts=True)
        most = int(times.argmax())
        found.append(
            CountedOrder(
                size, len(ngrams), len(different), tuple(map(int, different[most])), int(times[most])
            )
        )
    return tuple(found)
