"""How often something was written down, in words."""

import pytest

from lmviz.training.spacing import spacing_in_words


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([], ""),
        ([7], "step 7"),
        ([0, 50], "steps 0 and 50"),
        (range(10, 1000, 10), "each 10 steps"),
        (range(1, 5), "each step"),
        ([0, *range(10, 1010, 10), 1003], "mostly each 10 steps"),
        ([0, 1, 2, 4, 8, 512], "from step 0 to 512"),
    ],
)
def test_distances_are_said(steps, words):
    assert spacing_in_words(list(steps)) == words
