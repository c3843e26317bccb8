"""Since when a model knows what it will say, in words that follow from the numbers."""

import numpy as np
import pytest

from lmviz.inspection.lens_sentence import all_settled_in_words, place_in_words, settled_in_words
from lmviz.inspection.logit_lens import LogitLens

LAYERS = ("embedding/sum", "layers/0/residual2", "layers/1/residual2", "layers/2/residual2")
ORDERS = tuple(f"orders/{order}/probabilities" for order in (1, 2, 3))


def lens_of(columns, places=LAYERS):
    """What the likeliest answers by position make of it: "aabb" is "b" from the third place on."""
    ids = np.array([[ord(answer) for answer in column] for column in columns]).T[:, :, None]
    none = np.zeros(ids.shape)
    return LogitLens(places, tuple(range(len(columns))), ids, none, none[..., 0], none[..., 0], none[..., 0])


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("bbbb", "is the likeliest word from the beginning."),
        ("abbb", "is the likeliest word from layer 1 of 3 on."),
        ("babb", "is the likeliest word from layer 2 of 3 on."),
        ("bbab", "becomes the likeliest word only in layer 3, the last."),
    ],
)
def test_since_when_one_is_settled(column, said):
    assert settled_in_words(lens_of([column]), 0) == said


def test_what_is_no_layer_and_no_word_is_called_what_it_is():
    lens = lens_of(["abb"], ORDERS)
    assert settled_in_words(lens, 0, "label") == "is the likeliest label from order 2 on."
    assert settled_in_words(lens_of(["b"], ("hidden",)), 0) == ""
    assert place_in_words("decoder/layers/4/residual2") == "layer 5"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["abbb", "aabb", "aaab"], "Half of the 3 words shown have their final answer by layer 2."),
        (["bbbb", "aaab"], "Half of the 2 words shown have their final answer from the beginning."),
        (
            ["abbb", "aaab", "aaab"],
            "More than half of the 3 words shown have their final answer only in layer 3.",
        ),
        (["abbb"], ""),
    ],
)
def test_by_when_half_are(columns, said):
    assert all_settled_in_words(lens_of(columns)) == said
