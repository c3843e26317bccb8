"""The scale on which gradients of a network are coloured."""

from __future__ import annotations

import numpy as np

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.node import INPUT


def largest_gradient(net: Graph) -> float:
    """The largest size of a gradient when all are known; 1 where all are 0.

    That of the output is left out, and those of inputs, which nothing uses.
    """
    whole = net.copy().backward()
    seen = [node for node in whole if node.kind != INPUT and node is not whole.output]
    sizes = [np.abs(node.gradient) for node in seen if node.gradient is not None]
    finite = [float(size[np.isfinite(size)].max(initial=0.0)) for size in sizes]
    return max(finite, default=0.0) or 1.0
