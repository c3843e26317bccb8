"""A glance at a distribution sees what the whole distribution says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lmviz.base.errors import LmvizError
from lmviz.decoding.distribution import next_distribution
from lmviz.decoding.glance import glance

LOGITS = st.one_of(st.floats(-40, 40, width=32), st.sampled_from([0.0, 1.0, -np.inf]))


@given(arrays(np.float32, st.integers(1, 30), elements=LOGITS), st.integers(1, 40))
def test_a_glance_agrees_with_the_whole_distribution(logits, count):
    if np.isneginf(logits).all():
        with pytest.raises(LmvizError, match="no token can follow"):
            glance(logits, count)
        return
    whole, found = next_distribution(logits), glance(logits, count)
    candidates = whole.top(count)
    assert found.ids.tolist() == [candidate.id for candidate in candidates]
    np.testing.assert_allclose(found.probabilities, [candidate.probability for candidate in candidates])
    assert found.entropy == pytest.approx(whole.entropy, abs=1e-9)
    for id in range(len(logits)):
        assert found.probability_of(id) == pytest.approx(whole.probability_of(id), rel=1e-9, abs=1e-300)


def test_what_is_no_number_is_said():
    with pytest.raises(LmvizError, match="token 1"):
        glance(np.array([0.0, np.nan]), 1)
