"""Measures that are no single word: sets of words, functions of the answer, the distance to the model."""

import numpy as np
import pytest
import torch
from family_cases import IDS, beside, one_of_each, source_of, trained, translates, untrained

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.circuits.contrast import Contrast
from lmviz.inspection.interventions import add
from lmviz.inspection.measures import Divergence, WordSum

OTHER = (*IDS[:-1].tolist(), 1)


def pair(measure, model=None):
    if model is not None and translates(model):
        return Contrast(tuple(IDS), OTHER, measure, tuple(source_of(model)))
    return Contrast(tuple(IDS), OTHER, measure)


def last(answer):
    """The logit of one token, or of one label, at the end."""
    logits = answer.logits
    return logits[..., 1] if logits.ndim == 1 else logits[-1, 1]


@one_of_each
def test_a_function_measures_what_the_same_number_by_name_measures(family, options):
    model = trained(family, tuple(sorted(options.items())))
    label = model.predicts.names[1] if not model.predicts.continues else "1"
    try:
        named = lmviz.ablate(model, pair(f"logit:{label}", model))
    except LmvizError:
        pytest.skip("this number cannot be asked without each part")
    found = lmviz.ablate(model, pair(last, model))
    np.testing.assert_allclose(found.array, named.array, atol=1e-5)
    assert found.intact == pytest.approx(named.intact, abs=1e-5)


def test_gradients_go_through_a_function():
    model = trained("gru", ())
    own, named = lmviz.gradient(model, IDS, last), lmviz.gradient(model, IDS, "logit:1")
    assert own.value == pytest.approx(named.value)
    for address in named.arrays:
        np.testing.assert_allclose(own[address].array, named[address].array, atol=1e-7)


def test_a_function_may_read_any_tap_and_be_carried_over():
    model = trained("transformer", ())
    of_tap = pair(lambda answer: answer["layers/1/residual2"][-1, 0])
    same = pair(("layers/1/residual2", (len(IDS) - 1, 0)))
    np.testing.assert_allclose(lmviz.patch(model, of_tap).array, lmviz.patch(model, same).array, atol=1e-6)


def test_words_are_added_up_and_held_against_others():
    model = trained("transformer", ())
    words = WordSum(("1", "2"), ("3", "4"), of="probability", position=3)
    found = lmviz.gradient(model, IDS, words)
    p = found.trace["probabilities"].array[3]
    assert found.value == pytest.approx(p[1] + p[2] - p[3] - p[4])
    parts = lmviz.attribute(model, pair(WordSum(("1", "2"), ("3", "4"), of="logit")))
    logits = lmviz.trace(model, IDS)["logits"].array[-1]
    assert parts.total == pytest.approx(logits[1] + logits[2] - logits[3] - logits[4], abs=1e-5)


@pytest.mark.parametrize("position", [-1, 2, None])
def test_divergence_is_that_of_the_answers_of_two_passes(position):
    model = trained("transformer", ())
    found = lmviz.ablate(model, pair(Divergence(position)))
    assert found.intact == 0
    before = lmviz.trace(model, IDS)["logits"].array
    for layer, head in np.ndindex(found.array.shape):
        change = [lmviz.scale_head(layer, head)]
        after = lmviz.trace(model, IDS, interventions=change)["logits"].array
        one, other = (torch.tensor(rows).double().log_softmax(-1) for rows in (before, after))
        each = torch.nn.functional.kl_div(other, one, log_target=True, reduction="none").sum(-1)
        wanted = each.mean() if position is None else each[position]
        assert found.array[layer, head] == pytest.approx(float(wanted), abs=1e-6)
        swept = lmviz.gradient(model, IDS, Divergence(position), interventions=change)
        assert swept.value == pytest.approx(float(wanted), abs=1e-6)


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        (lambda answer: answer.logits, "of shape .* instead of one number"),
        (lambda answer: 3.0, "reads nothing of the answer"),
        (lambda answer: answer["layers/0/feed_forward/output"].sum(), "did you mean"),
        (lambda answer: answer.logits[0, 0] / 0, "inf for this text"),
        (WordSum(("9",)), "no tokenizer"),
        (WordSum(("1",), position=40), "position"),
    ],
    ids=["shape", "nothing", "tap", "infinite", "word", "position"],
)
@pytest.mark.parametrize("ask", [lmviz.patch, lmviz.ablate, lmviz.attribute], ids=lambda ask: ask.__name__)
def test_what_cannot_be_measured_is_refused_at_the_first_call(ask, measure, said):
    model = untrained("transformer", {})
    heard = []
    with pytest.raises(LmvizError, match=said):
        ask(model, [pair("logit:1"), pair(measure)], progress=heard.append)
    assert not [share for share in heard if share > 0]


def test_a_function_is_no_sum_of_parts():
    with pytest.raises(LmvizError, match="no sum of what parts add"):
        lmviz.attribute(untrained("transformer", {}), pair(last))


def test_words_that_cannot_be_held_against_each_other_are_refused():
    with pytest.raises(LmvizError, match="give as many"):
        WordSum(("1", "2"), ("3",), of="logit")
    assert beside(untrained("gru", {})) == {}


ASKS = (lmviz.patch, lmviz.ablate, lmviz.attribute, lambda model, one: lmviz.circuit(model, one, 2))


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("family", ["transformer", "lstm"])
def test_weights_that_are_no_numbers_are_named_by_whatever_measures(family, ask):
    model = untrained(family, {})
    with torch.no_grad():
        [*model.parameters()][2].fill_(float("nan"))
    with pytest.raises(LmvizError, match="NaN or infinity in"):
        ask(model, pair("logit:1-2"))


@pytest.mark.filterwarnings("error")
def test_a_function_that_gives_no_number_is_refused_without_a_warning():
    with pytest.raises(LmvizError, match="is nan for this text"):
        lmviz.gradient(untrained("lstm", {}), IDS, lambda answer: answer.logits.sum() * float("nan"))


def test_a_weight_that_only_the_shares_read_is_named_too():
    model = untrained("transformer", {"tied": True})
    with torch.no_grad():
        model.embedding.weight[0] = float("nan")  # no token of the text, and no word of the measure
    assert np.isfinite(lmviz.ablate(model, pair("logit:1-2")).array).all()
    with pytest.raises(LmvizError, match=r"infinity in embedding\.weight, so the shares"):
        lmviz.attribute(model, pair("logit:1-2"))


@pytest.mark.parametrize("ask", ASKS[:3])
def test_a_measure_that_is_no_number_in_the_text_itself_is_refused_as_such(ask):
    """And is not blamed on the part that is taken away."""
    counted = trained("ngram", (("smoothing", "maximum-likelihood"),))
    with pytest.raises(LmvizError, match=r"not a finite number here|gives a word the probability 0"):
        ask(counted, pair("logit:1-2"))
    model = untrained("transformer", {})
    changed = [add("layers/1/residual2", 1e38)]
    with pytest.raises(LmvizError, match=r"not a finite number here|are infinite here"):
        ask(model, pair("logit:1-2"), interventions=changed)
