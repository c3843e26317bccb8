"""Answers over a large vocabulary are computed where somebody looks, and are those of a whole reading."""

import pickle

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.families import build_model, find_family
from lmviz.inspection import later_rows
from lmviz.inspection.explain import explain
from lmviz.inspection.interventions import replace, scale, zero
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.tracing import trace
from lmviz.models.operations.affine import Affine
from lmviz.models.transformer_configuration import TransformerConfiguration

IDS = np.array([5, 2, 6, 1, 2, 3, 4, 0, 6])
ANSWERS = ("logits", "probabilities")
TRANSFORMER = TransformerConfiguration(layers=2, heads=2, width=8, context=20)


@pytest.fixture(autouse=True)
def as_if_large(monkeypatch):
    monkeypatch.setattr(later_rows, "FEWEST", 0)


@pytest.fixture
def model():
    return build_model("transformer", TRANSFORMER, 7, seed=0).eval()


@pytest.fixture
def made(monkeypatch):
    """How many rows each matrix product of the output had."""
    found, compute = [], Affine.compute

    def noted(operation, scope):
        value = compute(operation, scope)
        if value.shape[-1] == 7:
            found.append(value.shape[1])
        return value

    monkeypatch.setattr(Affine, "compute", noted)
    return found


def same(found, expected):
    for address in ANSWERS:
        assert found[address].shape == expected[address].shape
        np.testing.assert_allclose(found[address].array, expected[address].array, rtol=1e-4, atol=1e-6)


def test_no_row_is_made_until_it_is_read(model, made):
    expected = trace(model, IDS)
    made.clear()
    found = trace(model, IDS, answers_later=True)
    assert all(found[address].is_deferred for address in ANSWERS)
    assert not made
    for address in ANSWERS:
        last = found[address].at(position=-1)
        np.testing.assert_allclose(last, expected[address].array[-1], rtol=1e-4, atol=1e-6)
    assert made == [1]
    share = found["probabilities"].at(position=3, token=2)
    np.testing.assert_allclose(share, expected["probabilities"].array[3, 2], rtol=1e-4)
    assert made == [1, 1]
    with pytest.raises(LmvizError, match="There is no position 9"):
        found["logits"].at(position=len(IDS))
    same(found, expected)
    assert sum(made) == len(IDS), "a row was made twice"
    assert not found["logits"].is_deferred
    with pytest.raises(ValueError, match="read-only"):
        found["logits"].at(position=0)[0] = 1.0


def test_a_number_that_was_seen_stays_when_the_text_grows(model, made):
    found = trace(model, IDS[:6], answers_later=True)
    seen = found["probabilities"].at(position=2)
    made.clear()
    for length in range(7, len(IDS) + 1):
        found = trace(model, IDS[:length], earlier=found, answers_later=True)
    np.testing.assert_array_equal(found["probabilities"].at(position=2), seen)
    assert not made
    same(found, trace(model, IDS))
    shorter = trace(model, IDS[:4], earlier=found, answers_later=True)
    same(shorter, trace(model, IDS[:4]))
    same(trace(model, IDS, earlier=shorter), trace(model, IDS))
    same(trace(model, IDS, earlier=trace(model, IDS[:5]), answers_later=True), trace(model, IDS))


@pytest.mark.parametrize(
    ("change", "deferred"),
    [
        (zero("layers/0/attention/output", position=3), True),
        (scale("logits", 2.0, token=1), True),
        (replace("probabilities", 0.5, token=1), False),
    ],
    ids=["below", "logits", "probabilities"],
)
def test_interventions_are_part_of_it(model, change, deferred):
    expected = trace(model, IDS, interventions=[change])
    found = trace(model, IDS, interventions=[change], answers_later=True)
    assert found["probabilities"].is_deferred == deferred
    same(found, expected)


def test_every_family_with_an_output_layer_has_it():
    settings = find_family("lstm").configuration.from_values({"width": 6, "layers": 2})
    model = build_model("lstm", settings, 7, seed=0).eval()
    found = trace(model, IDS, answers_later=True)
    assert found["logits"].is_deferred
    same(found, trace(model, IDS))


def test_a_model_that_counts_records_everything():
    from lmviz.models.ngram.configuration import NgramConfiguration
    from lmviz.models.ngram.counts import count_ngrams
    from lmviz.models.ngram.model import Ngram

    model = Ngram(NgramConfiguration(order=2), 7)
    model.fit(count_ngrams(np.tile(IDS, 3), 2, 7, start_id=None))
    found = trace(model, IDS, answers_later=True)
    assert not found["logits"].is_deferred
    same(found, trace(model, IDS))


def test_cells_are_explained_and_the_lens_is_the_same(model):
    expected, found = trace(model, IDS), trace(model, IDS, answers_later=True)
    one = logit_lens(model, found, positions=[2, 5])
    np.testing.assert_array_equal(one.ids, logit_lens(model, expected, positions=[2, 5]).ids)
    assert found["logits"].is_deferred, "the lens has made rows that it does not need"
    for address in ANSWERS:
        arithmetic = explain(model, found, address, (4, 3))
        assert arithmetic.evaluate() == pytest.approx(arithmetic.value, rel=1e-4)


def test_other_weights_of_the_model_change_nothing_that_was_read_before(model):
    expected, found = trace(model, IDS), trace(model, IDS, answers_later=True)
    model.exchange_state({name: 2 * value for name, value in model.state().items()})
    same(found, expected)
    again = trace(model, IDS, earlier=found, answers_later=True)
    assert np.abs(again["logits"].array - expected["logits"].array).max() > 0.1
    same(again, trace(model, IDS))


def test_it_is_saved_whole(model, tmp_path):
    found = trace(model, IDS, answers_later=True)
    same(pickle.loads(pickle.dumps(found)), found)
    found.save(tmp_path / "trace.npz")
    same(type(found).load(tmp_path / "trace.npz"), trace(model, IDS))
