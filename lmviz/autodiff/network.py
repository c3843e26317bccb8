"""A small network, and all that can be asked of it."""

from __future__ import annotations

from collections.abc import Sequence

from lmviz.autodiff.checking import EPSILON, Check, check
from lmviz.autodiff.explaining import explain, explain_gradient
from lmviz.autodiff.graph import Graph
from lmviz.autodiff.language.writing import lines_of_values, written
from lmviz.autodiff.pytorch import program
from lmviz.autodiff.torch_module import module_program
from lmviz.models.arithmetic import Arithmetic


class Network(Graph):
    """`net.forward(); net.backward()`, then `net["a"].value` and `net["β"].gradient`.

    `net.tape` goes through both one module at a time.
    """

    def check(self, name: str = "", index: Sequence[int] | None = None, eps: float = EPSILON) -> Check:
        """Nudge a value, one cell after the other, and compare the slope of the output with its gradient.

        Without a name all parameters are nudged; with an index only one cell. See `Check`.
        """
        return check(self, name, index, eps)

    def explain(self, name: str, index: Sequence[int] = (), *, gradient: bool = False) -> Arithmetic | None:
        """The arithmetic of a cell of a value, or of its gradient; None where there is nothing to explain:
        an input, or a number that is not known yet. LmvizError where there is no such cell."""
        found, node = explain_gradient if gradient else explain, self[name]
        return found(self, node, node.cell(index))

    @property
    def text(self) -> str:
        """The text of the network, with the numbers that its inputs and parameters have now."""
        return written(self)

    @property
    def lines(self) -> dict[str, int]:
        """On which line of `text`, counted from 1, each value stands."""
        return lines_of_values(self)

    @property
    def torch(self) -> str:
        """The same network as a program for PyTorch."""
        return program(self)

    def torch_module(self, rate: float = 0.1) -> str:
        """The same network as a `torch.nn.Module` with one step of SGD, as a program that runs."""
        return module_program(self, rate)
