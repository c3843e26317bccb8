"""The slip of a slide: every module's gradient begins at 1, and not only that of the last one.

It is computed like everything else, so that one sees which gradients become wrong, and by how much.
"""

from __future__ import annotations

from lmviz.autodiff.graph import Graph


def begin_gradients_at(net: Graph, number: float) -> None:
    """Have the gradients of all modules but the last begin at a number; what is right is 0.

    Inputs and parameters are no modules, and begin at 0. The sweep is made again, as far as it had come.
    """
    for node in net.tape.modules:
        if node is not net.output:
            node.begins_at = number
    net.refresh()
