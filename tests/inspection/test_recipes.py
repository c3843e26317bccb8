import numpy as np
import pytest

import lmviz
from lmviz.decoding.beam import beam_search
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.decoding.options import BeamOptions, SamplingOptions
from lmviz.decoding.sampling import sample
from lmviz.inspection import recipes
from lmviz.inspection.attention import combine_heads
from lmviz.inspection.equations import one_line
from lmviz.inspection.explain import explain
from lmviz.inspection.interventions import paint_attention, remove_positions, scale_head, swap_tokens
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.recipes import Moment
from lmviz.inspection.trace import trace

TRICKY = 'the "cows" eat\n\\the corn'


@pytest.fixture
def run(a, monkeypatch):
    """Runs a recipe; the models that it opens are the tiny ones, by their kind."""
    opened = []

    def open_model(name, step=None):
        opened.append((name, step))
        return a(name)

    monkeypatch.setattr(lmviz, "open_model", open_model, raising=False)

    def run(source):
        found = {}
        exec(source, found)
        return found

    run.opened = opened
    return run


@pytest.fixture
def moment():
    return Moment("transformer-learned-pre", TRICKY, step=40)


def surgery(model):
    plain = trace(model, TRICKY)
    return (
        scale_head(0, 1),
        paint_attention(plain, 1, 0, 3, 1, 0.7),
        swap_tokens(1, 2),
        *remove_positions(model),
    )


def test_an_array(run, moment, a):
    found = run(recipes.array_recipe(moment, "layers/0/attention/weights", head=1, query=2))
    expected = trace(a(moment.model), TRICKY)["layers/0/attention/weights"].array[1, 2]
    assert np.array_equal(found["values"], expected)
    assert run.opened == [("transformer-learned-pre", 40)]
    whole = run(recipes.array_recipe(moment, "norm"))["values"]
    assert np.array_equal(whole, trace(a(moment.model), TRICKY)["norm"].array)


def test_the_last_snapshot_needs_no_step(run):
    run(recipes.array_recipe(Moment("lstm", "the cows"), "logits"))
    assert run.opened == [("lstm", None)]


def test_interventions_are_spelt_out(run, a):
    model = a("transformer-learned-pre")
    moment = Moment("transformer-learned-pre", TRICKY, interventions=surgery(model))
    found = run(recipes.array_recipe(moment, "logits"))
    expected = trace(model, TRICKY, interventions=moment.interventions)["logits"].array
    assert np.array_equal(found["values"], expected)
    distribution = run(recipes.distribution_recipe(moment, {"temperature": 0.5}))["distribution"]
    assert np.array_equal(distribution.logits, expected[-1].astype(np.float64))
    assert distribution.options.temperature == 0.5


def test_an_explanation(run, moment, a):
    found = run(recipes.explanation_recipe(moment, "layers/1/norm1", (2, 3)))
    model = a(moment.model)
    assert found["equation"] == one_line(explain(model, trace(model, TRICKY), "layers/1/norm1", (2, 3)))


def test_combined_heads(run, moment, a):
    found = run(recipes.attention_recipe(moment, [(0, 1), (1, 1)], "max"))
    assert np.array_equal(
        found["weights"], combine_heads(trace(a(moment.model), TRICKY), [(0, 1), (1, 1)], "max")
    )


def test_a_lens(run, moment, a):
    model = a(moment.model)
    assert np.array_equal(
        run(recipes.lens_recipe(moment, 3))["lens"].ids, logit_lens(model, trace(model, TRICKY), 3).ids
    )


def test_a_distribution(run, moment, a):
    found = run(recipes.distribution_recipe(moment, {"temperature": 0.8, "top_k": 3}))["distribution"]
    assert np.array_equal(found.logits, Continuation.of(a(moment.model), TRICKY).logits)
    assert found.options == SamplingOptions(temperature=0.8, top_k=3)


def test_a_sample(run, moment, a):
    found = run(recipes.sample_recipe(moment, 5, {"seed": 3, "top_p": 0.9}))["steps"]
    expected = sample(a(moment.model), TRICKY, 5, SamplingOptions(seed=3, top_p=0.9))
    assert [step.text for step in found] == [step.text for step in expected]


def test_a_beam(run, moment, a):
    found = run(recipes.beam_recipe(moment, {"width": 2, "length": 3}))["tree"]
    assert found == beam_search(a(moment.model), TRICKY, BeamOptions(width=2, length=3))


def test_a_likelihood(run, moment, a):
    found = run(recipes.likelihood_recipe(moment))["likelihood"]
    assert found == text_log_probabilities(a(moment.model), TRICKY)


def test_a_comparison(run):
    found = run(
        recipes.comparison_recipe([Moment("lstm", "the cows eat", 8), Moment("ngram", "the cows eat")])
    )
    assert found["found"].places.tolist() == [0, 3, 8, 12]
    assert run.opened == [("lstm", 8), ("ngram", None)]
