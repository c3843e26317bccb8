"""The tape: modules are pushed as they compute, and popped as gradients go back.

Two ways to go back (Goodfellow, Bengio & Courville 2016, section 6.5). *A, gather*: a value asks all its
consumers for what they hand back to it, and adds that up. *B, scatter*: a module that is popped adds to the
gradient of each of its inputs. Both give the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lmviz.autodiff.node import COMPUTED, Node
from lmviz.base.errors import LmvizError

GATHER, SCATTER = "A", "B"


class Tape:
    """The modules of a network in the order of computation, and how far one has come.

    `push` computes the next module, `pop` takes the last one off. When all are on the tape, popping is
    the backward sweep; before that, it only undoes the last push.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = tuple(nodes)
        self.modules = tuple(node for node in nodes if node.kind == COMPUTED)
        self._version = SCATTER
        self._pushed = 0
        self._popped = 0

    @property
    def output(self) -> Node:
        """What is differentiated: the last value."""
        return self._nodes[-1]

    @property
    def pushed(self) -> int:
        """How many modules have computed their value."""
        return self._pushed

    @property
    def popped(self) -> int:
        """How many of them the sweep has taken off."""
        return self._popped

    @property
    def entries(self) -> tuple[Node, ...]:
        """What lies on the tape, the bottom first."""
        return self.modules[: self._pushed - self._popped]

    @property
    def is_complete(self) -> bool:
        """Whether every module has computed its value."""
        return self._pushed == len(self.modules)

    @property
    def is_swept(self) -> bool:
        """Whether every gradient is known."""
        return self.is_complete and self._popped == self._pushed

    @property
    def version(self) -> str:
        """ "A" gathers, "B" scatters."""
        return self._version

    @version.setter
    def version(self, version: str) -> None:
        if version not in (GATHER, SCATTER):
            raise LmvizError(f"There is no way {version!r} to go back: choose A (gather) or B (scatter).")
        self._version = version
        self.sweep(self._popped)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.entries)

    def __repr__(self) -> str:
        on = len(self.entries)
        lines = []
        for place, node in reversed(list(enumerate(self.modules))):
            state = "on the tape" if place < on else "popped" if place < self._pushed else "not computed yet"
            assert node.module is not None
            lines.append(f"{node.module.word:>16}  {node.name}  {state}")
        return "\n".join(lines)

    def push(self) -> Node:
        """Compute the next module; after pops, put back what was popped last. LmvizError at the end."""
        if self._popped:
            self.sweep(self._popped - 1)
            return self.entries[-1]
        if self.is_complete:
            raise LmvizError("Every module is on the tape: pop one to begin the backward sweep.")
        node = self.modules[self._pushed]
        node.apply()
        self._pushed += 1
        return node

    def pop(self) -> Node:
        """Take the last module off the tape and send its gradient back. LmvizError when it is empty."""
        if not self.entries:
            raise LmvizError("Nothing is left on the tape: push a module first.")
        node = self.entries[-1]
        if self.is_complete:
            self._begin_sweep()
            self._popped += 1
            self._send_back(node)
        else:
            self._pushed -= 1
            node.value = None
        return node

    def play(self, pushed: int, popped: int) -> None:
        """Compute everything again, up to the same place as before a number was changed."""
        self.rewind()
        for _ in range(pushed):
            self.push()
        self.sweep(popped)

    def rewind(self) -> None:
        """An empty tape: no module has computed anything."""
        self._pushed = 0
        self.sweep(0)
        for node in self.modules:
            node.value = None

    def sweep(self, popped: int) -> None:
        """The backward sweep from its beginning, until so many modules are popped."""
        self._popped = 0
        for node in self._nodes:
            node.gradient = None
        for _ in range(popped):
            self.pop()

    def is_reached(self, node: Node) -> bool:
        """Whether the module of a value has been popped."""
        return self.is_complete and node in self.modules[self._pushed - self._popped :]

    def is_final(self, node: Node) -> bool:
        """Whether nothing will be added any more to the gradient of a value."""
        return node.gradient is not None and all(map(self.is_reached, node.consumers))

    def _begin_sweep(self) -> None:
        """dy/dy = 1; of an output with several cells their sum is differentiated."""
        if self._popped == 0:
            self.output.gradient = np.ones_like(self.output.numbers)

    def _send_back(self, node: Node) -> None:
        if self._version == SCATTER:
            self._scatter(node)
        else:
            self._gather(node)
        if self.is_swept:
            for left in self._nodes:  # nothing that leads to the output uses these
                if left.gradient is None:
                    left.gradient = _begin(left)

    def _scatter(self, node: Node) -> None:
        """B: add to each input what this module hands back to it."""
        if node.gradient is None:
            node.gradient = _begin(node)
        for input, handed in zip(node.inputs, node.hand_back(), strict=True):
            if input.gradient is None:
                input.gradient = _begin(input)
            input.gradient = input.gradient + handed

    def _gather(self, node: Node) -> None:
        """A: add up what the consumers of this module hand back to it; the same for inputs and
        parameters whose consumers have all been popped."""
        self._collect(node)
        for input in node.inputs:
            if input.kind != COMPUTED and all(map(self.is_reached, input.consumers)):
                self._collect(input)

    def _collect(self, node: Node) -> None:
        if node is self.output:
            return
        total = _begin(node)
        for consumer in dict.fromkeys(node.consumers):
            for input, handed in zip(consumer.inputs, consumer.hand_back(), strict=True):
                if input is node:
                    total = total + handed
        node.gradient = total


def _begin(node: Node) -> np.ndarray:
    """A gradient before anything was added to it: zeros."""
    return np.full_like(node.numbers, node.begins_at)
