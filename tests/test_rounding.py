"""What counts as the same number in float32."""

import numpy as np
import pytest
from rounding import assert_equal_but_for_rounding


def test_differences_go_with_the_largest_number():
    assert_equal_but_for_rounding([0.00001, 1.0], [0.0, 1.0])
    assert_equal_but_for_rounding([0.001, 100.0, -np.inf], [0.0, 100.0, -np.inf])
    assert_equal_but_for_rounding([], [])
    for found, expected in (([0.001, 1.0], [0.0, 1.0]), ([1.0, 2.0], [1.0, np.inf]), ([1.001], [1.0])):
        with pytest.raises(AssertionError):
            assert_equal_but_for_rounding(found, expected)
