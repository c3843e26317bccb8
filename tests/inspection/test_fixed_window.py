"""The fixed window: products that add up to its units, and what it cannot see, measured."""

import numpy as np
import pytest
import torch

from lmviz.families import FAMILIES, build_model
from lmviz.inspection.at_position import window_taps
from lmviz.inspection.explain import explain
from lmviz.inspection.fixed_window import fixed_window
from lmviz.inspection.influence import influence
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.tracing import trace
from lmviz.tasks import TASKS

TEXT = "the cows eat the corn the cows sleep"


@pytest.fixture(params=["window", "window-direct"])
def kind(request):
    return request.param


def test_the_products_of_the_words_and_the_bias_are_a_units_sum(a, kind):
    model = a(kind)
    traced = trace(model, TEXT)
    bias = model.hidden.bias.detach().numpy()
    for position in (0, 1, len(traced) - 1):
        found = fixed_window(model, traced, position)
        assert found.positions == (position - 2, position - 1, position)
        np.testing.assert_allclose(
            np.tanh(found.products.sum(axis=1) + bias), traced["hidden"].array[position], atol=1e-5
        )
        assert not found.products[:, [at < 0 for at in found.positions]].any(), "zeros before the text"


def test_a_product_is_what_the_explanation_adds_up_for_that_word(a):
    model = a("window")
    traced = trace(model, TEXT)
    found = fixed_window(model, traced, 5)
    groups = explain(model, traced, "hidden", (5, 2)).terms[:3]
    for word, group in enumerate(groups):
        stated = np.prod([factor.values for factor in group.factors], axis=0).sum()
        assert found.products[2, word] == pytest.approx(stated, abs=1e-5)


def test_the_votes_of_the_units_are_a_words_logit(a):
    model = a("window")
    traced = trace(model, TEXT)
    found = fixed_window(model, traced, 4)
    bias = model.output.bias.detach().numpy()
    np.testing.assert_allclose(
        found.votes.sum(axis=1) + bias[found.ids], traced["logits"].array[4][found.ids], atol=1e-4
    )
    np.testing.assert_array_equal(found.probabilities, traced["probabilities"].array[4][found.ids])


def test_of_equally_likely_words_the_first_are_shown():
    model = build_model("window", FAMILIES["window"].configuration(width=4, embedding=3), 200, seed=0).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.output.bias[1::2] = 1
    found = fixed_window(model, trace(model, [1, 2, 3]), 2)
    assert found.ids.tolist() == [2 * place + 1 for place in range(len(found.ids))]


def test_words_before_the_window_change_nothing_to_the_last_bit_and_those_in_it_do(a, kind):
    model = a(kind)
    traced = trace(model, TEXT)
    last = len(traced) - 1
    found = fixed_window(model, traced, last)
    assert found.unseen == tuple(range(last - 2))
    assert found.change == 0.0
    measured = dict(zip(found.influence.words, found.influence.logits, strict=True))
    assert all(measured[word] == 0.0 for word in found.unseen)
    assert all(measured[word] > 1e-4 for word in found.positions)
    assert np.isnan(fixed_window(model, traced, 2).change), "nothing stands before the window there"


@pytest.mark.parametrize("name", ["lstm", "transformer-learned-pre"])
def test_what_is_measured_is_what_another_text_gives(a, name):
    model = a(name)
    traced = trace(model, TEXT)
    position = len(traced) - 2
    found = influence(model, traced, position, [1, 3])
    for place, word in enumerate(found.words):
        ids = traced.ids.copy()
        assert ids[word] != found.replacements[place]
        ids[word] = found.replacements[place]
        other = trace(model, ids)
        for name_of_tap, changes in (("logits", found.logits), ("probabilities", found.probabilities)):
            before, after = (one[name_of_tap].array[position] for one in (traced, other))
            finite = np.isfinite(before)
            assert changes[place] == pytest.approx(np.abs(after - before)[finite].max(), rel=1e-3, abs=1e-5)
            assert changes[place] > 0


def test_every_word_is_replaced_by_another_even_where_it_was_expected(a):
    model = a("ngram")
    traced = trace(model, TEXT)
    words = range(1, len(traced))
    expected = traced["logits"].array[:-1].argmax(axis=-1)
    assert (expected == traced.ids[1:]).any(), "the model expects some of the words that come"
    found = influence(model, traced, len(traced) - 1, words)
    assert (found.replacements != traced.ids[1:]).all()


def test_a_changed_model_is_measured_as_it_is_changed(a):
    model = a("window")
    silent = trace(model, TEXT, interventions=[Intervention("hidden", "replace", 0.0)])
    found = influence(model, silent, 5, [3, 4, 5])
    assert not found.logits.any(), "with its hidden layer at zero it sees nothing at all"


def test_nothing_is_asked_of_no_words(a):
    model = a("window")
    assert influence(model, trace(model, TEXT), 2, []).logits.shape == (0,)


def test_only_a_window_has_one(a, kind):
    assert window_taps(trace(a(kind), TEXT)) == ("embedding", "hidden", 3)
    assert window_taps(trace(a("lstm"), TEXT)) is None
    assert window_taps(trace(a("ngram"), TEXT)) is None


def test_a_window_that_gives_labels_is_no_window_over_the_next_word():
    configuration = FAMILIES["window"].configuration(window=3, width=5)
    model = build_model("window", configuration, 7, 0, TASKS["tagging"].predicts(("noun", "verb"))).eval()
    assert window_taps(trace(model, [1, 2, 3])) is None
