"""What taggers and classifiers answer, and over which labels at a place of the text."""

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.decoding.labels import label, label_distribution
from lmviz.families import FAMILIES, build_model
from lmviz.tasks import TASKS
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer

TEXT, NAMES = "cows eat corn", ("noun", "verb", "other")


def answering(task):
    tokenizer = train_tokenizer([TEXT], TokenizerOptions.from_specification("words"), marks_boundaries=False)
    predicts = TASKS[task].predicts(NAMES)
    configuration = FAMILIES["lstm"].configuration(width=5, layers=1, direction="both")
    model = build_model("lstm", configuration, tokenizer.vocabulary_size, 3, predicts).eval()
    model.tokenizer = tokenizer
    return model


def test_a_tagger_answers_for_each_token_with_its_likeliest_label():
    model = answering("tagging")
    found = label(model, TEXT)
    with torch.no_grad():
        logits = model(torch.from_numpy(np.array([model.tokenizer.encode(TEXT)])))[0].double()
    assert found.names == NAMES
    np.testing.assert_allclose(found.probabilities, logits.softmax(-1).numpy())
    assert found.labels == tuple(NAMES[place] for place in logits.argmax(-1))
    assert len(found.tokens) == len(found.labels) == 3


@pytest.mark.parametrize(("end", "place"), [(1, 0), (4, 0), (5, 1), (8, 1), (12, 2), (13, 2), (99, 2)])
def test_the_distribution_is_that_of_the_token_which_holds_the_place(end, place):
    model = answering("tagging")
    found = label_distribution(model, TEXT, end)
    np.testing.assert_allclose(found.probabilities, label(model, TEXT).probabilities[place])
    assert {row.token for row in found.top(9)} == set(NAMES)


@pytest.mark.parametrize("end", [0, 13])
def test_a_classifier_has_one_answer_wherever_the_place_is(end):
    model = answering("classification")
    answer, found = label(model, TEXT), label_distribution(model, TEXT, end)
    assert answer.labels == (NAMES[int(answer.probabilities.argmax())],)
    np.testing.assert_allclose(found.probabilities, answer.probabilities)
    assert found.top(1)[0].token == answer.labels[0]


def test_a_language_model_gives_no_labels():
    with pytest.raises(LmvizError, match=r"gives no labels: ask it with lmviz\.next_token"):
        label(answering("next-token"), TEXT)
