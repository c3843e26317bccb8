"""A reading names what its model predicts: tokens of the vocabulary, or labels."""

from types import SimpleNamespace

import numpy as np
import pytest
import two_sequences

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


def test_what_stands_along_the_source_is_called_by_the_words_of_the_source():
    words = np.array([0, 2, 3])
    traced = trace(two_sequences.build(), words[:2], source=words)
    found = Reading(traced, None, SimpleNamespace(tokenizer=None, folder="run"), 0)
    assert found.names("source") == list(traced.sequences["source"].tokens)
    assert found.cell_name(("source", "unit"), (2, 0)) == f"source 3 “{found.names('source')[2]}”, unit 1"
    assert found.cell_name(("position", "source"), (1, 2)).startswith("position 2 “")
    assert found.names("unit") == []
