"""What the tour trains pays off within a minute: it writes sentences from the first text."""

import time

import pytest

from lmviz.api import load_corpus
from lmviz.app.session.offers import FIRST_TEXT, FIRST_TRAINING
from lmviz.families import FAMILIES
from lmviz.preparation import rehearse
from lmviz.training.options import TrainingOptions

MOST = 75.0
"""Seconds of one core, which are less than a minute of two."""

READABLE = 1.6
"""Nats per word below which whole sentences are right; the 5-gram has 1.46, a bigram 2.84."""


@pytest.mark.slow
@pytest.mark.timeout(600)  # on a loaded machine, whose clock on the wall says nothing here
def test_the_training_of_the_tour_writes_readably_within_a_minute() -> None:
    corpus = load_corpus(FIRST_TEXT)
    configuration = FAMILIES[FIRST_TRAINING.family].configuration(**FIRST_TRAINING.model)
    options = TrainingOptions.from_values({**TrainingOptions().to_values(), **FIRST_TRAINING.training})
    began, losses = time.thread_time(), []
    for progress in rehearse(FIRST_TRAINING.family, configuration, options, corpus):
        if progress.validation_loss is not None:
            losses.append(progress.validation_loss)
    assert progress.finished
    assert losses[-1] < READABLE
    assert time.thread_time() - began < MOST
