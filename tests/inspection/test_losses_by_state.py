"""How the sizes of gradients of every loss by every state are told apart and cut off."""

import numpy as np
import pytest

from lmviz.inspection.losses_by_state import DEEPEST, LossesByState


def found(*rows):
    norms = np.array(rows, dtype=np.float32)
    targets = np.arange(1, len(rows) + 1)
    return LossesByState("layers/0/hidden", targets, np.ones(len(rows)), norms)


def test_powers_of_ten_are_counted_from_the_smallest_share_of_a_row():
    triangle = found([2, 0, 0], [0.05, 5, 0], [0.04, 0.4, 0.4])
    assert triangle.depth == 2
    expected = [[2, np.nan, np.nan], [0, 2, np.nan], [1, 2, 2]]
    np.testing.assert_allclose(triangle.decades, expected, atol=1e-6)


@pytest.mark.parametrize(("smallest", "depth"), [(1.0, 1), (0.5, 1), (0.02, 2), (1e-7, 7), (1e-30, DEEPEST)])
def test_the_depth_is_at_least_1_and_has_an_end(smallest, depth):
    assert found([1, 0], [smallest, 1]).depth == depth


def test_what_has_vanished_lies_at_the_bottom_and_makes_nothing_deeper():
    triangle = found([1, 0, 0], [0, 1, 0], [0, 0, 0])
    assert triangle.depth == 1
    np.testing.assert_allclose(triangle.decades, [[1, np.nan, np.nan], [0, 1, np.nan], [0, 0, 0]])


def test_truncation_keeps_a_band_of_the_triangle():
    triangle = found([1, 0, 0], [1, 1, 0], [1, 1, 1])
    assert triangle.within(2).astype(int).tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    assert np.array_equal(triangle.within(3), np.tri(3, dtype=bool))
