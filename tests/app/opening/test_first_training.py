"""What the tour trains pays off within a minute: it writes sentences from the first text."""

import time

import pytest

from lmviz.api.training import load_corpus, split_settings
from lmviz.app.window.lessons import perspective_names
from lmviz.lessons.shipped import TOUR, shipped_lessons
from lmviz.runs.preparation import rehearse

MOST = 75.0
"""Seconds of one core, which are less than a minute of two."""

READABLE = 1.6
"""Nats per word below which whole sentences are right; the 5-gram has 1.46, a bigram 2.84."""


@pytest.mark.slow
@pytest.mark.timeout(600)  # on a loaded machine, whose clock on the wall says nothing here
def test_the_training_of_the_tour_writes_readably_within_a_minute() -> None:
    tour = next(lesson for lesson in shipped_lessons(perspective_names()) if lesson.name == TOUR)
    opened = {opening.kind: opening for opening in tour.steps[-1].openings}
    corpus, plan = load_corpus(opened["text"].words), opened["plan"]
    began, losses = time.thread_time(), []
    for progress in rehearse(plan.words, *split_settings(plan.words, plan.settings), corpus):
        if progress.validation_loss is not None:
            losses.append(progress.validation_loss)
    assert progress.finished
    assert losses[-1] < READABLE
    assert time.thread_time() - began < MOST
