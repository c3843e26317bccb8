import numpy as np
import pytest

import lmviz
from lmviz.decoding.beam import beam_search
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import next_distribution
from lmviz.decoding.histories import read_both_ways
from lmviz.decoding.labels import label
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.decoding.options import BeamOptions, SamplingOptions
from lmviz.decoding.outcome import outcome
from lmviz.decoding.sampling import sample
from lmviz.families import build_model, find_family
from lmviz.inspection import views
from lmviz.inspection.attention import combine_heads
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.class_readings import read_beginnings
from lmviz.inspection.equations import one_line
from lmviz.inspection.explain import explain
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import paint_attention, remove_positions, scale_head, swap_tokens
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.recipes import decoding as decoding_recipes
from lmviz.inspection.recipes import recipe as recipes
from lmviz.inspection.recipes.recipe import RecipeSubject
from lmviz.inspection.tracing import trace
from lmviz.models.prefix import read_prefix
from lmviz.tasks import TASKS

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
    return RecipeSubject("transformer-learned-pre", TRICKY, step=40)


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


@pytest.mark.parametrize("address", ["layers/0/norm1", "layers/0/attention/scores", "probabilities"])
def test_a_view_is_reproduced_as_it_is_drawn(run, moment, a, address):
    found = trace(a(moment.model), TRICKY)
    tokens = views.likeliest_answers(found, 2, 3)
    order = (2, 0, 1) if address.endswith("norm1") else None
    drawn = views.matrix(found, address, 1, 2, tokens, order)
    made = run(recipes.view_recipe(moment, drawn))
    assert np.array_equal(made["values"], drawn.values)
    assert set(made["trace"].arrays) == {address}, "nothing else is recorded"


def test_views_are_reproduced_by_name(run, moment, a):
    found = trace(a(moment.model), TRICKY)
    addresses = ("layers/1/attention/weights", "layers/1/attention/query", "logits")
    drawn = {f"of {address}": views.strip(found, address, 2, 1, (4, 1)) for address in addresses}
    values = run(recipes.views_recipe(moment, drawn))["values"]
    assert values.keys() == drawn.keys()
    assert all(np.array_equal(values[name], view.values[0]) for name, view in drawn.items())


def test_whole_taps_by_address(run, moment, a):
    values = run(recipes.arrays_recipe(moment, ["layers/0/norm1", "logits"]))["values"]
    found = trace(a(moment.model), TRICKY)
    assert set(values) == {"layers/0/norm1", "logits"}
    assert all(np.array_equal(value, found[address].array) for address, value in values.items())


def test_the_last_snapshot_needs_no_step(run):
    run(recipes.array_recipe(RecipeSubject("lstm", "the cows"), "logits"))
    assert run.opened == [("lstm", None)]


def test_interventions_are_spelt_out(run, a):
    model = a("transformer-learned-pre")
    moment = RecipeSubject("transformer-learned-pre", TRICKY, interventions=surgery(model))
    found = run(recipes.array_recipe(moment, "logits"))
    expected = trace(model, TRICKY, interventions=moment.interventions)["logits"].array
    assert np.array_equal(found["values"], expected)
    distribution = run(decoding_recipes.distribution_recipe(moment, {"temperature": 0.5}))["distribution"]
    assert np.array_equal(distribution.logits, expected[-1].astype(np.float64))
    assert distribution.options.temperature == 0.5


@pytest.mark.parametrize("required", [True, False])
def test_an_intervention_spelt_out_is_the_same_one(required):
    made = Intervention("logits", "scale", 0.5, {"position": 2}, label="half", required=required)
    found = {}
    exec(f"found = {recipes.as_source(made)}", {"Intervention": Intervention}, found)
    assert found["found"] == made
    assert found["found"].required is required


def test_with_interventions_only_the_logits_are_recorded_for_a_distribution(run):
    moment = RecipeSubject("transformer-learned-pre", TRICKY, interventions=(scale_head(0, 1),))
    found = run(decoding_recipes.distribution_recipe(moment, {}))
    assert list(found["trace"].arrays) == ["logits"]


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
    found = run(decoding_recipes.distribution_recipe(moment, {"temperature": 0.8, "top_k": 3}))[
        "distribution"
    ]
    assert np.array_equal(found.logits, Continuation.of(a(moment.model), TRICKY).logits)
    assert found.options == SamplingOptions(temperature=0.8, top_k=3)


def test_a_sample(run, moment, a):
    found = run(decoding_recipes.sample_recipe(moment, 5, {"seed": 3, "top_p": 0.9}))["steps"]
    expected = sample(a(moment.model), TRICKY, 5, SamplingOptions(seed=3, top_p=0.9))
    assert [step.text for step in found] == [step.text for step in expected]


def test_a_beam(run, moment, a):
    found = run(decoding_recipes.beam_recipe(moment, {"width": 2, "length": 3}))["tree"]
    assert found == beam_search(a(moment.model), TRICKY, BeamOptions(width=2, length=3))


def test_a_likelihood(run, moment, a):
    found = run(decoding_recipes.likelihood_recipe(moment))["likelihood"]
    assert found == text_log_probabilities(a(moment.model), TRICKY)
    ended = run(decoding_recipes.likelihood_recipe(moment, ends=True))["likelihood"]
    assert ended == text_log_probabilities(a(moment.model), TRICKY, ends=True)


def test_a_comparison(run):
    found = run(
        decoding_recipes.comparison_recipe(
            [RecipeSubject("lstm", "the cows eat", 8), RecipeSubject("ngram", "the cows eat")]
        )
    )
    assert found["found"].places.tolist() == [0, 3, 8, 12]
    assert run.opened == [("lstm", 8), ("ngram", None)]


def test_models_side_by_side_one_of_them_changed(run, a):
    changed = RecipeSubject("transformer-learned-pre", TRICKY, interventions=(scale_head(0, 1),))
    found = run(decoding_recipes.side_by_side_recipe([changed, RecipeSubject("lstm", TRICKY)]))[
        "distributions"
    ]
    model = a("transformer-learned-pre")
    expected = trace(model, TRICKY, interventions=changed.interventions)["logits"].array[-1]
    np.testing.assert_allclose(found[0].logits, expected, rtol=1e-5, atol=1e-6)
    assert np.array_equal(found[1].logits, Continuation.of(a("lstm"), TRICKY).logits)


def test_what_several_ways_of_decoding_came_to(run, moment, a):
    model = a(moment.model)
    chosen = {"greedy": (3, 4), "beam": [5]}
    found = run(decoding_recipes.outcomes_recipe(moment, chosen, 0.7))["outcomes"]
    assert found == {name: outcome(model, TRICKY, list(ids), 0.7) for name, ids in chosen.items()}


def test_branches(run, moment, a):
    paths = [(3,), (3, 4)]
    found = run(decoding_recipes.branches_recipe(moment, paths, {"temperature": 0.5}))["probabilities"]
    for (*before, last), probability in zip(paths, found, strict=True):
        logits = Continuation.of(a(moment.model), TRICKY, before).logits
        assert probability == next_distribution(logits, temperature=0.5).probability_of(last)


def test_both_histories_of_a_text(run, a):
    found = run(decoding_recipes.histories_recipe(RecipeSubject("lstm", "the cows eat")))["found"]
    expected = read_both_ways(a("lstm"), "the cows eat")
    assert (found.right, found.own) == (expected.right, expected.own)
    np.testing.assert_array_equal(found.after_own, expected.after_own)


def test_samples_of_several_models_by_the_same_draws(run, a):
    subjects = [RecipeSubject(kind, "the cows") for kind in ("lstm", "ngram")]
    found = run(decoding_recipes.samples_recipe(subjects, (3, 5), {"seed": 2}))["samples"]
    for subject, length, steps in zip(subjects, (3, 5), found, strict=True):
        expected = sample(a(subject.model), "the cows", length, SamplingOptions(seed=2))
        assert [step.id for step in steps] == [step.id for step in expected]


@pytest.mark.parametrize("task", ["tagging", "classification"])
def test_labels_of_models(run, a, monkeypatch, task):
    configuration = find_family("lstm").configuration(width=5, layers=1)
    tokenizer, predicts = a("lstm").tokenizer, TASKS[task].predicts(("good", "bad"))
    model = build_model("lstm", configuration, tokenizer.vocabulary_size, 0, predicts).eval()
    model.tokenizer = tokenizer
    monkeypatch.setattr(lmviz, "open_model", lambda name, step=None: model)
    subjects = [RecipeSubject("one", "the cows eat")]
    [found] = run(decoding_recipes.labels_recipe(subjects, task == "classification"))["found"]
    ids = read_prefix(model, "the cows eat").ids
    if task == "classification":
        np.testing.assert_array_equal(found, read_beginnings(model, ids))
    else:
        np.testing.assert_array_equal(found, label(model, "the cows eat").probabilities)


def test_what_is_drawn_and_scored_is_so_with_the_interventions(run, a):
    moment = RecipeSubject("transformer-learned-pre", TRICKY, interventions=(scale_head(0, 1),))
    changed = ChangedModel(a(moment.model), moment.interventions)
    found = run(decoding_recipes.likelihood_recipe(moment))["likelihood"]
    assert found == text_log_probabilities(changed, TRICKY)
    steps = run(decoding_recipes.sample_recipe(moment, 4, {"seed": 1}))["steps"]
    assert [step.id for step in steps] == [
        step.id for step in sample(changed, TRICKY, 4, SamplingOptions(seed=1))
    ]
