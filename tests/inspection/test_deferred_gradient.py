"""The gradients of squares in a long text are swept by rows, and are those of a full sweep."""

import pickle

import numpy as np
import pytest
from covering import parametrize_few

import lmviz
from lmviz.families import build_model
from lmviz.inspection import backpropagation, deferred_array, rows_of_squares
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.explain_gradient import explain_gradient
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import replace, scale, scale_head
from lmviz.models.operations.rows import Softmax
from lmviz.models.transformer_configuration import TransformerConfiguration

IDS = np.array([5, 2, 6, 1, 2, 3, 4, 0, 6])
SMALL = {"layers": 2, "heads": 4, "width": 16, "context": 20}
VARIANTS = {
    "learned": {},
    "rotary": {"positions": "rotary", "key_value_heads": 2},
    "alibi": {"positions": "alibi", "norm": "post"},
    "relative": {"positions": "relative"},
    "both ways": {"causal": False},
    "windows and caps": {
        "positions": "rotary",
        "attention_window": 4,
        "window_layers": "10",
        "score_cap": 1.0,
        "query_key_norm": "heads",
    },
    "rounded falls": {"positions": "alibi", "alibi_slopes": "bfloat16", "score_cap": 1.0},
}
WEIGHTS = "layers/1/attention/weights"


@pytest.fixture(params=VARIANTS.values(), ids=VARIANTS)
def model(request):
    found = build_model("transformer", TransformerConfiguration(**SMALL, **request.param), 7, seed=0).eval()
    for parameter in found.requires_grad_(False).parameters():
        parameter *= 1.5
    return found


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


def as_if_large(monkeypatch):
    """Every square counts as too large to be kept, and two rows of it are as much as is made at once."""
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", 0)
    monkeypatch.setattr(rows_of_squares, "AT_ONCE", 4 * SMALL["heads"] * len(IDS) * 2)


def same(found, expected):
    assert found.value == pytest.approx(expected.value, rel=1e-5)
    assert list(found.arrays) == list(expected.arrays)
    for name in (*expected.arrays, *expected.parameters):
        np.testing.assert_allclose(
            found.array(name), expected.array(name), rtol=1e-3, atol=1e-5, err_msg=name
        )
    for address, traced in expected.trace.arrays.items():
        np.testing.assert_allclose(found.trace[address].array, traced.array, rtol=1e-4, atol=1e-5)


@parametrize_few("of", ["loss", "loss@4", ("probabilities", (6, 3)), (WEIGHTS, (2, 5, 3))], quick=2)
def test_a_gradient_by_rows_is_that_of_a_full_sweep(model, of, monkeypatch):
    expected = gradient(model, IDS, of)
    as_if_large(monkeypatch)
    found = gradient(model, IDS, of)
    kept = {WEIGHTS} if of[0] == WEIGHTS else set()
    squares = {address for address in found.trace.arrays if "query" in found.trace[address].axes}
    assert {address for address, each in found.arrays.items() if each.is_deferred} == squares - kept
    same(found, expected)


@parametrize_few(
    "change",
    [
        scale_head(1, 2, 0.5),
        replace(WEIGHTS, 0.25, head=1, query=4),
        scale("layers/1/attention/scaled", 2.0, head=0),
        scale("layers/1/attention/products", 2.0, head=0),
        replace("layers/1/attention/scores", 1.0, head=3, query=6, key=2),
        Intervention("layers/0/attention/scores", "bypass"),
        scale("layers/0/attention/query", 3.0, head=1),
    ],
    ids=str,
    quick=3,
)
def test_interventions_are_part_of_it(model, change, monkeypatch):
    if change.address not in {tap.address for tap in model.taps()} and "*" not in change.address:
        pytest.skip("this variant has no such step")
    expected = gradient(model, IDS, interventions=[change])
    as_if_large(monkeypatch)
    same(gradient(model, IDS, interventions=[change]), expected)


def test_no_square_is_ever_held_whole(model, rows_made, monkeypatch):
    as_if_large(monkeypatch)
    found = gradient(model, IDS)
    assert max(rows for rows in rows_made if rows != len(IDS)) == 2
    assert sum(rows == len(IDS) for rows in rows_made) == 1, "only the probabilities are made at once"
    rows_made.clear()
    row = found[WEIGHTS].at(query=3)
    assert sum(rows_made) == 1
    np.testing.assert_allclose(row, found[WEIGHTS].array[:, 3], rtol=1e-4)


def test_recorded_weights_are_not_made_again_on_the_way_back(model, rows_made, monkeypatch):
    expected = gradient(model, IDS)
    as_if_large(monkeypatch)
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", 4 * SMALL["heads"] * len(IDS) ** 2 * 2)
    rows_made.clear()
    found = gradient(model, IDS)
    assert not found[WEIGHTS].is_deferred
    way_back = sum(rows_made) - len(IDS) * (SMALL["layers"] + 1)  # the squares, and the probabilities
    if not model.configuration.score_cap and model.configuration.positions not in ("alibi", "relative"):
        assert way_back == 0, "a cap is differentiated by torch, and a bias that is made whole is let go"
    same(found, expected)


@pytest.fixture
def squares_made(monkeypatch):
    """The deferred squares of which rows were asked for."""
    found, prepared = [], deferred_array.DeferredArray.prepared

    def noted(square):
        found.append(square)
        return prepared(square)

    monkeypatch.setattr(deferred_array.DeferredArray, "prepared", noted)
    return found


def test_what_the_mask_hides_is_known_without_the_scores(model, squares_made, monkeypatch):
    expected = gradient(model, IDS)
    as_if_large(monkeypatch)
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", 4 * SMALL["heads"] * len(IDS) ** 2 * 2)
    found = gradient(model, IDS)
    if model.causal and not model.configuration.attention_window:
        assert not squares_made
    same(found, expected)


def test_a_weight_of_nothing_that_is_seen_is_not_hidden(model, monkeypatch):
    strong = scale("layers/1/attention/query", 1e5)
    as_if_large(monkeypatch)
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", 4 * SMALL["heads"] * len(IDS) ** 2 * 2)
    found = gradient(model, IDS, interventions=[strong])
    hidden = found.trace.unseen(WEIGHTS)
    if not model.configuration.score_cap:
        assert (~hidden & (found.trace[WEIGHTS].array == 0)).any(), "the softmax leaves nothing of some"
    np.testing.assert_array_equal(np.isnan(found[WEIGHTS].array), hidden)


def test_cells_are_explained_as_ever(model, monkeypatch):
    as_if_large(monkeypatch)
    found = gradient(model, IDS)
    steps = [name for name in found.arrays if name.startswith("layers/1/attention/") and "bias" not in name]
    for address in steps:
        for head, place, other in ((0, 4, 2), (3, 8, 1)):
            index = (head, place, other)[-len(found[address].axes) :]
            if address.endswith(("/key", "/value", "key_rotated")):
                index = (head % len(found[address].array), place, other)
            arithmetic = explain_gradient(model, found, address, index)
            assert arithmetic.evaluate() == pytest.approx(arithmetic.value, rel=1e-3, abs=1e-6)


def test_what_would_have_been_refused_is_computed(model, monkeypatch):
    monkeypatch.setattr(backpropagation, "machine_memory", lambda: 1000)
    with pytest.raises(lmviz.LmvizError, match="would take about"):
        gradient(model, IDS)
    as_if_large(monkeypatch)
    found = gradient(model, IDS)
    np.testing.assert_array_equal(np.isnan(found[WEIGHTS].array), found.trace.unseen(WEIGHTS))


def test_it_can_be_pickled(model, monkeypatch):
    as_if_large(monkeypatch)
    found = gradient(model, IDS)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again[WEIGHTS].array, found[WEIGHTS].array)
