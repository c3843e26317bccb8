"""The two heads that find a word again, by their scores, and the word that they should find."""

import numpy as np
import pytest

import lmviz
from lmviz.circuits.head_pair import chance_of, head_pair, said_before
from lmviz.circuits.head_scores import SCORES, HeadScores


def scores(**heads):
    """Scores of three layers of two heads, of which some (layer, head) do one thing: previous_0_1=0.6."""
    array = np.full((len(SCORES), 3, 2), 0.02)
    for name, share in heads.items():
        score, layer, head = name.split("_")
        array[SCORES.index(score), int(layer), int(head)] = share
    ids = np.zeros((1, 33), dtype=np.int64)
    return HeadScores(
        array=array,
        axes=("score", "layer", "head"),
        names={},
        ids=ids,
        words=16,
        loss_new=5.0,
        loss_again=1.0,
    )


@pytest.mark.parametrize(
    ("found", "pair"),
    [
        ({"previous_0_1": 0.6, "induction_1_0": 0.5}, ((0, 1), (1, 0))),
        ({"previous_0_1": 0.4, "previous_1_0": 0.6, "induction_2_0": 0.5}, ((1, 0), (2, 0))),
        ({"previous_1_1": 0.6, "induction_1_0": 0.5}, None),
        ({"previous_1_1": 0.6, "induction_1_0": 0.9, "induction_2_1": 0.5}, ((1, 1), (2, 1))),
        ({"previous_0_1": 0.6, "induction_1_0": 0.1}, None),
        ({}, None),
    ],
)
def test_an_induction_head_goes_with_a_head_before_it_that_looks_at_the_word_before(found, pair):
    found = head_pair(scores(**found))
    assert (None if found is None else (found.before, found.follows)) == pair


@pytest.mark.parametrize(
    ("ids", "place"),
    [([0, 5, 6, 7, 5], 2), ([5, 6, 5, 7, 5], 3), ([5, 5], 1), ([0, 5, 6], None), ([4], None)],
)
def test_the_word_to_find_is_the_one_that_followed_last_time(ids, place):
    assert said_before(ids) == place


def test_the_sample_that_repeats_has_them_and_knows_the_word():
    model = lmviz.open_model("echo-transformer")
    pair = head_pair(lmviz.head_scores("echo-transformer"))
    assert (pair.before[0], pair.follows[0]) == (0, 1)
    text = "chair apple queen map chair apple egg rope queen"
    trace = lmviz.trace(model, text)
    found = int(trace.ids[said_before(trace.ids)])
    assert model.tokenizer.token(found) == "map"
    assert chance_of(model, text, found) == pytest.approx(lmviz.next_token(model, text).probability_of(found))
    assert (
        chance_of(model, text, found)
        > 0.5
        > chance_of(lmviz.open_model("echo-transformer", step=0), text, found)
    )
