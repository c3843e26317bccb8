"""The largest numbers are those that sorting would find."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lmviz.models.largest import largest

VALUES = st.one_of(st.floats(width=32), st.sampled_from([0.0, 1.0, -np.inf, np.nan]))


@given(arrays(np.float32, st.integers(0, 30), elements=VALUES), st.integers(0, 40))
def test_they_are_what_a_stable_sort_puts_first(values, count):
    sizes = [(-np.inf if np.isnan(value) else float(value)) for value in values]
    expected = sorted(range(len(sizes)), key=lambda place: -sizes[place])[:count]
    assert largest(values, count).tolist() == expected
