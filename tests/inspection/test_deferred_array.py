"""The squares of attention in a long text are computed when they are read, and are the same."""

import pickle

import numpy as np
import pytest
from rounding import assert_equal_but_for_rounding

from lmviz.base.errors import LmvizError
from lmviz.families import build_model
from lmviz.inspection import computed_square, deferred_array, rows_of_squares
from lmviz.inspection.attention import largest_of_squares, small_squares, thumbnails
from lmviz.inspection.explain import explain
from lmviz.inspection.head_badges import head_badges
from lmviz.inspection.interventions import replace, scale_head, zero
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace
from lmviz.models.operations.rows import Softmax
from lmviz.models.transformer_configuration import TransformerConfiguration

IDS = np.array([5, 2, 6, 1, 2, 3, 4, 0, 6])
SMALL = {"layers": 2, "heads": 4, "width": 16, "context": 20}
VARIANTS = [
    {},
    {"positions": "rotary", "key_value_heads": 2},
    {"positions": "alibi", "norm": "post"},
    {"positions": "relative"},
    {"attention_window": 4, "window_layers": "10", "score_cap": 1.0, "query_key_norm": "heads"},
]


@pytest.fixture(params=VARIANTS, ids=["learned", "rotary", "alibi", "relative", "windows and caps"])
def model(request):
    found = build_model("transformer", TransformerConfiguration(**SMALL, **request.param), 7, seed=0).eval()
    for parameter in found.requires_grad_(False).parameters():
        parameter *= 1.5
    return found


@pytest.fixture
def as_if_large(monkeypatch):
    """Every square counts as too large to be recorded, and two rows of it are as much as is made at once."""
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", 0)
    monkeypatch.setattr(rows_of_squares, "AT_ONCE", 4 * SMALL["heads"] * len(IDS) * 2)


def same(found, expected):
    assert found.arrays.keys() == expected.arrays.keys()
    for address, traced in expected.arrays.items():
        assert found[address].shape == traced.shape
        assert_equal_but_for_rounding(found[address].array, traced.array, address)


def squares(found):
    return {address for address, traced in found.arrays.items() if traced.is_deferred}


def test_what_is_read_later_is_what_would_have_been_recorded(model, monkeypatch):
    expected = trace(model, IDS)
    assert not squares(expected)
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", 0)
    found = trace(model, IDS)
    assert {address for address in found.arrays if "query" in found[address].axes} == squares(found)
    assert len(squares(found)) >= 8
    same(found, expected)
    weights = found["layers/1/attention/weights"]
    np.testing.assert_array_equal(
        weights.at(head=2, query=5), expected["layers/1/attention/weights"].array[2, 5]
    )
    with pytest.raises(ValueError, match="read-only"):
        weights.array[0, 0, 0] = 1.0
    np.testing.assert_array_equal(thumbnails(found), thumbnails(expected))


@pytest.fixture
def rows_made(monkeypatch):
    """How many rows of attention weights were made, each time that some were."""
    found, compute = [], Softmax.compute

    def noted(operation, scope):
        value = compute(operation, scope)
        found.append(value.shape[-2])
        return value

    monkeypatch.setattr(Softmax, "compute", noted)
    return found


def test_rows_are_computed_a_few_at_a_time(model, monkeypatch, rows_made, request):
    expected = trace(model, IDS)
    whole = expected["layers/1/attention/weights"].array
    request.getfixturevalue("as_if_large")
    rows_made.clear()
    found = trace(model, IDS)
    assert max(rows_made[:-1]) == 2, "a square was held whole"  # the last one is of the probabilities
    same(found, expected)
    weights = trace(model, IDS)["layers/1/attention/weights"]
    stretches = list(weights.blocks())
    assert [first for first, _ in stretches] == [0, 2, 4, 6, 8]
    np.testing.assert_allclose(np.concatenate([rows for _, rows in stretches], axis=1), whole, rtol=1e-4)
    assert [first for first, _ in weights.blocks(3)] == [0, 3, 6]
    np.testing.assert_allclose(small_squares(weights, 3), largest_of_squares(whole, 3), rtol=1e-4)
    for one, other in zip(head_badges(trace(model, IDS)), head_badges(expected), strict=True):
        assert [head.badges for head in one] == [head.badges for head in other]


def test_the_row_of_a_query_is_made_alone(model, as_if_large, rows_made):
    weights = trace(model, IDS)["layers/1/attention/weights"]
    rows_made.clear()
    row, last = weights.at(query=3), weights.at(query=-1, head=2)
    assert rows_made == [1, 1]
    np.testing.assert_allclose(row, weights.array[:, 3], rtol=1e-4)
    np.testing.assert_allclose(last, weights.array[2, -1], rtol=1e-4)
    with pytest.raises(LmvizError, match="There is no query 9"):
        trace(model, IDS)["layers/0/attention/weights"].at(query=len(IDS))


def test_a_square_is_not_kept_for_those_who_never_read_it(model, as_if_large):
    found = trace(model, IDS)
    address = "layers/0/attention/weights"
    assert found[address].array is found[address].array  # read a moment ago
    assert all(
        not isinstance(value, np.ndarray) for name, value in vars(found[address]).items() if name != "_ids"
    )


def test_a_text_that_grows_is_continued(model, monkeypatch):
    whole = trace(model, IDS)
    plain = trace(model, IDS[:5])
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", 0)
    large = trace(model, IDS[:5])
    for earlier in (plain, large):  # the text may have become too long by what was typed
        found = trace(model, IDS, earlier=earlier)
        assert squares(found)
        same(found, whole)
    step_by_step = large
    for length in range(6, len(IDS) + 1):
        step_by_step = trace(model, IDS[:length], earlier=step_by_step)
    same(step_by_step, whole)
    same(trace(model, IDS[:3], earlier=large), trace(model, IDS[:3]))
    monkeypatch.undo()
    same(trace(model, IDS, earlier=large), whole)  # or short enough again


def test_weights_alone_are_recorded_where_there_is_room_for_them(model, monkeypatch):
    whole = trace(model, IDS)
    every = {address for address in whole.arrays if "query" in whole[address].axes}
    weights = {address for address in every if address.endswith("/weights")}
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", 4 * SMALL["heads"] * len(IDS) ** 2 * len(weights))
    found = trace(model, IDS)
    assert squares(found) == every - weights
    same(found, whole)
    step_by_step = trace(model, IDS[:3])
    assert not squares(step_by_step)
    for length in range(4, len(IDS) + 1):
        step_by_step = trace(model, IDS[:length], earlier=step_by_step)
    assert squares(step_by_step) == every - weights
    same(step_by_step, whole)
    same(trace(model, IDS[:3], earlier=found), trace(model, IDS[:3]))


@pytest.mark.parametrize(
    "changes",
    [
        [zero("layers/0/attention/weights", head=1, query=4)],
        [replace("layers/1/attention/scores", 2.0, head=0, query=5, key=3)],
        [scale_head(1, 2, 0.0)],
    ],
)
def test_changes_are_carried_out(model, changes, monkeypatch):
    expected = trace(model, IDS, interventions=changes)
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", 0)
    found = trace(model, IDS, interventions=changes)
    same(found, expected)
    assert changes[0].address not in squares(found)


def test_cells_are_explained_and_traces_kept(model, as_if_large, tmp_path):
    found = trace(model, IDS)
    for name in ("products", "scaled", "scores", "weights", "mixed"):
        arithmetic = explain(model, found, f"layers/1/attention/{name}", (1, 6, 2))
        assert arithmetic.evaluate() == pytest.approx(arithmetic.value, rel=1e-4, abs=1e-5)
    found.save(tmp_path / "trace.npz")
    for again in (pickle.loads(pickle.dumps(found)), Trace.load(tmp_path / "trace.npz")):
        assert not squares(again)
        same(again, found)


def test_only_so_much_is_kept_at_once(model, as_if_large, monkeypatch):
    monkeypatch.setattr(computed_square, "MOST_KEPT", 3000)  # two squares of 4 heads and 9 positions
    found = trace(model, IDS)
    first, second, third = (found[f"layers/0/attention/{name}"] for name in ("products", "scaled", "scores"))
    kept = first.array
    assert first.array is kept
    assert second.array is not None
    assert third.array is not None
    assert first.array is not kept
