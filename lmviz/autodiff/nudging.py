"""The output of a network with one cell of a value a little larger or smaller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.node import Node


class Nudging:
    """A copy of a network, of which only what follows from the nudged value is computed anew.

    `dtype` is the precision in which it computes. The network itself is left as it is.
    """

    def __init__(self, net: Graph, name: str, dtype: Any = np.float64) -> None:
        self.name = name
        self._net = net.copy(dtype=dtype).forward()
        self._node = self._net[name]
        self._before = self._node.numbers
        self._following = _following(self._net, self._node)

    def cell(self, index: Sequence[int]) -> tuple[int, ...]:
        """A cell of the value; LmvizError where it has no such cell."""
        return self._node.cell(index)

    def loss(self, cell: tuple[int, ...], by: float) -> float:
        """The output with one cell changed by so much from what it was before."""
        changed = self._before.copy()
        changed[cell] += by
        self._node.value = changed
        for node in self._following:
            node.apply()
        return self._net.loss


def _following(net: Graph, start: Node) -> tuple[Node, ...]:
    """The modules that a value reaches, in the order of computation."""
    reached = {start}
    for node in net.tape.modules:
        if not reached.isdisjoint(node.inputs):
            reached.add(node)
    return tuple(node for node in net.tape.modules if node in reached - {start})
