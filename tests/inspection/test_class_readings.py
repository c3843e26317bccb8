"""A classifier read again and again: after each word, and without each word."""

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.families import build_model, find_family
from lmviz.inspection import class_readings
from lmviz.inspection.class_readings import read_beginnings, read_classes
from lmviz.inspection.interventions import scale
from lmviz.inspection.tracing import trace
from lmviz.tasks import TASKS

IDS = [3, 1, 4, 1, 5]


@pytest.fixture
def classifier():
    configuration = find_family("lstm").configuration(width=5, layers=1)
    model = build_model("lstm", configuration, 7, 0, TASKS["classification"].predicts(("good", "bad")))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return model.eval().requires_grad_(False)


def answer(model, ids, changes=()):
    return trace(model, ids, interventions=changes)["probabilities"].array


@pytest.mark.parametrize("changes", [(), (scale("layers/0/hidden", 0.5),)])
def test_each_row_is_the_answer_for_that_text(classifier, changes):
    found = read_classes(classifier, IDS, changes)
    for place in range(len(IDS)):
        without = IDS[:place] + IDS[place + 1 :]
        beginning = answer(classifier, IDS[: place + 1], changes)
        np.testing.assert_allclose(found.beginnings[place], beginning, atol=1e-6)
        np.testing.assert_allclose(found.without[place], answer(classifier, without, changes), atol=1e-6)
    for label in (0, 1):
        expected = found.without[:, label] - answer(classifier, IDS, changes)[label]
        np.testing.assert_allclose(found.effects(label), expected, atol=1e-6)
    assert np.abs(found.effects(0)).max() > 1e-3


def test_without_its_only_word_nothing_is_left(classifier):
    found = read_classes(classifier, [3])
    assert np.isnan(found.without).all()
    np.testing.assert_allclose(found.beginnings, answer(classifier, [3])[None], atol=1e-6)


def test_of_a_long_text_the_last_words_are_read(classifier, monkeypatch):
    monkeypatch.setattr(class_readings, "LONGEST", 2)
    found = read_classes(classifier, IDS)
    for rows in (found.beginnings, found.without):
        assert np.isnan(rows[:3]).all()
        assert np.isfinite(rows[3:]).all()
    np.testing.assert_allclose(read_beginnings(classifier, IDS)[-1], answer(classifier, IDS), atol=1e-6)


def test_who_answers_for_each_word_is_refused(a):
    with pytest.raises(LmvizError, match=r"predicts .*: open a classifier"):
        read_classes(a("lstm"), IDS)
