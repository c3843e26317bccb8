"""The cell that says most about where the tape has come to."""

from __future__ import annotations

import numpy as np

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.node import COMPUTED, PARAMETER, Node


def strongest_cell(net: Graph) -> tuple[str, tuple[int, ...], bool]:
    """A value's name, a cell of it, and whether its gradient is meant.

    While the sweep is under way, the largest gradient that the last popped module handed back, of a
    parameter if it has one; before it, the largest value that was computed last.
    """
    tape = net.tape
    if tape.popped:
        popped = tape.modules[tape.pushed - tape.popped]
        reached = [input for input in popped.inputs if input.gradient is not None]
        parameters = [input for input in reached if input.kind == PARAMETER]
        computed = [input for input in reached if input.kind == COMPUTED]
        chosen = (parameters or computed or reached or [popped])[0]
        return chosen.name, _largest(chosen, chosen.gradient), True
    last = tape.entries[-1] if len(tape) else net.nodes[0]
    return last.name, _largest(last, last.value), False


def _largest(node: Node, array: np.ndarray | None) -> tuple[int, ...]:
    if array is None:
        return (0,) * len(node.shape)
    place = int(np.argmax(np.nan_to_num(np.abs(array))))
    return tuple(int(at) for at in np.unravel_index(place, node.shape))
