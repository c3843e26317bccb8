"""Beam search that records every text it considered, including those it pruned.

At each step every unfinished text offers some of its continuations, the likeliest or drawn ones; of all
offers the `width` with the largest log-probability are kept. A text that reaches END leaves the beam as
finished and its place stays empty (Sutskever, Vinyals and Le 2014). Texts of different lengths are compared
by log-probability over ((5 + length) / 6)^α, the length normalisation of Wu et al. (2016).
"""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import Candidate, Distribution
from lmviz.decoding.options import BeamOptions, SamplingOptions
from lmviz.decoding.sampling import distribution_after
from lmviz.looks.shown import Shown

if TYPE_CHECKING:
    from lmviz.models.model import Model

PRUNED, KEPT, FINISHED = "pruned", "kept", "finished"


@dataclass(frozen=True)
class BeamNode:
    """One token offered as the continuation of one text.

    `index` is its place in `BeamTree.nodes` and `parent` that of the text before it, -1 at the root,
    which stands for the prefix. `log_probability` (nats) is the token's own, `total` that of all tokens
    from the root, and `score` is `total` after length normalisation. `state` is "kept", "finished" at
    END, or "pruned". `rank` is its place among the offers of its step, from 1. `text` is the whole text.
    """

    index: int
    parent: int
    depth: int
    id: int
    token: str
    text: str
    log_probability: float
    total: float
    score: float
    rank: int
    state: str

    @property
    def probability(self) -> float:
        """The token's own, given the text before it."""
        return math.exp(self.log_probability)


@dataclass(frozen=True, repr=False)
class BeamTree(Shown):
    """All nodes weighed so far, parents first; `live` are the indices of the texts that still grow."""

    nodes: tuple[BeamNode, ...]
    live: tuple[int, ...]
    options: BeamOptions

    @property
    def depth(self) -> int:
        """The number of steps so far."""
        return self.nodes[-1].depth

    def path(self, node: BeamNode) -> tuple[BeamNode, ...]:
        """The nodes from the first token to this one, without the root; LmvizError for what is no node."""
        if not isinstance(node, BeamNode):
            raise LmvizError(f"{node!r} is not a node: give one of tree.nodes, such as tree.best.")
        path = []
        while node.parent >= 0:
            path.append(node)
            node = self.nodes[node.parent]
        return tuple(reversed(path))

    def children(self, node: BeamNode) -> tuple[BeamNode, ...]:
        """What was offered after this node, likeliest first."""
        found = [other for other in self.nodes if other.parent == node.index]
        return tuple(sorted(found, key=lambda other: -other.log_probability))

    @property
    def results(self) -> tuple[BeamNode, ...]:
        """The ends of the finished texts and of those that still grow, best score first."""
        ends = [node for node in self.nodes if node.state == FINISHED or node.index in self.live]
        return tuple(sorted(ends, key=lambda node: -node.score))

    @property
    def best(self) -> BeamNode:
        """The end of the best text."""
        return self.results[0]


def length_normaliser(length: int, penalty: float, formula: str = "shifted") -> float:
    """What a log-probability of `length` tokens is divided by, by one of `LENGTH_FORMULAS`.

    Shifted is ((5 + length) / 6) to the power of `penalty` (Wu et al. 2016, equation 14); plain is the length
    itself to that power, as Hugging Face's transformers has it.
    """
    return float((length if formula == "plain" else (5 + length) / 6) ** penalty)


def beam_search(
    model: Model, prefix: str | Sequence[int] | np.ndarray, options: BeamOptions | None = None
) -> BeamTree:
    """The whole tree of a beam search after a prefix. LmvizError when the prefix cannot be read."""
    return deque(grow_beam(model, prefix, options), maxlen=1).pop()


def grow_beam(
    model: Model, prefix: str | Sequence[int] | np.ndarray, options: BeamOptions | None = None
) -> Iterator[BeamTree]:
    """The tree after each step, the bare prefix first, until the length is reached or all texts ended."""
    options = options or BeamOptions()
    start = Continuation.of(model, prefix)
    root = BeamNode(0, -1, 0, -1, "", start.text, 0.0, 0.0, 0.0, 1, KEPT)
    tree = BeamTree((root,), (0,), options)
    read = {0: start}
    yield tree
    while tree.live and tree.depth < options.length:
        # Only now are the newest tokens read, so that the last step reads none in vain.
        new = [tree.nodes[index] for index in tree.live if index not in read]
        grown = Continuation.extended_together([(read[node.parent], node.id) for node in new])
        read |= {node.index: longer for node, longer in zip(new, grown, strict=True)}
        read = {index: read[index] for index in tree.live}
        tree = _one_step(tree, read)
        yield tree


def _one_step(tree: BeamTree, read: dict[int, Continuation]) -> BeamTree:
    options = tree.options
    finished = sum(node.state == FINISHED for node in tree.nodes)
    offers = sorted(
        (offer for index in tree.live for offer in _offers(tree, tree.nodes[index], read[index])),
        key=lambda node: (-node.total, node.parent, node.id),
    )
    nodes, live = list(tree.nodes), []
    for place, offer in enumerate(offers):
        state = KEPT if place < options.width - finished else PRUNED
        if state == KEPT and options.stop_at_end and read[offer.parent].is_end(offer.id):
            state = FINISHED
        if state == KEPT:
            live.append(len(nodes))
        nodes.append(dataclasses.replace(offer, index=len(nodes), rank=place + 1, state=state))
    return BeamTree(tuple(nodes), tuple(live), options)


def _offers(tree: BeamTree, node: BeamNode, continuation: Continuation) -> Iterator[BeamNode]:
    """Continuations of a text, likeliest first; more than `width` of the likeliest could not all be kept."""
    options = tree.options
    distribution = distribution_after(continuation, SamplingOptions())
    count = min(options.continuations or options.width, distribution.choices)
    normaliser = length_normaliser(node.depth + 1, options.length_penalty, options.length_formula)
    for candidate in _chosen(distribution, count, options, node.index):
        log_probability = float(np.log(candidate.probability))
        total = node.total + log_probability
        yield BeamNode(
            index=-1,
            parent=node.index,
            depth=node.depth + 1,
            id=candidate.id,
            token=candidate.token,
            text=continuation.text_with(candidate.id),
            log_probability=log_probability,
            total=total,
            score=total / normaliser,
            rank=0,
            state=PRUNED,
        )


def _chosen(distribution: Distribution, count: int, options: BeamOptions, node: int) -> tuple[Candidate, ...]:
    """So many of the tokens that can follow a node: the likeliest, or drawn one after the other."""
    if options.choice == "likeliest":
        return distribution.top(count)
    shares = distribution.probabilities[distribution.order]
    chance = np.random.default_rng((options.seed, node))
    ranks = 1 + chance.choice(len(shares), count, replace=False, p=shares / shares.sum())
    return tuple(distribution.candidate(int(rank)) for rank in np.sort(ranks))
