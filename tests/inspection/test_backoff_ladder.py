"""The ladder of back-off: 100 % falls down it, and what the rungs give a word is its probability."""

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.families import build_model, find_family
from lmviz.inspection.backoff_ladder import back_off_ladder, has_ladder, longest_seen, weights_over_text
from lmviz.inspection.tracing import trace
from lmviz.models.ngram.counts import count_ngrams

WORDS = torch.tensor([1, 2, 3, 4, 1, 2, 5, 3, 4, 1, 2, 3, 6, 1, 2, 3, 4])
TEXTS = ([1, 2, 3], [6, 2, 3], [5, 6, 4, 1], [0, 0, 0])
SMOOTHING = ("kneser-ney", "add-k", "maximum-likelihood")


@pytest.fixture(params=SMOOTHING)
def counted(request):
    settings = {"order": 3, "smoothing": request.param}
    model = build_model("ngram", find_family("ngram").configuration.from_values(settings), 8, seed=0)
    model.fit(count_ngrams(WORDS.numpy(), 3, 8, start_id=None))
    return model.eval()


@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_what_the_rungs_give_a_word_is_its_probability(counted, text):
    traced = trace(counted, text)
    for position in range(len(text)):
        ladder = back_off_ladder(counted, traced, position)
        row = traced["probabilities"].array[position]
        np.testing.assert_allclose(ladder.parts.sum(axis=0), row[ladder.ids], atol=1e-6)
        np.testing.assert_allclose(ladder.probabilities, row[ladder.ids], atol=1e-6)
        assert (np.diff(ladder.probabilities) <= 1e-7).all()


@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_each_rung_diverts_its_weight_and_the_rest_falls_on(counted, text):
    traced = trace(counted, text)
    for position in range(len(text)):
        ladder = back_off_ladder(counted, traced, position)
        assert sum(rung.share for rung in ladder.rungs) + ladder.ground == pytest.approx(1.0, abs=1e-6)
        assert ladder.rungs[0].arriving == 1.0
        for rung, below in zip(ladder.rungs, ladder.rungs[1:] if ladder.is_chained else (), strict=False):
            assert rung.arriving == pytest.approx(rung.share + rung.falling, abs=1e-6)
            assert below.arriving == rung.falling
        if not ladder.is_chained:  # the longest order counts alone
            assert [(rung.arriving, rung.falling) for rung in ladder.rungs[1:]] == [(0, 0), (0, 0)]


def test_a_rung_shows_what_was_counted_after_its_words(counted):
    traced = trace(counted, [6, 2, 3])
    longest, middle, lowest = back_off_ladder(counted, traced, 2).rungs
    assert [rung.context for rung in (longest, middle, lowest)] == [(2, 3), (3,), ()]
    for rung in (longest, middle, lowest):
        row = traced[f"orders/{rung.order}/counts"].array[2]
        assert rung.kinds == np.count_nonzero(row)
        assert rung.total == row.sum()
        np.testing.assert_array_equal(rung.counts, row[rung.ids])
        assert rung.counts.min() > 0
        assert (np.diff(rung.counts) <= 0).all()


def test_a_context_that_was_never_seen_keeps_nothing(counted):
    traced = trace(counted, [6, 5, 6])
    longest = back_off_ladder(counted, traced, 2).rungs[0]
    assert not longest.is_seen
    assert (longest.kinds, longest.share, longest.falling) == (0, 0.0, 1.0) or longest.share < 1e-6
    assert back_off_ladder(counted, traced, 0).rungs[0].context == (6,), (
        "the text is shorter than the context"
    )


def test_the_caps_are_the_discounts(a, text):
    model = a("ngram")
    traced = trace(model, text)
    ladder = back_off_ladder(model, traced, 3)
    for row, rung in enumerate(ladder.rungs):
        levels = model.tables.levels[rung.order - 1].discounts
        np.testing.assert_array_equal(rung.discounts, levels[np.minimum(rung.counts, 3).astype(int)])
        np.testing.assert_array_equal(
            ladder.discounts[row], levels[np.minimum(ladder.counts[row], 3).astype(int)]
        )


def test_a_wanted_word_is_among_those_shown(a, text):
    model = a("ngram")
    traced = trace(model, text)
    rare = int(traced["probabilities"].array[2].argmin())
    ladder = back_off_ladder(model, traced, 2, [rare])
    assert ladder.ids[-1] == rare or rare in ladder.ids


def test_over_the_text_the_weights_are_the_taps_and_add_up(a, text):
    model = a("ngram")
    traced = trace(model, text)
    weights = weights_over_text(traced)
    np.testing.assert_allclose(weights.sum(axis=0), 1.0, atol=1e-6)
    np.testing.assert_allclose(weights[0], traced["orders/3/weight"].array)
    seen = [
        max(k for k in (1, 2, 3) if traced[f"orders/{k}/total"].array[at] > 0) for at in range(len(traced))
    ]
    np.testing.assert_array_equal(longest_seen(traced), seen)


def test_only_what_counts_has_a_ladder(a, text):
    assert has_ladder(trace(a("ngram"), text))
    assert not has_ladder(trace(a("lstm"), text))
    with pytest.raises(LmvizError, match="made by"):
        back_off_ladder(a("lstm"), trace(a("ngram"), text), 1)
