"""The settings of an n-gram model, readable before torch is loaded."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.base.configuration import setting
from lmviz.models.estimate import NEXT_TOKEN, Asked, Estimate
from lmviz.models.model_configuration import ModelConfiguration

KNESER_NEY = "kneser-ney"
ADD_K = "add-k"
MAXIMUM_LIKELIHOOD = "maximum-likelihood"

HIGHEST_ORDER = 7
"""The longest n-grams that are counted or read."""

BYTES_PER_NGRAM = 40
"""What an n-gram takes in memory: its key, its count, its share, and its place among its neighbours."""


@dataclass(frozen=True)
class NgramConfiguration(ModelConfiguration):
    """An n-gram model: the next token from the last `order` - 1 tokens, by counting."""

    order: int = setting(
        5,
        "How many tokens an n-gram has: the next token is predicted from the order - 1 tokens before it.",
        minimum=1,
        maximum=HIGHEST_ORDER,
    )
    smoothing: str = setting(
        KNESER_NEY,
        "How unseen n-grams get a probability: interpolated modified Kneser-Ney, add-k, or none at all "
        "(maximum likelihood, which falls back to the longest context that was seen).",
        choices=(KNESER_NEY, ADD_K, MAXIMUM_LIKELIHOOD),
    )
    added: float = setting(
        1.0,
        "The k of add-k: what is added to the count of every token. 1 is Laplace's rule.",
        label="k",
        minimum=1e-9,
        maximum=1e6,
        advanced=True,
    )

    def used(self) -> frozenset[str]:
        return self.names() - ({"added"} if self.smoothing != ADD_K else set())

    def estimate(self, vocabulary_size: int, batch: int, length: int, asked: Asked = NEXT_TOKEN) -> Estimate:
        """What counting `batch` * `length` tokens costs at most: each ends one new n-gram of every order."""
        tokens = batch * length
        ngrams = vocabulary_size + sum(
            min(tokens, vocabulary_size**order) for order in range(2, self.order + 1)
        )
        comparisons = tokens * max(1, tokens.bit_length()) * self.order  # sorting
        return Estimate(parameters=ngrams, bytes=BYTES_PER_NGRAM * ngrams, operations_per_step=comparisons)
