"""The numbers behind a row of the pipeline decide and add up as the pipeline did."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.decoding.derivation import derive
from lmviz.decoding.distribution import next_distribution

LOGITS = st.lists(st.floats(-8, 8), min_size=2, max_size=20)


@given(LOGITS, st.floats(0.1, 3), st.integers(0, 8), st.floats(0.05, 1), st.floats(0, 0.9))
def test_each_filter_follows_from_what_it_compares(logits, temperature, top_k, top_p, min_p):
    distribution = next_distribution(np.array(logits), temperature, top_k, top_p, min_p)
    for rank in range(1, len(logits) + 1):
        row = derive(distribution, rank)
        cut_by = row.candidate.cut_by
        assert (cut_by == "top-k") == (top_k > 0 and rank > top_k)
        if cut_by != "top-k" and abs(row.share_before - top_p) > 1e-9:
            assert (cut_by == "top-p") == (top_p < 1 and row.share_before > top_p)
        if not cut_by:
            assert row.ratio / row.total == pytest.approx(row.candidate.probability)
            assert row.cumulative_before + row.candidate.probability == pytest.approx(
                row.candidate.cumulative
            )
        elif cut_by == "min-p":
            assert row.ratio < min_p


def test_numbers_worked_out_by_hand():
    row = derive(next_distribution(np.log([0.5, 0.3, 0.2]), top_p=0.7), 2)
    assert (row.share_before, row.ratio, row.total) == pytest.approx((0.5, 0.6, 1.6))
    assert row.cumulative_before == pytest.approx(0.625)
