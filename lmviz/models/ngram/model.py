"""The n-gram model: predicts the next token from how often it followed the last few tokens."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from lmviz.models.address import Address
from lmviz.models.ngram.configuration import ADD_K, NgramConfiguration
from lmviz.models.ngram.counts import NgramCounts, count_ngrams
from lmviz.models.ngram.level import ABSENT, Level
from lmviz.models.ngram.lookup_model import LookupModel
from lmviz.models.ngram.smoothing import counted_levels, smooth
from lmviz.models.ngram.state import pack, unpack
from lmviz.models.ngram.tables import NgramTables
from lmviz.models.ngram.taps import ngram_stages, ngram_taps
from lmviz.models.tap import Stage, Tap


class Ngram(LookupModel):
    """Maximum likelihood, add-k or interpolated modified Kneser-Ney (see `ngram_smoothing`).

    It learns by `fit`, not by gradients; before, every token is equally likely. START, once known from the
    counts, is never predicted: its logit is -inf, and so is that of all that maximum likelihood has not
    seen.
    """

    family = "ngram"
    configuration: NgramConfiguration
    tables: NgramTables

    def __init__(self, configuration: NgramConfiguration, vocabulary_size: int) -> None:
        super().__init__(configuration, vocabulary_size)
        nothing = np.zeros(0, dtype=np.int64)
        self.fit(count_ngrams(nothing, configuration.order, vocabulary_size, start_id=None))

    def fit(self, counts: NgramCounts) -> None:
        """Predict from these counts from now on; they reach at least up to the model's order."""
        counts = counts.up_to(self.configuration.order)
        self._use(counted_levels(counts, self.configuration), counts.start_id)

    def _use(self, levels: tuple[Level, ...], start_id: int | None) -> None:
        predictable = self.vocabulary_size - (start_id is not None)
        smoothed = tuple(smooth(level, self.configuration, predictable) for level in levels)
        chained = self.configuration.smoothing != ADD_K
        self.tables = NgramTables(smoothed, self.vocabulary_size, start_id, chained)

    def taps(self) -> tuple[Tap, ...]:
        """Contexts, counts and weights from the longest context down, then the interpolation back up."""
        return ngram_taps(self.tables)

    def stages(self) -> tuple[Stage, ...]:
        """The same order for a reader."""
        return ngram_stages(self.configuration)

    def operand(self, source: str, indices: np.ndarray) -> np.ndarray:
        """The numbers of `counts.K`, where an index is the n-gram's ids, or of `discounts.K`; (term,)."""
        table, order = Address.parse(source).parts
        smoothed = self.tables.levels[int(order) - 1]
        if table == "discounts":
            return smoothed.discounts[indices[:, 0]]
        ids = self.tables.index.ids(indices)
        return np.where(ids == ABSENT, 0, np.append(smoothed.level.counts, 0)[ids]).astype(np.float64)

    def state(self) -> dict[str, torch.Tensor]:
        """The counts in small integers."""
        return pack(tuple(smoothed.level for smoothed in self.tables.levels), self.tables.start_id)

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take over counts; LmvizError where they are damaged or of another order or vocabulary."""
        levels, start_id = unpack(state, self.configuration.order, self.vocabulary_size)
        self._use(levels, start_id)

    def exchange_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """The same: tables are replaced as a whole."""
        self.load_state(state)

    def parameter_count(self) -> int:
        """The number of different n-grams counted, of all orders together."""
        return sum(int(np.count_nonzero(smoothed.level.counts)) for smoothed in self.tables.levels)
