"""N-gram models of other programs, which list probabilities instead of counts."""

from __future__ import annotations

import numpy as np

from lmviz.models.address import Address
from lmviz.models.ngram.backoff_tables import BackoffTables
from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.ngram.lookup_model import LookupModel
from lmviz.models.operations.ngram_backoff import ListedBackoff, ListedProbability
from lmviz.models.operations.ngram_lookup import MatchedContext, address_of
from lmviz.models.operations.ngram_smoothing import Logarithm
from lmviz.models.operations.rows import Softmax
from lmviz.models.tap import Stage, Tap

LISTED = r"p(w \mid c) = p_{list}(c\,w) \quad \text{or else} \quad \beta(c) \, p(w \mid c')"


class BackoffNgram(LookupModel):
    """An n-gram model that was read, not counted. `words` are its tokens as the file spells them, by id.

    It cannot be trained any further.
    """

    family = "ngram"
    tables: BackoffTables

    def __init__(self, tables: BackoffTables, words: tuple[str, ...]) -> None:
        super().__init__(NgramConfiguration(tables.order), len(words))
        self.tables = tables
        self.words = words

    def taps(self) -> tuple[Tap, ...]:
        """Contexts and backoff weights from the longest down, then the probabilities back up."""
        taps = []
        for order in range(self.tables.order, 0, -1):
            matched = MatchedContext(self.tables, order)
            taps.append(Tap(address_of(order, "context"), ("position", "order"), matched, "token"))
            backoff = ListedBackoff(self.tables, order)
            taps.append(Tap(address_of(order, "backoff"), ("position",), backoff, "share"))
        row = ("position", "token")
        for order in range(1, self.tables.order + 1):
            listed = ListedProbability(self.tables, order)
            taps.append(Tap(address_of(order, "probabilities"), row, listed, "share"))
        last = address_of(self.tables.order, "probabilities")
        taps.append(Tap("logits", row, Logarithm(last), "score"))
        taps.append(Tap("probabilities", row, Softmax("logits"), "share"))
        return tuple(taps)

    def stages(self) -> tuple[Stage, ...]:
        """The match of each order from the longest down, then the probabilities back up."""
        stages = []
        for order in range(self.tables.order, 0, -1):
            results = tuple(address_of(order, name) for name in ("context", "backoff"))
            stages.append(Stage(f"The context of order {order}", r"\beta(c)", results, (), f"orders/{order}"))
        for order in range(1, self.tables.order + 1):
            names = ("context", "backoff")
            operands = [address_of(order, name) for name in names]
            operands.extend([address_of(order - 1, "probabilities")] if order > 1 else [])
            result = address_of(order, "probabilities")
            title = f"Order {order}: listed, or backed off"
            stages.append(Stage(title, LISTED, (result,), tuple(operands), f"orders/{order}"))
        last = address_of(self.tables.order, "probabilities")
        stages.append(Stage("Logits", r"z(w) = \ln p(w \mid c)", ("logits",), (last,), "output"))
        softmax = r"p(w \mid c) = \frac{e^{z(w)}}{\sum_v e^{z(v)}}"
        stages.append(Stage("Probabilities", softmax, ("probabilities",), ("logits",), "output"))
        return tuple(stages)

    def operand(self, source: str, indices: np.ndarray) -> np.ndarray:
        """The numbers of `probabilities.K` or `backoffs.K` at an n-gram's or a context's ids; (term,)."""
        table, order = Address.parse(source).parts
        listed = self.tables.levels[int(order) - 1]
        ids = self.tables.index.ids(indices)
        return listed.backoffs[ids] if table == "backoffs" else np.append(listed.probabilities, 0.0)[ids]

    def parameter_count(self) -> int:
        """The number of n-grams listed."""
        return sum(len(listed.level) for listed in self.tables.levels)
