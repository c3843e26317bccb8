"""What is said of predictions is said with their numbers, and nothing where nothing stands out."""

import numpy as np
import pytest

from lmviz.base.figures import percentage
from lmviz.decoding.distribution import next_distribution
from lmviz.decoding.remarks import compared_remark, distribution_remark, draw_remark

TOKENS = ("stone", "spoon", "key", "doll")
LIKELY = np.log([0.6, 0.2, 0.15, 0.05])
FLAT = np.log([0.26, 0.25, 0.25, 0.24])


def test_a_likely_word_is_said_with_the_next_one_and_none_where_all_are_alike():
    said = distribution_remark(next_distribution(LIKELY, tokens=TOKENS))
    assert said == "“stone” has 60.0 %, the next word, “spoon”, 20.0 %."
    assert distribution_remark(next_distribution(FLAT, tokens=TOKENS)) == ""


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"temperature": 0.0}, "Temperature 0 always takes the likeliest word, “stone”, which has 60.0 %."),
        ({"top_k": 1}, "The options leave one word, “stone”, which has 60.0 % without them."),
        (
            {"top_k": 2},
            f"2 of 4 words can be drawn: “stone” has {percentage(0.75)}, and without the options 60",
        ),
        ({"top_p": 0.7}, f"2 of 4 words can be drawn: “stone” has {percentage(0.75)}"),
        ({"min_p": 0.3}, f"2 of 4 words can be drawn: “stone” has {percentage(0.75)}"),
    ],
)
def test_what_the_options_change_is_said(options, part):
    assert part in distribution_remark(next_distribution(LIKELY, **options, tokens=TOKENS))


def test_what_a_temperature_changes_is_that_of_the_softmax():
    squared = np.array([0.6, 0.2, 0.15, 0.05]) ** 2
    said = distribution_remark(next_distribution(LIKELY, temperature=0.5, tokens=TOKENS))
    assert said == f"Temperature 0.5 takes “stone” from 60.0 % to {percentage(0.36 / squared.sum())}."
    assert distribution_remark(next_distribution(FLAT, temperature=2.0, tokens=TOKENS)) == ""


def test_a_draw_that_falls_beyond_the_likeliest_word_says_on_which_it_fell():
    found = next_distribution(LIKELY, tokens=TOKENS)
    assert draw_remark(found, 0.59) == ""
    said = draw_remark(found, 0.85)
    assert said == "0.850 falls beyond “stone”, which ends at 60.0 %, on “key”, 15.0 %."


def test_the_models_furthest_apart_are_named_with_their_shares():
    shares = np.array([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.6, 0.3]])
    said = compared_remark(("one", "two", "three"), shares, TOKENS[:3])
    assert said == "one gives “stone” 70.0 %, three only 10.0 %."


def test_models_that_agree_on_a_likely_word_are_said_to_agree_and_others_are_not():
    agreed = np.array([[0.7, 0.2, 0.1], [0.65, 0.2, 0.15]])
    assert compared_remark(("one", "two"), agreed, TOKENS[:3]) == (
        "All 2 expect the same word: “stone”, with 65.0 % to 70.0 %."
    )
    assert compared_remark(("one", "two"), np.array([[0.27, 0.25], [0.25, 0.27]]), TOKENS[:2]) == ""
    assert compared_remark(("one",), agreed[:1], TOKENS[:3]) == ""
