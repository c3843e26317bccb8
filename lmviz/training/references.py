"""The loss of simple n-gram models on a text, as reference lines for a loss curve."""

from __future__ import annotations

import numpy as np

from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.model import Ngram
from lmviz.training.counting import mean_loss

ORDERS = {"unigram": 1, "bigram": 2, "5-gram Kneser-Ney": 5}
TRAINING_TOKENS = 1_500_000
VALIDATION_TOKENS = 100_000


def reference_losses(
    training: np.ndarray, validation: np.ndarray, vocabulary_size: int, *, ignored_target: int | None = None
) -> dict[str, float]:
    """The validation loss of n-gram models with Kneser-Ney smoothing, nats per token, by name.

    Of longer texts only the first TRAINING_TOKENS and VALIDATION_TOKENS ids are read, so that it takes
    two seconds at most. Empty where the validation text has nothing to predict.
    """
    counts = count_ngrams(training[:TRAINING_TOKENS], max(ORDERS.values()), vocabulary_size, ignored_target)
    ids = validation[:VALIDATION_TOKENS]
    losses = {}
    for name, order in ORDERS.items():
        model = Ngram(NgramConfiguration(order), vocabulary_size)
        model.fit(counts)
        loss = mean_loss(model, ids, 0, len(ids), ignored_target)
        if loss is not None:
            losses[name] = loss
    return losses
