import numpy as np
import pytest
import torch
from covering import parametrize_few
from torch.nn import functional

from lmviz.base.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import add, scale
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.stream import residual_norms, stream_places
from lmviz.inspection.tracing import trace
from lmviz.models.tap import Stage


def test_the_last_place_is_the_model_s_own_distribution(model, text):
    found = trace(model, text)
    lens = logit_lens(model, found, count=4)
    probabilities = found["probabilities"].array
    order = np.argsort(-probabilities, axis=-1, kind="stable")[:, :4]
    expected = np.take_along_axis(probabilities, order, axis=-1)
    assert lens.probabilities[-1] == pytest.approx(expected, abs=1e-6)
    assert lens.of_final[-1] == pytest.approx(probabilities.max(axis=-1), abs=1e-6)
    entropy = -(probabilities * np.log2(np.maximum(probabilities, 1e-30))).sum(axis=-1)
    assert lens.entropy[-1] == pytest.approx(entropy, abs=1e-4)


def test_from_where_it_is_settled_the_likeliest_stays_the_final_one(model, text):
    lens = logit_lens(model, trace(model, text))
    first = lens.ids[:, :, 0]
    for position, row in enumerate(lens.settled):
        assert (first[row:, position] == first[-1, position]).all()
        assert row == 0 or first[row - 1, position] != first[-1, position]


PLACES = {
    "transformer-learned-pre": (
        "embedding/sum",
        *(f"layers/{layer}/residual{half}" for layer in (0, 1) for half in (1, 2)),
    ),
    "transformer-learned-post": (
        "embedding/sum",
        *(f"layers/{layer}/norm{half}" for layer in (0, 1) for half in (1, 2)),
    ),
    "transformer-no-norm": ("embedding/sum", "layers/0/residual1", "layers/0/residual2"),
    "transformer-no-residual": (
        "embedding/sum",
        *(f"layers/{layer}/stream{half}" for layer in (0, 1) for half in (1, 2)),
    ),
    "lstm": ("layers/0/hidden", "layers/1/hidden"),
    "window": ("hidden",),
    "ngram": ("orders/1/probabilities", "orders/2/probabilities", "orders/3/probabilities"),
}


@pytest.mark.parametrize("kind", PLACES)
def test_each_family_has_places_along_its_stream(a, text, kind):
    assert logit_lens(a(kind), trace(a(kind), text)).places == PLACES[kind]


def test_an_early_place_goes_through_the_final_norm_and_the_output(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text)
    lens = logit_lens(model, found, count=3)
    stream = torch.from_numpy(found["layers/0/residual2"].array.copy())
    normal = functional.layer_norm(stream, stream.shape[-1:], model.norm.weight, model.norm.bias)
    shares = (normal @ model.output_weight.T).softmax(-1)
    place = lens.places.index("layers/0/residual2")
    assert lens.probabilities[place] == pytest.approx(shares.topk(3).values.numpy(), abs=1e-6)
    assert np.array_equal(lens.ids[place], shares.topk(3).indices.numpy())
    final = found["probabilities"].array.argmax(axis=-1)
    assert lens.of_final[place] == pytest.approx(shares.numpy()[range(len(final)), final], abs=1e-6)


def test_some_positions_give_what_all_give(model, text):
    found = trace(model, text)
    whole, some = logit_lens(model, found), logit_lens(model, found, positions=[4, 1])
    assert some.positions == (4, 1)
    assert some.probabilities == pytest.approx(whole.probabilities[:, [4, 1]], abs=1e-6)
    assert some.entropy == pytest.approx(whole.entropy[:, [4, 1]], abs=1e-5)


CHANGES = {
    "an answer": add("logits", 9.0, token=3),
    "an answer at one position": scale("logits", 3.0, position=2),
    "the norm": scale("norm", -1.0, channel=(0, 2, 5)),
    "the norm at one position": add("norm", 3.0, position=1, channel=0),
    "no norm": Intervention("norm", "bypass"),
}


@parametrize_few("change", CHANGES, quick=2)
def test_under_surgery_behind_the_last_place_it_is_still_the_model_s_own_answer(model, text, change):
    if CHANGES[change].address not in trace(model, text).arrays:
        pytest.skip("it has no norm behind its last place")
    found = trace(model, text, interventions=[CHANGES[change]])
    shares = torch.tensor(found["logits"].array).softmax(dim=-1).numpy()
    for positions in (range(len(found)), [2, 0, 1]):
        lens, own = logit_lens(model, found, positions=positions), shares[list(positions)]
        likeliest = np.take_along_axis(own, lens.ids[-1, :, :1], axis=-1)[:, 0]
        assert likeliest == pytest.approx(own.max(axis=-1), abs=1e-6)
        assert lens.probabilities[-1, :, 0] == pytest.approx(own.max(axis=-1), abs=1e-6)
        assert lens.of_final[-1] == pytest.approx(own.max(axis=-1), abs=1e-6)


def test_positions_in_any_order_give_their_own_answers(model, text):
    found = trace(model, text)
    whole, turned = logit_lens(model, found), logit_lens(model, found, positions=[5, 4, 3, 2, 1, 0])
    np.testing.assert_array_equal(turned.ids, whole.ids[:, ::-1])


@pytest.mark.parametrize("positions", [[], [6], [-7]])
def test_positions_must_be_there(a, text, positions):
    model = a("lstm")
    with pytest.raises(LmvizError, match=r"(No|no) position"):
        logit_lens(model, trace(model, text), positions=positions)


def test_places_that_were_not_recorded_are_said(a, text):
    model = a("lstm")
    with pytest.raises(LmvizError, match="layers/0/hidden"):
        logit_lens(model, trace(model, text, taps=["layers/1/hidden", "logits"]))


def test_norms_of_the_stream(a, text):
    found = trace(a("transformer-rotary-pre"), text)
    places, norms = residual_norms(found)
    assert places == stream_places(found.arrays, found.stages)
    assert norms.shape == (5, 6)
    assert norms[3, 2] == pytest.approx(np.sqrt((found["layers/1/residual1"].array[2] ** 2).sum()), rel=1e-5)


def test_other_names_leave_one_place_and_no_state_is_said(a, text, monkeypatch):
    logits = Stage("Logits", "", ("logits",), ("mean", "other"), "output")
    assert stream_places(("mean", "other", "logits"), (logits,)) == ("mean",)
    assert stream_places(("logits",), (logits,)) == ()
    model = a("window")
    found = trace(model, text)
    monkeypatch.setattr(type(model), "taps", lambda self: ())
    monkeypatch.setattr(type(model), "stages", lambda self: ())
    with pytest.raises(LmvizError, match="names no state"):
        logit_lens(model, found)
