"""The lines of Python that reproduce how far gradients reach, and what words matter, do reproduce it."""

import numpy as np
import pytest

import lmviz
from lmviz.families import build_model, find_family
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.interventions import scale
from lmviz.inspection.reach import reach, state_address
from lmviz.inspection.recipes.gradient import reach_recipe, saliency_recipe
from lmviz.inspection.recipes.recipe import RecipeSubject
from lmviz.inspection.saliency import saliencies
from lmviz.models.prediction import NEXT_TOKEN

TEXT = "the cows eat the corn"
CHANGE = scale("layers/0/hidden", 0.5, position=1)


@pytest.fixture
def run(a, monkeypatch):
    """Runs a recipe; the models that it opens are the tiny ones, by their kind."""
    monkeypatch.setattr(lmviz, "open_model", lambda name, step=None: a(name))

    def run(source):
        found = {}
        exec(source, found)
        return found

    return run


@pytest.mark.parametrize("changes", [(), (CHANGE,)])
def test_how_far_gradients_reach(run, a, changes):
    subjects = {kind: RecipeSubject(kind, TEXT, interventions=changes) for kind in ("rnn", "lstm")}
    norms = run(reach_recipe(subjects, "loss@4"))["norms"]
    assert set(norms) == {"rnn", "lstm"}
    for kind, found in norms.items():
        expected = gradient(a(kind), TEXT, "loss@4", interventions=changes)
        assert np.array_equal(found, reach(expected, state_address(a(kind))).norms)


@pytest.mark.parametrize("changes", [(), (CHANGE,)])
def test_which_words_matter(run, a, changes):
    subject = RecipeSubject("gru", TEXT, interventions=changes)
    found = run(saliency_recipe(subject, "loss@4", {}))
    [expected] = saliencies(a("gru"), gradient(a("gru"), TEXT, "loss@4", interventions=changes))
    assert found["predicted"].keys() == found["measured"].keys() == {"text"}
    assert np.array_equal(found["predicted"]["text"], expected.predicted)
    assert np.array_equal(found["measured"]["text"], expected.measured)


def test_what_is_read_beside_the_text_is_given(run, monkeypatch):
    configuration = find_family("gru").configuration(layers=1, width=4)
    model = build_model("gru", configuration, 6, 0, NEXT_TOKEN, 5).eval().requires_grad_(False)
    monkeypatch.setattr(lmviz, "open_model", lambda name, step=None: model)
    text, source = [0, 3, 5, 2], np.array([4, 0, 2, 1])
    found = run(saliency_recipe(RecipeSubject("gru", text), "loss@3", {"source": source}))
    expected = saliencies(model, gradient(model, text, "loss@3", source=source))
    assert set(found["measured"]) == {"text", "source"} == {item.sequence for item in expected}
    for item in expected:
        assert np.array_equal(found["measured"][item.sequence], item.measured)
