"""What a run says of itself beyond what is tested with its file in test_run.py."""

import pytest

import lmviz
from lmviz.training.description import RunDescription, versions


@pytest.mark.parametrize(
    ("recorded", "expected"), [(4.5, 4.5), (3, 3.0), (0, None), (-1.0, None), ("4", None), (True, None)]
)
def test_characters_per_token_are_a_positive_number_or_unknown(recorded, expected):
    description = RunDescription("run", "lstm", {}, 7, corpus={"characters_per_token": recorded})
    assert description.characters_per_token == expected
    assert RunDescription("run", "lstm", {}, 7).characters_per_token is None


def test_a_fingerprint_that_was_not_recorded_is_empty():
    assert RunDescription("run", "lstm", {}, 7).fingerprint == ""


def test_the_versions_of_what_decides_about_numbers_are_told():
    found = versions()
    assert set(found) == {"python", "lmviz", "torch", "numpy", "tokenizers"}
    assert found["lmviz"] == lmviz.__version__
    assert found["python"].count(".") == 2
