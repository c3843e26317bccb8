import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError, SettingError
from lmviz.decoding.distribution import next_distribution

LOGITS = np.log([0.4, 0.3, 0.2, 0.1])


def test_without_filters_it_is_the_softmax():
    logits = np.random.default_rng(0).normal(size=50) * 5
    expected = torch.softmax(torch.from_numpy(logits), dim=0).numpy()
    assert next_distribution(logits).probabilities == pytest.approx(expected, rel=1e-12)


def test_temperature_divides_the_logits():
    distribution = next_distribution(LOGITS, temperature=0.5)
    squares = np.array([0.16, 0.09, 0.04, 0.01])
    assert distribution.scaled == pytest.approx(LOGITS * 2)
    assert distribution.probabilities == pytest.approx(squares / squares.sum())


def test_top_k_keeps_k_and_shares_the_rest_out():
    distribution = next_distribution(LOGITS, top_k=2)
    assert distribution.kept_top_k.tolist() == [True, True, False, False]
    assert distribution.probabilities == pytest.approx([4 / 7, 3 / 7, 0, 0])


def test_top_p_keeps_the_token_that_reaches_it():
    distribution = next_distribution(LOGITS, top_p=0.65)
    assert distribution.kept_top_p.tolist() == [True, True, False, False]
    assert next_distribution(LOGITS, top_p=0.0).probabilities.tolist() == [1, 0, 0, 0]


def test_top_p_counts_what_top_k_left():
    # Of 4/7 and 3/7, the first alone reaches 0.55, though of all four it holds 0.4 only.
    distribution = next_distribution(LOGITS, top_k=2, top_p=0.55)
    assert distribution.kept_top_k.sum() == 2
    assert distribution.kept_top_p.tolist() == [True, False, False, False]


def test_min_p_compares_with_the_likeliest():
    distribution = next_distribution(LOGITS, min_p=0.5)
    assert distribution.kept_min_p.tolist() == [True, True, True, False]
    assert next_distribution(LOGITS, min_p=1.0).choices == 1


def test_a_row_says_which_filter_cut_the_token():
    distribution = next_distribution(
        LOGITS, top_k=3, top_p=0.7, min_p=0.8, tokens=("corn", "grass", "hay", "it")
    )
    assert [row.token for row in distribution.top(9)] == ["corn", "grass", "hay", "it"]
    assert [row.cut_by for row in distribution.top(4)] == ["", "min-p", "top-p", "top-k"]
    assert distribution.top(2)[1].before_filters == pytest.approx(0.3)
    assert distribution.top(1)[0].cumulative == 1.0


@pytest.mark.parametrize("count", [-1, 1.5, "two"])
def test_how_many_rows_are_wanted_is_a_whole_number(count: object) -> None:
    with pytest.raises(LmvizError, match=f"{count!r} is not a number of tokens"):
        next_distribution(LOGITS).top(count)


def test_a_row_says_what_became_of_the_token_at_each_step():
    row = next_distribution(LOGITS, temperature=0.5, top_k=3).top(2)[1]
    squares = np.array([0.16, 0.09, 0.04, 0.01])
    assert (row.id, row.token, row.rank) == (1, "1", 2)
    assert (row.logit, row.scaled) == pytest.approx((math.log(0.3), 2 * math.log(0.3)))
    assert row.before_filters == pytest.approx(squares[1] / squares.sum())
    assert row.probability == pytest.approx(squares[1] / squares[:3].sum())
    assert row.cumulative == pytest.approx(squares[:2].sum() / squares[:3].sum())


def test_temperature_zero_is_greedy_and_tiny_temperatures_approach_it():
    logits = [1000.0, 999.0, -1000.0, 1000.0]
    assert next_distribution(logits, temperature=0).probabilities.tolist() == [1, 0, 0, 0]
    tiny = next_distribution(logits, temperature=1e-300)
    assert tiny.probabilities.tolist() == [0.5, 0, 0, 0.5]
    assert tiny.at_draw(0.49) == 0
    assert tiny.at_draw(0.5) == 3


def test_ties_are_ordered_by_id():
    distribution = next_distribution([0.0, 2.0, 2.0, 0.0, 2.0], top_k=2)
    assert distribution.order.tolist() == [1, 2, 4, 0, 3]
    assert distribution.kept_top_k.tolist() == [False, True, True, False, False]


def test_impossible_tokens_are_never_drawn():
    distribution = next_distribution([-math.inf, 0.0, -math.inf, 0.0])
    assert distribution.probabilities.tolist() == [0, 0.5, 0, 0.5]
    assert distribution.at_draw(math.nextafter(1.0, 0.0)) == 3
    assert distribution.cumulative.tolist() == [0.5, 1.0, 1.0, 1.0]


def test_entropy_counts_effective_choices():
    distribution = next_distribution(np.zeros(8))
    assert distribution.entropy == pytest.approx(3.0)
    assert distribution.effective_choices == pytest.approx(8.0)
    assert next_distribution([5.0]).entropy == 0.0


@pytest.mark.parametrize("logits", [[0.0, math.nan], [math.inf, 0.0], [-math.inf, -math.inf], [], [[0.0]]])
def test_what_cannot_be_normalised_is_said(logits):
    with pytest.raises(LmvizError):
        next_distribution(logits)


@pytest.mark.parametrize("options", [{"temperature": -1}, {"top_k": -1}, {"top_p": 1.5}, {"min_p": math.nan}])
def test_options_out_of_their_limits_are_said(options):
    with pytest.raises(SettingError) as refused:
        next_distribution(LOGITS, **options)
    assert refused.value.settings == tuple(options)


def test_other_options_give_what_starting_anew_gives():
    changed = next_distribution(LOGITS, tokens="abcd").with_options(temperature=0.7, top_k=3)
    anew = next_distribution(LOGITS, temperature=0.7, top_k=3)
    assert np.array_equal(changed.probabilities, anew.probabilities)
    assert changed.token(2) == "c"


def test_arrays_cannot_be_written_and_the_logits_are_a_copy():
    logits = LOGITS.copy()
    distribution = next_distribution(logits)
    logits[0] = 7
    assert distribution.logits[0] == LOGITS[0]
    for name in ("logits", "scaled", "kept_top_k", "probabilities", "order", "ranked", "cumulative"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(distribution, name)[0] = 0


pipelines = given(
    logits=st.lists(
        st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, 1.0, -math.inf])), min_size=1, max_size=40
    ).filter(lambda row: max(row) > -math.inf),
    temperature=st.one_of(st.just(0.0), st.floats(1e-6, 100)),
    top_k=st.integers(0, 50),
    top_p=st.floats(0, 1),
    min_p=st.floats(0, 1),
    draw=st.floats(0, 1, exclude_max=True),
)


@pipelines
@settings(max_examples=300)
def test_every_pipeline_is_a_distribution_over_a_beginning_of_the_ranking(
    logits, temperature, top_k, top_p, min_p, draw
):
    distribution = next_distribution(logits, temperature, top_k, top_p, min_p)
    probabilities = distribution.probabilities
    assert probabilities.sum() == pytest.approx(1)
    assert (probabilities >= 0).all()
    assert distribution.best == int(np.argmax(logits))
    assert not (distribution.kept_top_p & ~distribution.kept_top_k).any()
    assert not (distribution.kept_min_p & ~distribution.kept_top_p).any()
    assert (probabilities[~distribution.kept_min_p] == 0).all()
    if top_k:
        assert distribution.kept_top_k.sum() == min(top_k, len(logits))
    assert (np.diff(distribution.cumulative) >= 0).all()
    assert distribution.cumulative[-1] == 1.0
    drawn = distribution.at_draw(draw)
    rank = distribution.rank_of(drawn) - 1
    assert (distribution.cumulative[:rank] <= draw).all()
    assert draw < distribution.cumulative[rank]
    assert probabilities[drawn] > 0


@pipelines
@settings(max_examples=100)
def test_the_nucleus_is_the_smallest_that_reaches_p(logits, temperature, top_k, top_p, min_p, draw):
    distribution = next_distribution(logits, temperature, top_k, top_p)
    left = distribution.ranked[: distribution.kept_top_k.sum()]
    shares = np.cumsum(left / left.sum())
    kept = distribution.kept_top_p.sum()
    assert shares[kept - 1] >= top_p - 1e-12 or kept == len(shares)
    assert kept == 1 or top_p >= 1 or shares[kept - 2] <= top_p + 1e-12


def test_it_is_shown_in_a_short_table():
    tokens = [f"token {id}" for id in range(5000)]
    shown = repr(next_distribution(np.linspace(0, 9, 5000), tokens=tokens))
    assert "token 4999" in shown
    assert len(shown.splitlines()) <= 12
