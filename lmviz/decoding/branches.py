"""The tree of all tokens drawn or chosen after a prefix, so that one can return to any of them.

Plain immutable values: every change gives a new tree, which holds all the nodes of the old one.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Self

from lmviz.base.errors import LmvizError
from lmviz.decoding.sampling import SamplingStep


@dataclass(frozen=True)
class Alternative:
    """A token that could have come at a place, with its probability there."""

    id: int
    token: str
    probability: float


@dataclass(frozen=True)
class Branch:
    """One token after another.

    `index` is its place in `Branches.nodes`, `parent` that of the node before it, -1 at the root, which
    stands for the prefix. `draws` are all the uniform draws that landed on it here. `probability` is the
    one it had, after all filters, when it was last reached. `text` is the whole text. `alternatives` are the
    likeliest tokens after it, known once something was chosen there.
    """

    index: int
    parent: int
    id: int
    token: str
    text: str
    probability: float
    draws: tuple[float, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    is_end: bool = False


@dataclass(frozen=True)
class Branches:
    """All branches, parents first, and `current`, the node from which the next token is chosen."""

    nodes: tuple[Branch, ...]
    current: int = 0

    @classmethod
    def of(cls, text: str) -> Self:
        """A tree of the bare prefix."""
        return cls((Branch(0, -1, -1, "", text, 1.0),))

    @property
    def node(self) -> Branch:
        """The current node."""
        return self.nodes[self.current]

    @property
    def prefix(self) -> str:
        """The text at the root."""
        return self.nodes[0].text

    @property
    def draws(self) -> int:
        """How many draws are kept, in all branches."""
        return sum(len(node.draws) for node in self.nodes)

    def path(self, index: int | None = None) -> tuple[Branch, ...]:
        """The nodes from the first token to a node, the current one by default, without the root."""
        node = self.nodes[self.current if index is None else index]
        path = []
        while node.parent >= 0:
            path.append(node)
            node = self.nodes[node.parent]
        return tuple(reversed(path))

    def chosen(self, index: int | None = None) -> tuple[int, ...]:
        """The ids along the path, as `Continuation.of` takes them."""
        return tuple(node.id for node in self.path(index))

    def children(self, index: int | None = None) -> tuple[Branch, ...]:
        """What was reached from a node, the current one by default, in the order in which it was."""
        index = self.current if index is None else index
        return tuple(node for node in self.nodes if node.parent == index)

    def grown(self, step: SamplingStep, alternatives: int = 4) -> Branches:
        """The tree after a step from the current node, standing on its token.

        A token reached before from here is the same node, with one more draw. The `alternatives`
        likeliest tokens of the step's distribution are kept with the current node.
        """
        draws = () if step.draw is None else (step.draw,)
        offered = tuple(
            Alternative(candidate.id, candidate.token, candidate.probability)
            for candidate in step.distribution.top(alternatives)
            if candidate.probability > 0
        )
        here = dataclasses.replace(self.node, alternatives=offered)
        nodes = (*self.nodes[: self.current], here, *self.nodes[self.current + 1 :])
        known = next((node for node in self.children() if node.id == step.id), None)
        if known is not None:
            reached = dataclasses.replace(known, draws=known.draws + draws, probability=step.probability)
            return Branches((*nodes[: known.index], reached, *nodes[known.index + 1 :]), known.index)
        reached = Branch(
            index=len(nodes),
            parent=self.current,
            id=step.id,
            token=step.token,
            text=step.text,
            probability=step.probability,
            draws=draws,
            is_end=step.is_end,
        )
        return Branches((*nodes, reached), reached.index)

    def at(self, index: int) -> Branches:
        """The same tree, standing on another node."""
        if not 0 <= index < len(self.nodes):
            raise LmvizError(f"There is no branch {index}: the tree has {len(self.nodes)} nodes.")
        return dataclasses.replace(self, current=index)

    def back(self) -> Branches:
        """One token back; nothing is lost. At the root it stays there."""
        return self.at(max(0, self.node.parent))
