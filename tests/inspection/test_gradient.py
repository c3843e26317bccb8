"""Gradients of real models: what they are taken of, what they hold, and how their cells are explained."""

import pickle

import numpy as np
import pytest
import torch
from quickest import quickest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.families import build_model, find_family
from lmviz.inspection import backpropagation
from lmviz.inspection.backpropagation import GradientRecorder, gradient
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.equations import one_line
from lmviz.inspection.explain_gradient import explain_gradient
from lmviz.inspection.gradient import Gradient
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import add, paint_attention, replace, scale, scale_head, zero
from lmviz.inspection.tracing import trace
from lmviz.models.operations import Activation
from lmviz.models.tap import Operation, Tap, Value

LEARNERS = ("window", "rnn", "lstm", "gru", "transformer-learned-pre", "transformer-rotary-pre")


def largest(array):
    return tuple(map(int, np.unravel_index(np.nanargmax(np.abs(array)), array.shape)))


def agrees(arithmetic, array):
    found, value = arithmetic.evaluate(), arithmetic.value
    return np.isnan(value) or abs(found - value) <= 1e-5 * np.nanmax(np.abs(array)) + 1e-7


@pytest.mark.parametrize("kind", LEARNERS)
def test_it_has_the_addresses_and_axes_of_the_trace(a, text, kind):
    found, traced = lmviz.gradient(a(kind), text), trace(a(kind), text)
    assert set(found.arrays) == set(traced.arrays)
    for address, one in found.arrays.items():
        assert one.axes == traced[address].axes
        assert one.array.shape == traced[address].array.shape
        np.testing.assert_allclose(found.trace[address].array, traced[address].array, atol=1e-6)
    shapes = {name: tuple(parameter.shape) for name, parameter in a(kind).named_parameters()}
    assert {name: array.shape for name, array in found.parameters.items()} == shapes
    assert len(found) == len(traced)


def test_it_is_frozen_and_survives_pickling(a, text):
    found = gradient(a("gru"), text)
    with pytest.raises(ValueError, match="read-only"):
        found["layers/0/hidden"].array[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        found.parameters["embedding.weight"][0, 0] = 1
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again, Gradient)
    assert again.scalar == found.scalar
    for name in ("layers/0/hidden", "embedding.weight"):
        np.testing.assert_array_equal(again.array(name), found.array(name))
        assert not again.array(name).flags.writeable


@pytest.mark.parametrize("kind", LEARNERS)
def test_it_leaves_the_model_as_it_was(a, text, kind):
    model = a(kind)
    before = trace(model, text)["logits"].array
    gradient(model, text)
    assert all(parameter.grad is None and not parameter.requires_grad for parameter in model.parameters())
    np.testing.assert_array_equal(trace(model, text)["logits"].array, before)
    assert trace(model, text, earlier=gradient(model, text).trace)["logits"].array == pytest.approx(before)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_it_can_be_asked_for_where_nothing_else_is_differentiated(a, text, mode):
    expected = gradient(a("lstm"), text)
    with mode():
        found = gradient(a("lstm"), text)
    np.testing.assert_array_equal(found["embedding"].array, expected["embedding"].array)
    assert found["embedding"].array.any()


def test_the_loss_is_that_of_every_token_the_text_gives_and_single_ones_add_up_to_it(a, text):
    whole = gradient(a("lstm"), text, "loss")
    parts = [gradient(a("lstm"), text, f"loss@{place}") for place in range(1, len(whole))]
    assert whole.value == pytest.approx(sum(part.value for part in parts), rel=1e-5)
    together = sum(part["embedding"].array for part in parts)
    np.testing.assert_allclose(whole["embedding"].array, together, rtol=1e-4, atol=1e-5)


def test_a_loss_reaches_what_came_before_its_token_and_nothing_else(a, text):
    found = gradient(a("transformer-learned-pre"), text, "loss@3")["embedding/sum"].array
    assert np.abs(found[:3]).min(axis=1).all()
    assert not found[3:].any()


@pytest.mark.parametrize(
    ("of", "address", "index"),
    [
        ("logit:sleep@4", "logits", "sleep"),
        ("logit:sleep@-2", "logits", "sleep"),
        ("probability:sleep@4", "probabilities", "sleep"),
        (("layers/0/hidden", (4, 1)), "layers/0/hidden", 1),
        (("layers/0/hidden", (-2, 1)), "layers/0/hidden", 1),
    ],
)
def test_any_cell_can_be_the_number(a, text, of, address, index):
    model = a("rnn")
    column = model.tokenizer.id_of(index) if isinstance(index, str) else index
    found = gradient(model, text, of)
    assert len(found) == 6
    assert found.value == trace(model, text)[address].array[4, column]
    assert found[address].array[4, column] == 1
    assert not found[address].array[5:].any()
    assert not found["embedding"].array[5:].any()
    assert found["embedding"].array[:5].all()


def test_the_difference_of_two_words_has_the_difference_of_their_gradients(a, text):
    """And each of its cells is explained."""
    model = a("rnn")
    both, one, other = (gradient(model, text, f"logit:{of}@4") for of in ("night-sleep", "night", "sleep"))
    assert both.value == pytest.approx(one.value - other.value)
    for address in ("logits", "layers/0/hidden", "embedding"):
        np.testing.assert_allclose(both[address].array, one[address].array - other[address].array, atol=1e-6)
    column = model.tokenizer.id_of("sleep")
    assert both["logits"].array[4, column] == -1
    strongest = largest(both["layers/0/hidden"].array)
    for address, index in (("logits", (4, column)), ("layers/0/hidden", strongest)):
        assert agrees(explain_gradient(model, both, address, index), both[address].array)


def test_a_word_without_a_position_is_meant_after_the_last_token(a, text):
    assert gradient(a("rnn"), text, "logit:sleep").scalar.name == "logit:sleep@5"


@pytest.mark.parametrize(
    ("of", "sentence"),
    [
        ("likelihood", "no number 'likelihood': choose 'loss'"),
        ("weight:night@3", "no number"),
        ("logit:night-Zanzibar@2", "nor two of them with a minus between"),
        ("loss@x", "names no position"),
        ("logit:night@", "names no position"),
        ("loss@0", "Token 0 is not predicted"),
        ("loss@17", "no token 17"),
        ("logit:night@17", "no position 17"),
        ("logit:Zanzibar@2", "not a single token"),
        (("layers/9/hidden", (0, 0)), "No tap is called"),
        (("layers/0/hidden", (0, 99)), "no unit 99"),
        (("layers/0/hidden", (0,)), "not a cell"),
    ],
)
def test_a_number_that_there_is_not_is_refused_in_a_sentence(a, text, of, sentence):
    with pytest.raises(LmvizError, match=sentence):
        gradient(a("rnn"), text, of)


def test_one_token_has_no_loss(a):
    with pytest.raises(LmvizError, match="at least two tokens"):
        gradient(a("rnn"), [3])


def test_what_counts_has_no_gradient_and_says_so(a, text):
    with pytest.raises(LmvizError, match=r"ngram \(ngram\) counts and has no parameters"):
        lmviz.gradient(a("ngram"), text)


def test_an_impossible_token_has_no_gradient(a, text):
    with pytest.raises(LmvizError, match="loss of “eat” is inf here"):
        gradient(a("rnn"), text, "loss@3", interventions=[zero("probabilities", position=2)])


@pytest.mark.parametrize("logit", [-95.0, -500.0], ids=["1/p is too large", "p is 0"])
def test_the_loss_of_a_token_that_float32_has_no_probability_for_is_read_off_the_logits(a, text, logit):
    """An exploding recurrence makes such losses, and training learns from them."""
    model, ids = a("rnn"), a("rnn").tokenizer.encode(text)
    unlikely = [add("logits", logit, position=2, token=int(ids[3]))]
    found = gradient(model, ids, "loss@3", interventions=unlikely)
    logits = torch.from_numpy(found.trace["logits"].array.copy()).double().requires_grad_()
    loss = torch.nn.functional.cross_entropy(logits[2:3], torch.tensor([int(ids[3])]))
    loss.backward()
    assert found.value == pytest.approx(float(loss.detach()), rel=1e-6)
    np.testing.assert_allclose(found["logits"].array, logits.grad.numpy(), atol=1e-6)
    assert not found["probabilities"].array.any()
    for address in ("logits", "layers/1/hidden", "layers/0/hidden", "embedding"):
        array = found[address].array
        assert np.isfinite(array).all()
        assert agrees(explain_gradient(model, found, address, largest(array)), array)
    other = int(np.argsort(np.abs(found["logits"].array[2]))[-2])
    stated = explain_gradient(model, found, "logits", (2, other))
    assert agrees(stated, found["logits"].array)
    [share] = [factor for group in stated.terms for factor in group.factors]
    assert found.trace[share.source].array[tuple(share.indices[0])] == share.values[0]


def test_an_address_that_there_is_not_is_named(a, text):
    found = gradient(a("rnn"), text)
    with pytest.raises(LmvizError, match="did you mean layers/0/hidden"):
        found["layers/0/hiden"]
    with pytest.raises(LmvizError, match="no unit 99"):
        explain_gradient(a("rnn"), found, "layers/0/hidden", (0, 99))
    with pytest.raises(LmvizError, match="made by rnn"):
        explain_gradient(a("gru"), found, "layers/0/hidden", (0, 0))


INTERVENTIONS = {
    "rnn": [zero("layers/0/hidden", position=2), scale("layers/1/hidden", 0.5, unit=1)],
    "lstm": [
        scale("layers/0/forget", [[0.5], [2.0]], position=(1, 3)),
        add("layers/0/cell", 0.3, position=2),
        replace("layers/1/output", 0.4, unit=2),
        Intervention("layers/0/hidden", "bypass", where={"position": slice(1, 3)}),
    ],
    "gru": [zero("layers/0/update", position=1), scale("layers/0/hidden", lambda cells: 1 + cells**2)],
    "window": [scale("hidden", -2.0, position=2), zero("embedding", position=1)],
    "transformer-learned-pre": [
        scale_head(0, 1, 0.3),
        scale("layers/1/attention/weights", 0.5, key=1),
        Intervention("layers/0/feedforward/activation", "bypass"),
        add("layers/0/residual2", 0.2, channel=3),
        Intervention("layers/1/norm2", "bypass", where={"position": 3}),
        scale("layers/1/norm2", 3.0, position=3),
    ],
    "transformer-rotary-pre": [Intervention("layers/*/attention/*_rotated", "bypass")],
}


@pytest.mark.parametrize("kind", INTERVENTIONS)
def test_gradients_under_interventions_follow_from_what_reads_them(a, text, kind):
    model = a(kind)
    found = gradient(model, text, interventions=INTERVENTIONS[kind])
    plain = gradient(model, text)
    for source in (*found.arrays, *found.parameters):
        array = found.array(source)
        corners = [tuple(np.minimum(at, np.array(array.shape) - 1)) for at in (1, 2, 3)]
        for index in (largest(array), *corners):
            arithmetic = lmviz.explain(model, found, source, index)
            assert agrees(arithmetic, array), (source, index, arithmetic.evaluate(), arithmetic.value)
    first = "embedding/sum" if "embedding/sum" in found else "embedding"
    assert not np.allclose(found[first].array, plain[first].array)


@pytest.mark.parametrize("kind", INTERVENTIONS)
def test_gradients_under_interventions_are_the_slopes_that_small_changes_show(a, text, kind):
    from copy import deepcopy

    model = deepcopy(a(kind)).double()
    numbers = gradient(model, text, interventions=INTERVENTIONS[kind]).trace.interventions
    found = gradient(model, text, interventions=numbers)
    for address in list(found.arrays)[:-1:3]:
        index = largest(found[address].array)
        where = dict(zip(found[address].axes, index, strict=True))
        losses = [
            gradient(model, text, interventions=[*numbers, add(address, way * 1e-6, **where)]).value
            for way in (1, -1)
        ]
        expected = pytest.approx((losses[0] - losses[1]) / 2e-6, rel=1e-4, abs=1e-6)
        assert found[address].array[index] == expected, address


def test_nothing_passes_back_through_a_number_that_was_put_in(a, text):
    found = gradient(a("rnn"), text, interventions=[zero("layers/0/hidden", position=2)])
    assert not found["layers/0/preactivation"].array[2].any()
    assert found["layers/0/hidden"].array[2].any()  # how much it would matter
    assert not found["embedding"].array[2].any()


def test_a_row_of_attention_painted_by_hand_passes_nothing_to_its_scores(a, text):
    model = a("transformer-learned-pre")
    painted = paint_attention(trace(model, text), 0, 1, 4, 2, 0.9)
    found = gradient(model, text, interventions=[painted])
    scores = found["layers/0/attention/scores"].array
    assert not scores[1, 4, :5].any()
    assert scores[0, 4, :5].any()
    assert found["layers/0/attention/weights"].array[1, 4, :5].all()


def test_a_changed_model_is_asked_like_the_model_with_its_changes(a, text):
    change = scale("layers/0/hidden", 0.5)
    expected = gradient(a("gru"), text, interventions=[change])
    found = gradient(ChangedModel(a("gru"), [change]), text)
    np.testing.assert_array_equal(found["embedding"].array, expected["embedding"].array)


def test_one_walks_forward_from_reader_to_reader_to_the_loss(a, text):
    model = a("lstm")
    found = gradient(model, text, "loss@4")
    source, walked = "embedding.weight", []
    index = largest(found.parameters[source])
    while source != "gradient/probabilities":
        terms = lmviz.explain(model, found, source, index).terms
        group = max(terms, key=lambda item: np.abs(item.products).max())
        first, term = group.factors[0], int(np.abs(group.products).argmax())
        source, index = first.source, tuple(map(int, first.indices[term]))
        walked.append(source)
        assert len(walked) < 100
    assert walked[-2:] == ["gradient/logits", "gradient/probabilities"]
    assert "gradient/layers/1/hidden" in walked
    end = lmviz.explain(model, found, source, index)
    assert [group.label for group in end.terms] == ["the slope of −ln p"]
    assert end.value == pytest.approx(-1 / found.trace["probabilities"].array[index])


def test_an_explanation_shows_each_reader_with_gradient_and_local_derivative(a, text):
    model = a("rnn")
    found = gradient(model, text, "loss@4")
    arithmetic = lmviz.explain(model, found, "layers/0/hidden", (2, 1))
    labels = [group.label for group in arithmetic.terms]
    assert labels == [
        "layer 1, pre-activation: previous state",
        "layer 2, pre-activation: input",
    ]
    sources = [[factor.source for factor in group.factors] for group in arithmetic.terms]
    assert sources == [
        ["gradient/layers/0/preactivation", "recurrence.weight_hh_l0"],
        ["gradient/layers/1/preactivation", "recurrence.weight_ih_l1"],
    ]
    assert [len(group) for group in arithmetic.terms] == [6, 6]
    activated = lmviz.explain(model, found, "layers/0/preactivation", (2, 1))
    assert [factor.source for factor in activated.terms[0].factors] == [
        "gradient/layers/0/hidden",
        "layers/0/preactivation",
    ]
    assert one_line(activated).count("tanh′(") == 1


def test_a_value_that_goes_on_as_it_is_says_so():
    configuration = find_family("rnn").configuration(layers=1, width=4, activation="identity")
    model = build_model("rnn", configuration, 6, 0).eval()
    found = gradient(model, [1, 2, 3])
    arithmetic = lmviz.explain(model, found, "layers/0/preactivation", (1, 1))
    assert [group.label for group in arithmetic.terms] == ["layer 1, hidden: unchanged"]
    assert arithmetic.value == found["layers/0/hidden"].array[1, 1]


def test_a_parameter_adds_up_what_comes_back_at_each_position(a, text):
    model = a("gru")
    found = gradient(model, text)
    arithmetic = lmviz.explain(model, found, "recurrence.weight_hh_l0", (1, 2))
    [group] = arithmetic.terms
    assert group.factors[0].indices[:, 0].tolist() == [1, 2, 3, 4, 5]  # nothing stands before the first
    assert agrees(arithmetic, found.parameters["recurrence.weight_hh_l0"])


@pytest.mark.parametrize("kind", ["lstm", "gru", "window", "transformer-rotary-pre"])
def test_a_local_derivative_that_is_not_stated_is_computed_and_is_the_same(a, text, kind, monkeypatch):
    model = a(kind)
    found = gradient(model, text)
    sources = {source: largest(found.array(source)) for source in (*found.arrays, *found.parameters)}
    stated = {source: explain_gradient(model, found, source, index) for source, index in sources.items()}
    for tap in model.taps():
        monkeypatch.setattr(type(tap.operation), "passed_back", Operation.passed_back)
    for source, index in sources.items():
        computed = explain_gradient(model, found, source, index)
        assert computed.evaluate() == pytest.approx(stated[source].evaluate(), rel=1e-6), source
        if source != "probabilities":
            assert all(group.label.endswith("local derivative") for group in computed.terms)


def test_a_tap_that_passes_its_operand_on_has_a_gradient_of_its_own():
    taps = [Tap(address, ("position", "unit"), Activation(Value("x"), "")) for address in ("x", "y")]
    recorder = GradientRecorder(taps, (), {"text": 1})
    first = recorder(taps[0], torch.ones(1, 1, 2, requires_grad=True) * 1, None)
    second = recorder(taps[1], first, None)  # the very same tensor
    number = (3 * second + 4 * first).sum()
    leaves = [recorder.leaves[address][None] for address in ("x", "y")]
    assert [float(found.sum()) for found in torch.autograd.grad(number, leaves)] == [14, 6]


def test_what_nothing_reads_says_so(a, text):
    found = gradient(a("rnn"), text, "loss@2")
    arithmetic = lmviz.explain(a("rnn"), found, "layers/0/hidden", (4, 1))
    assert arithmetic.value == arithmetic.evaluate() == 0
    assert [group.label for group in arithmetic.terms] == ["nothing that loss of “cows” depends on reads it"]


def test_explaining_a_cell_under_a_large_vocabulary_takes_milliseconds():
    from lmviz.families import build_model, find_family

    settings = find_family("lstm").configuration.from_values({"width": 64, "layers": 1})
    model = build_model("lstm", settings, 20_000, seed=0).eval()
    found = gradient(model, list(range(30)))
    lmviz.explain(model, found, "layers/0/hidden", (7, 3))
    assert quickest(lambda: lmviz.explain(model, found, "layers/0/hidden", (7, 3)), 0.1) < 0.1


def test_a_text_too_long_for_the_memory_is_refused_with_the_length_that_fits(a, monkeypatch):
    model = a("transformer-learned-pre")
    squares = sum(tap.axes[-2:] == ("query", "key") for tap in model.taps())
    of_one_token = 2 * 4 * squares * model.configuration.heads  # values and gradients, 4 bytes each
    monkeypatch.setattr(backpropagation, "machine_memory", lambda: 2 * of_one_token * 5**2)
    assert len(gradient(model, [1, 2, 3, 1, 2])) == 5
    with pytest.raises(LmvizError, match=r"gradient of 7 tokens .* shorten the text to 5 tokens\.$"):
        gradient(model, [1, 2, 3, 1, 2, 3, 1])


def test_a_gradient_that_two_leaves_share_is_not_written_to():
    first, second = (torch.ones(2, requires_grad=True) for _ in range(2))
    of_first, of_second = torch.autograd.grad((first + second).sin().sum(), [first, second])
    assert of_first is of_second, "torch gives both one tensor"
    assert not backpropagation._is_alone(of_first, [of_first, of_second])
    assert backpropagation._is_alone(of_first, [of_first, None])
    assert backpropagation._is_alone(of_first.clone(), [of_first, of_second])
