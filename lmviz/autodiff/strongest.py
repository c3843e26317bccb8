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


def cell_to_nudge(net: Graph) -> tuple[str, tuple[int, ...]]:
    """The cell whose change changes the output most, of the parameters; of the inputs where there are none.

    The output itself stands for a network in which nothing is given.
    """
    swept = net.copy().backward()
    given = [node for node in swept.parameters or swept.inputs if node.gradient is not None]
    if not given:
        return net.output.name, (0,) * len(net.output.shape)
    cells = [(node, _largest(node, node.gradient)) for node in given]
    node, place = max(cells, key=lambda found: _size(*found))
    return node.name, place


def _size(node: Node, place: tuple[int, ...]) -> float:
    """How large a gradient is; 0 for one that is no number."""
    return 0.0 if node.gradient is None else float(np.nan_to_num(np.abs(node.gradient[place])))


def _largest(node: Node, array: np.ndarray | None) -> tuple[int, ...]:
    if array is None:
        return (0,) * len(node.shape)
    place = int(np.argmax(np.nan_to_num(np.abs(array))))
    return tuple(int(at) for at in np.unravel_index(place, node.shape))
