"""A reading names what its model predicts: tokens of the vocabulary, or labels."""

from types import SimpleNamespace

import pytest

from lmviz.app.session.reading import Reading
from lmviz.families import FAMILIES, build_model
from lmviz.inspection.tracing import trace
from lmviz.tasks import TASKS
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    words = TokenizerOptions.from_specification("words")
    return train_tokenizer(["the cat runs"], words, marks_boundaries=False)


def reading(tokenizer, task):
    configuration = FAMILIES["gru"].configuration(width=4, direction="both")
    predicts = TASKS[task].predicts(("noun", "verb"))
    model = build_model("gru", configuration, tokenizer.vocabulary_size, 0, predicts)
    model.tokenizer = tokenizer
    opened = SimpleNamespace(tokenizer=tokenizer, folder="run")
    return Reading(trace(model.eval(), "the cat"), None, opened, 0)


@pytest.mark.parametrize("task", ["tagging", "classification"])
def test_labels_are_called_by_their_names(tokenizer, task):
    found = reading(tokenizer, task)
    assert found.answers == ("noun", "verb")
    assert found.answer(1) == found.word("label", 1) == "verb"


def test_tokens_are_called_as_the_vocabulary_has_them(tokenizer):
    found = reading(tokenizer, "next-token")
    cat = tokenizer.id_of("cat")
    assert found.answer(cat) == found.word("token", cat) == "cat"
