"""Only the model that made a trace explains it, with the weights that it had then."""

import copy

import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.explain import explain
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace

ASKED = [
    lambda model, found: explain(model, found, "logits", (0, 0)),
    lambda model, found: logit_lens(model, found),
]


@pytest.mark.parametrize("ask", ASKED)
def test_another_instance_with_the_same_weights_may_answer(model, text, ask):
    ask(copy.deepcopy(model), trace(model, text))


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("kind", ["lstm", "transformer-learned-pre", "window"])
def test_a_model_that_has_learned_since_may_not(a, text, ask, kind):
    model = copy.deepcopy(a(kind))
    found = trace(model, text)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.01
    with pytest.raises(LmvizError, match=r"step 0, and it has learned since, or .* same name: ask the model"):
        ask(model, found)


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("kind", ["lstm", "ngram"])
def test_another_snapshot_may_not(a, text, ask, kind, tmp_path):
    model = copy.deepcopy(a(kind))
    model.step = 100
    found = trace(model, text)
    found.save(tmp_path / "trace.npz")
    stored = Trace.load(tmp_path / "trace.npz")
    ask(model, stored)
    model.step = 500
    for each in (found, stored):
        with pytest.raises(LmvizError, match=r"at step 100, and this is .* at step 500"):
            ask(model, each)


@pytest.mark.parametrize("ask", ASKED)
def test_another_family_may_not(a, text, ask):
    with pytest.raises(LmvizError, match=r"\(gru\).* and this is .*\(lstm\)"):
        ask(a("lstm"), trace(a("gru"), text))
