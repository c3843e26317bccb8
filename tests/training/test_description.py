"""What a run says of itself beyond what is tested with its file in test_run.py."""

import json
import platform

import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.training.description import LARGEST_VOCABULARY, RunDescription, describe_corpus, versions


@pytest.mark.parametrize(
    ("recorded", "expected"), [(4.5, 4.5), (3, 3.0), (0, None), (-1.0, None), ("4", None), (True, None)]
)
def test_characters_per_token_are_a_positive_number_or_unknown(recorded, expected):
    description = RunDescription("run", "lstm", {}, 7, corpus={"characters_per_token": recorded})
    assert description.characters_per_token == expected
    assert RunDescription("run", "lstm", {}, 7).characters_per_token is None


@pytest.mark.parametrize(
    ("recorded", "expected"), [(15, 15), (0, None), (-1, None), (3.5, None), (True, None)]
)
def test_the_longest_source_is_a_positive_whole_number_or_unknown(recorded, expected):
    description = RunDescription("run", "gru", {}, 7, corpus={"longest_source": recorded})
    assert description.longest_source == expected
    assert RunDescription("run", "gru", {}, 7).longest_source is None


def test_the_longest_source_is_that_of_the_pairs_that_are_learned_from():
    corpus = lmviz.load_corpus("backwards", span=4, validation=0.5)
    assert describe_corpus(corpus)["longest_source"] == 4  # without END
    assert describe_corpus(lmviz.load_corpus("farm"))["longest_source"] is None


def test_what_has_labels_and_no_pairs_has_no_longest_source(tmp_path):
    (tmp_path / "tagged.txt").write_text("the/d cat/n runs/v\n", encoding="utf-8")
    corpus = lmviz.load_corpus(tmp_path / "tagged.txt", task="tagging", validation=0.0)
    assert describe_corpus(corpus)["longest_source"] is None


def as_read(size):
    """What the file of a run with a vocabulary of this size holds."""
    return json.loads(json.dumps(RunDescription("run", "lstm", {}, size).to_values()))


@pytest.mark.parametrize("size", [1, 7, LARGEST_VOCABULARY])
def test_a_vocabulary_of_any_size_that_can_be_is_read_again(size):
    assert RunDescription.from_values(as_read(size)).vocabulary_size == size


@pytest.mark.parametrize("size", [0, LARGEST_VOCABULARY + 1])
def test_a_vocabulary_that_cannot_be_is_refused(size):
    with pytest.raises(LmvizError, match=f"cannot have {size} tokens"):
        RunDescription.from_values(as_read(size))


def test_a_fingerprint_that_was_not_recorded_is_empty():
    assert RunDescription("run", "lstm", {}, 7).fingerprint == ""


def test_the_versions_of_what_decides_about_numbers_are_told():
    found = versions()
    assert set(found) == {"python", "lmviz", "torch", "numpy", "tokenizers"}
    assert found["lmviz"] == lmviz.__version__
    assert platform.python_version().startswith(found["python"])
    assert found["python"].count(".") == 2
