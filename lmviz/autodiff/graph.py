"""The values and modules of a network by name, with their tape."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from lmviz.autodiff.node import COMPUTED, INPUT, PARAMETER, Node
from lmviz.autodiff.tape import Tape
from lmviz.base.errors import LmvizError


class Graph:
    """`graph["β"].value` and `.gradient` are numpy arrays after `graph.forward()` and `graph.backward()`.

    The last value is the output, such as the loss. `source` is the text that it was read from.
    """

    def __init__(self, nodes: Sequence[Node], source: str = "") -> None:
        self.nodes = tuple(nodes)
        self.source = source
        self._by_name = {node.name: node for node in nodes}
        for node in nodes:
            for input in node.inputs:
                input.consumers.append(node)
        self.tape = Tape(nodes)

    def __getitem__(self, name: str) -> Node:
        """A value by its name; LmvizError where there is none."""
        if not isinstance(name, str):
            raise LmvizError(f"{name!r} is not the name of a value: there are {', '.join(self._by_name)}.")
        if name not in self._by_name:
            near = difflib.get_close_matches(name, self._by_name, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self._by_name)}."
            raise LmvizError(f"The network has no value {name!r}: {hint}")
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.tape.modules)} modules and {self.size} parameters>"

    @property
    def output(self) -> Node:
        """What is differentiated: the last value."""
        return self.tape.output

    @property
    def parameters(self) -> tuple[Node, ...]:
        """What learning changes."""
        return tuple(node for node in self.nodes if node.kind == PARAMETER)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """What is given and stays."""
        return tuple(node for node in self.nodes if node.kind == INPUT)

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(node.numbers.size for node in self.parameters)

    @property
    def loss(self) -> float:
        """The output as one number, the sum of its cells; forward has to have been run."""
        return float(self.output.numbers.sum())

    def forward(self) -> Self:
        """Compute every value, from the beginning."""
        self.tape.rewind()
        while not self.tape.is_complete:
            self.tape.push()
        return self

    def backward(self, version: str = "") -> Self:
        """Compute every gradient, by version "A" (gather) or "B" (scatter); forward first where needed."""
        if version:
            self.tape.version = version
        if not self.tape.is_complete:
            self.forward()
        self.tape.sweep(self.tape.pushed)
        return self

    def set(self, name: str, value: Any) -> Self:
        """Give a value other numbers; all that follows is computed again, as far as the tape had come.

        A computed value keeps them, whatever its module says, until `release`. LmvizError where the
        numbers do not have its shape.
        """
        node = self[name]
        array = np.array(value, dtype=np.float64)
        if array.shape != node.shape:
            raise LmvizError(f"{name} has the shape {node.shape}, not {array.shape}: give as many numbers.")
        if not np.isfinite(array).all():
            raise LmvizError(f"{name} takes finite numbers only.")
        if node.kind == COMPUTED:
            node.held = array
        else:
            node.value = array
        return self.refresh()

    def edit(self, name: str, index: Sequence[int], number: float) -> Self:
        """The same for one cell."""
        node = self[name]
        place = node.cell(index)
        if not np.isfinite(number):
            raise LmvizError(f"{name} takes finite numbers only.")
        held = np.full(node.shape, np.nan) if node.held is None else node.held
        array = held.copy() if node.kind == COMPUTED else node.numbers.copy()
        array[place] = number
        if node.kind == COMPUTED:
            node.held = array
        else:
            node.value = array
        return self.refresh()

    def release(self, name: str = "") -> Self:
        """Have a value computed again that was set by hand; without a name all of them."""
        for node in (self[name],) if name else self.nodes:
            node.held = None
        return self.refresh()

    def refresh(self) -> Self:
        """Compute everything again, as far as the tape had come."""
        self.tape.play(self.tape.pushed, self.tape.popped)
        return self

    def copy(self, values: Mapping[str, np.ndarray] | None = None, dtype: Any = np.float64) -> Self:
        """Another network of the same modules, with the same numbers or others by name, and a new tape."""
        made: dict[str, Node] = {}
        for node in self.nodes:
            value = None
            if node.kind != COMPUTED:
                value = np.array((values or {}).get(node.name, node.value), dtype=dtype)
            made[node.name] = Node(
                node.name,
                node.kind,
                node.shape,
                node.line,
                node.module,
                tuple(made[input.name] for input in node.inputs),
                value,
                held=node.held,
                place=node.place,
                begins_at=node.begins_at,
            )
        copied = type(self)(list(made.values()), self.source)
        copied.tape.version = self.tape.version
        return copied
