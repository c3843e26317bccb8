import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.inspection.attention import (
    attention_layers,
    attention_weights,
    combine_heads,
    edges_of,
    farthest_looking_head,
    largest_of_squares,
    signed_thumbnails,
    strongest_edges,
    thumbnails,
)
from lmviz.inspection.head_badges import (
    DUPLICATE,
    FIRST,
    INDUCTION,
    PREVIOUS,
    REST,
    head_badges,
    head_patterns,
)
from lmviz.inspection.trace import Trace
from lmviz.inspection.traced_array import TracedArray
from lmviz.inspection.tracing import trace

AXES = ("head", "query", "key")


def traced(ids, *layers):
    """A trace of nothing but attention weights, one array (head, query, key) per layer."""
    arrays = {
        f"layers/{number}/attention/weights": TracedArray(np.array(weights, dtype=np.float32), AXES, "share")
        for number, weights in enumerate(layers)
    }
    count = len(ids)
    return Trace(("x",) * count, np.array(ids), "", ((0, 0),) * count, "transformer", (), arrays)


def looking(positions, target):
    """Weights (query, key) that look at target(query), or at the first position where that is not there."""
    weights = np.zeros((positions, positions))
    for query in range(positions):
        weights[query, max(0, min(query, target(query)))] = 1
    return weights


def even(positions):
    return np.tril(np.ones((positions, positions))) / np.arange(1, positions + 1)[:, None]


def test_layers_are_those_that_attend(a, text):
    assert attention_layers(trace(a("transformer-alibi-pre"), text)) == (0, 1)
    assert attention_layers(trace(a("lstm"), text)) == ()


def test_heads_are_combined_cell_by_cell(a, text):
    found = trace(a("transformer-alibi-pre"), text)
    chosen = [attention_weights(found, 0)[1], attention_weights(found, 1)[0]]
    assert combine_heads(found, [(0, 1), (1, 0)]) == pytest.approx(np.mean(chosen, axis=0))
    assert combine_heads(found, [(0, 1), (1, 0)], "max") == pytest.approx(np.max(chosen, axis=0))
    for wrong in ([], [(0, 9)], [(9, 0)]):
        with pytest.raises(LmvizError):
            combine_heads(found, wrong)
    with pytest.raises(LmvizError, match="mean, max"):
        combine_heads(found, [(0, 0)], "median")


@pytest.mark.parametrize(
    ("positions", "side", "cells"), [(5, 8, 5), (8, 8, 8), (9, 8, 5), (16, 8, 8), (37, 8, 8)]
)
def test_thumbnails_keep_the_largest_of_each_square(positions, side, cells):
    weights = np.random.default_rng(0).random((3, positions, positions)).astype(np.float32)
    small = largest_of_squares(weights, side)
    assert small.shape == (3, cells, cells)
    square = -(-positions // side)
    for row, column in ((0, 0), (cells - 1, 0), (cells - 1, cells - 1), (cells // 2, 1)):
        part = weights[:, row * square : (row + 1) * square, column * square : (column + 1) * square]
        assert np.array_equal(small[:, row, column], part.max(axis=(1, 2)))


def test_all_heads_become_thumbnails(a, text):
    found = trace(a("transformer-learned-pre"), text)
    small = thumbnails(found, width=3)
    assert small.shape == (2, 2, 3, 3)
    assert np.array_equal(small[1], largest_of_squares(attention_weights(found, 1), 3))
    with pytest.raises(LmvizError, match="Transformer"):
        thumbnails(trace(a("lstm"), text))


def test_each_kind_of_head_earns_its_badge():
    ids = [7, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
    last = {token: place for place, token in enumerate(ids[:6])}
    count = len(ids)
    layer = [
        looking(count, lambda query: query - 1),
        looking(count, lambda query: 0),
        looking(count, lambda query: last[ids[query]] + 1 if query >= 6 else 0),
        even(count),
        looking(count, lambda query: query),
        looking(count, lambda query: last[ids[query]] if query >= 6 else query),
    ]
    (badges,) = head_badges(traced(ids, layer))
    assert [badge.badges for badge in badges] == [(PREVIOUS,), (FIRST,), (INDUCTION,), (), (), (DUPLICATE,)]
    assert badges[0].scores[PREVIOUS] == pytest.approx(1.0)
    assert badges[2].scores[INDUCTION] == pytest.approx(1.0)
    assert [(badge.layer, badge.head) for badge in badges] == [(0, head) for head in range(6)]


def test_scores_are_mean_shares_of_attention():
    ids = [1, 2, 3, 4, 5, 6]
    weights = np.random.default_rng(0).random((2, 6, 6))
    weights = np.tril(weights) / np.tril(weights).sum(-1, keepdims=True)
    (badges,) = head_badges(traced(ids, weights))
    for head in (0, 1):
        assert badges[head].scores[PREVIOUS] == pytest.approx(
            np.mean([weights[head, t, t - 1] for t in range(2, 6)])
        )
        assert badges[head].scores[FIRST] == pytest.approx(weights[head, 2:, 0].mean())
        assert badges[head].scores[INDUCTION] is None


def test_even_attention_scores_at_chance():
    ids = [1, 2, 3, 1, 2, 3, 1, 2, 3]
    for pattern in head_patterns(np.array(ids)).values():
        assert pattern.share(even(len(ids))[None], 0)[0] == pytest.approx(pattern.chance())


def test_induction_counts_every_earlier_occurrence_but_not_the_neighbours():
    pattern = head_patterns(np.array([1, 2, 1, 2, 1, 2, 1]))[INDUCTION]
    assert pattern.queries.tolist() == [4, 5, 6]
    assert np.flatnonzero(pattern.cells[5]).tolist() == [2]
    assert np.flatnonzero(pattern.cells[6]).tolist() == [1, 3]


def test_one_word_that_is_said_again_shows_who_looks_at_it():
    ids = [5, 1, 2, 3, 1, 4, 6, 7]
    same = looking(8, lambda query: 1 if query == 4 else query)
    (badges,) = head_badges(traced(ids, [same]))
    assert badges[0].scores[DUPLICATE] == pytest.approx(1.0)
    assert badges[0].badges == (DUPLICATE,)
    (badges,) = head_badges(traced(range(8), [same]))
    assert badges[0].scores[DUPLICATE] is None


def test_a_head_rests_on_the_word_that_later_words_look_at():
    on_third = looking(9, lambda query: min(query, 3))
    on_first = looking(9, lambda query: 0)
    (badges,) = head_badges(traced(range(9), [on_third, on_first, np.eye(9)]))
    assert [badge.rests_on for badge in badges] == [3, 0, None]
    assert badges[0].scores[REST] == pytest.approx(1.0)
    assert badges[2].scores[REST] == 0


@pytest.mark.parametrize("looks_ahead", [False, True])
def test_scores_of_a_long_text_are_those_of_every_cell(looks_ahead):
    random = np.random.default_rng(0)
    ids, weights = random.integers(40, size=150), random.random((2, 150, 150)).astype(np.float32)
    weights = weights if looks_ahead else np.tril(weights)
    (badges,) = head_badges(traced(ids, weights))
    for kind, pattern in head_patterns(ids).items():
        expected = (weights * pattern.cells)[:, pattern.queries].sum(axis=(1, 2)) / len(pattern.queries)
        assert [badge.scores[kind] for badge in badges] == pytest.approx(expected, rel=1e-5), kind
    from_later = np.tril(weights, -1).sum(axis=1) / np.arange(149, -1, -1).clip(min=1)
    expected = from_later[:, 1:-3].max(axis=1)
    assert [badge.scores[REST] for badge in badges] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_text_too_short_to_tell_gives_no_badges(count):
    (badges,) = head_badges(traced(range(count), [looking(count, lambda query: query - 1)]))
    assert badges[0].badges == ()


def test_other_families_have_no_heads(a, text):
    assert head_badges(trace(a("lstm"), text)) == ()


def test_the_farthest_looking_head_is_the_one_that_looks_hardest_far_back():
    near, far = even(8), even(8)
    near[7] = np.eye(8)[6]
    far[7] = 0.9 * np.eye(8)[2] + 0.1 * np.eye(8)[7]
    resting = even(8)
    resting[7] = np.eye(8)[0]
    assert farthest_looking_head(traced(range(8), [near, resting, far, even(8)])) == (0, 2)


def test_a_short_text_and_other_families_have_no_farthest_looking_head(a, text):
    assert farthest_looking_head(traced(range(3), [even(3)])) is None
    assert farthest_looking_head(trace(a("lstm"), text)) is None


WEIGHTS = np.array([[1.0, 0, 0], [0.3, 0.7, 0], [0.5, 0.1, 0.4]])


def test_the_strongest_edges_come_weakest_first():
    assert strongest_edges(WEIGHTS, 3).tolist() == [[2, 0], [1, 1], [0, 0]]
    assert strongest_edges(WEIGHTS, 9, 0.35).tolist() == [[2, 2], [2, 0], [1, 1], [0, 0]]
    assert strongest_edges(np.zeros((2, 2)), 5).shape == (0, 2)


def test_the_edges_of_a_position_go_either_way():
    assert edges_of(WEIGHTS, 2, 0.2).tolist() == [[2, 2], [2, 0]]
    assert edges_of(WEIGHTS, 0, looked_at=True).tolist() == [[1, 0], [2, 0], [0, 0]]


def test_thumbnails_of_gradients_keep_what_is_farthest_from_zero():
    values = np.zeros((2, 5, 5), dtype=np.float32)
    values[0, 0, 1], values[0, 1, 1] = 0.5, -2.0
    values[1, 4, 3], values[1, 4, 4] = 3.0, -1.0
    traced = TracedArray(values, ("head", "query", "key"), "signed")
    np.testing.assert_array_equal(signed_thumbnails([traced]), values[None])
    small = signed_thumbnails([traced, traced], side=3)
    assert small.shape == (2, 2, 3, 3)
    assert small[1, 0, 0, 0] == -2
    assert small[1, 1, 2].tolist() == [0, 3, -1]
