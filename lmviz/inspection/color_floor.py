"""Where a logarithmic scale of colours begins, so that something is seen of a wide softmax."""

from __future__ import annotations

import math

from lmviz.inspection.trace import Trace
from lmviz.inspection.views import ANSWERS_SHOWN, View


def color_floor(trace: Trace, view: View) -> float:
    """The probability up to which cells stay plain, a power of ten below one in the vocabulary; 0 for linear.

    Of a thousand words one may have nine tenths, and all the others would look alike.
    """
    if view.scale != "share":
        return 0.0
    axes = trace[view.address].axes
    if "token" not in axes:
        return 0.0
    words = trace[view.address].array.shape[axes.index("token")]
    return 10.0 ** math.floor(-math.log10(words)) if words > ANSWERS_SHOWN else 0.0
