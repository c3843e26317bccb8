"""Batches of whole sentences, by shuffled epochs: each is learned from once before any comes again.

Sentences of similar length stand in one batch, so that little of it is padding.
"""

from __future__ import annotations

import numpy as np

from lmviz.models.model import IGNORED
from lmviz.training.batches import Batch, Batches
from lmviz.training.distributed import Team
from lmviz.training.options import TrainingOptions
from lmviz.training.pieces import Pieces

POOL = 64
"""How many batches of shuffled sentences are sorted by length together: enough that lengths are alike, and
so few that a batch meets ever other company."""


class Sentences(Batches):
    """Pieces in an order that depends on the seed and the epoch alone."""

    def __init__(self, pieces: Pieces, options: TrainingOptions, team: Team) -> None:
        self.length = int(pieces.lengths.max())
        self._pieces = pieces
        self._seed = options.seed
        self._rows = options.batch * team.size
        self._team = team
        self._batches = -(-len(pieces) // self._rows)
        self._epoch = -1
        self._order: list[np.ndarray] = []

    def batch(self, step: int) -> Batch:
        """See Batches."""
        epoch, place = divmod(step, self._batches)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, self._shuffled(epoch)
        whole = self._order[place]
        own = np.array_split(whole, self._team.size)[self._team.rank]
        counts = len(own) > 0
        read = own if counts else whole[:1]
        tokens, targets, lengths = self._pieces.side_by_side(read)
        if not counts:  # the last batch of an epoch may have fewer sentences than there are processes
            targets[:] = IGNORED
        wanted = self._pieces.targets
        share = float(wanted[own].sum() / wanted[whole].sum())
        padded = bool((lengths < tokens.shape[1]).any())
        beside = self._pieces.beside(read)
        return Batch(tokens, targets, share, True, lengths if padded else None, beside)

    def _shuffled(self, epoch: int) -> list[np.ndarray]:
        """The pieces of each batch of an epoch."""
        chance = np.random.default_rng((self._seed, epoch))
        order, sizes = chance.permutation(len(self._pieces)), self._pieces.sizes
        batches: list[np.ndarray] = []
        for first in range(0, len(order), POOL * self._rows):
            pool = order[first : first + POOL * self._rows]
            pool = pool[np.argsort(sizes[pool], kind="stable")]
            batches += [pool[at : at + self._rows] for at in range(0, len(pool), self._rows)]
        return [batches[place] for place in chance.permutation(len(batches))]
