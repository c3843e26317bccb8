"""What each position adds to a parameter's gradient, and what a truncation keeps of it."""

import numpy as np
import pytest

from lmviz.inspection.parameter_over_time import ParameterOverTime

PARTS = ParameterOverTime("weight", np.array([[[3.0, 0.0]], [[0.0, 4.0]], [[0.0, -1.0]], [[0.0, 0.0]]]))


def test_parts_add_up_to_the_whole_and_so_do_their_steps_along_it():
    whole = np.array([[3.0, 3.0]])
    np.testing.assert_array_equal(PARTS.whole, whole)
    np.testing.assert_array_equal(PARTS.norms, [3, 4, 1, 0])
    np.testing.assert_allclose(PARTS.along, np.array([3, 4, -1, 0]) / np.sqrt(2))
    assert PARTS.along.sum() == pytest.approx(np.linalg.norm(whole))


def test_a_truncation_counts_from_where_the_gradient_begins():
    assert PARTS.within(2).tolist() == [False, True, True, True]
    assert PARTS.kept(1) == pytest.approx(-1 / 6)
    assert PARTS.kept(2) == pytest.approx(0.5)
    assert PARTS.kept(3) == pytest.approx(1)


def test_where_no_gradient_arrives_everything_is_kept():
    nothing = ParameterOverTime("weight", np.zeros((3, 2)))
    assert nothing.kept(1) == 1
    assert not nothing.along.any()
    assert nothing.within(2).tolist() == [False, True, True]
