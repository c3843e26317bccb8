"""How the number that gradients are taken of is named: its token, its label, its position."""

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.families import build_model, find_family
from lmviz.inspection.scalar import read_scalar
from lmviz.tasks import TASKS
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer


@pytest.fixture(scope="module")
def merging():
    """A model whose tokens are pieces of words: one of them is spelled "Ġcows" and displayed as " cows"."""
    texts = ["the cows eat", "the cows sleep", "the cows eat"]
    tokenizer = train_tokenizer(texts, TokenizerOptions.from_specification("bpe:300"), marks_boundaries=True)
    configuration = find_family("rnn").configuration.from_values({"width": 3})
    model = build_model("rnn", configuration, tokenizer.vocabulary_size, seed=1)
    model.tokenizer = tokenizer
    return model


def test_a_position_that_is_none_is_quoted_with_the_number_of_a_label():
    predicts = TASKS["tagging"].predicts(("noun", "verb"))
    model = build_model("rnn", find_family("rnn").configuration(width=3), 5, 1, predicts)
    with pytest.raises(LmvizError, match="'loss:verb@last' names no position"):
        read_scalar("loss:verb@last", model, np.zeros(3, dtype=np.int64), {})


@pytest.mark.parametrize("word", ["Ġcows", " cows", "cows", "␣cows"])
def test_a_token_is_found_by_its_spelling_and_as_it_is_read(merging, word):
    index = merging.tokenizer.spellings().index("Ġcows")
    scalar = read_scalar(f"logit:{word}@1", merging, np.full(3, index), {})
    assert scalar.cells == ((1, index),)
    assert scalar.name == f"logit:{word}@1"
    assert scalar.said.startswith("logit of “")
    assert scalar.said.endswith("cows” at token 2, “␣cows”")


def test_a_label_can_be_held_against_another_whose_name_has_a_minus():
    predicts = TASKS["tagging"].predicts(("noun", "verb-past"))
    model = build_model("rnn", find_family("rnn").configuration(width=3), 5, 1, predicts)
    scalar = read_scalar("logit:verb-past-noun@1", model, np.zeros(3, dtype=np.int64), {})
    assert (scalar.cells, scalar.against) == (((1, 1),), ((1, 0),))
    with pytest.raises(LmvizError, match="There is no number 'loss:noun-verb-past@1'"):
        read_scalar("loss:noun-verb-past@1", model, np.zeros(3, dtype=np.int64), {})


def test_where_there_is_no_tokenizer_tokens_are_called_by_their_ids():
    model = build_model("rnn", find_family("rnn").configuration(width=3), 5, 1)
    scalar = read_scalar("probability:4-0@1", model, np.zeros(3, dtype=np.int64), {})
    assert (scalar.cells, scalar.against) == (((1, 4),), ((1, 0),))
    with pytest.raises(LmvizError, match="give a token's id"):
        read_scalar("logit:5@1", model, np.zeros(3, dtype=np.int64), {})
