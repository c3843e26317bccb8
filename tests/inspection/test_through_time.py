"""Backpropagation through time: how far gradients reach, what they add up to, and what gates hold.

The numbers are those of networks small enough for the blackboard, computed independently.
"""

import copy
import math

import numpy as np
import pytest
import torch
from apple_chip import CHIP, apple_chip

from lmviz.base.errors import LmvizError
from lmviz.families import build_model, find_family
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.held_words import gated_layer, held_words
from lmviz.inspection.interventions import scale, zero
from lmviz.inspection.losses_by_state import losses_by_state
from lmviz.inspection.parameter_over_time import parameter_over_time
from lmviz.inspection.reach import reach, reach_with, recurrent_weights, state_address
from lmviz.inspection.saliency import saliencies, saliency
from lmviz.inspection.step_jacobians import can_be_listed, spectral_norms, step_jacobians
from lmviz.inspection.tracing import trace
from lmviz.models.prediction import NEXT_TOKEN
from lmviz.tasks import TASKS

HIDDEN, U = "layers/0/hidden", "recurrence.weight_hh_l0"


def scalar_model(family="rnn", **settings):
    """A recurrence of a single unit whose parameters are all 0; token 1 is read as 1, and token 0 as 0."""
    configuration = find_family(family).configuration.from_values(
        {"width": 1, "layers": 1, "embedding": 1} | settings
    )
    model = build_model(family, configuration, 3, seed=0).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.embedding.weight[1] = 1
    return model.eval().requires_grad_(False)


def recurrence(activation, u, w=1.0, bias=0.0):
    """h_t = f(U h_{t-1} + W x_t + b)."""
    model = scalar_model(activation=activation)
    with torch.no_grad():
        model.recurrence.weight_hh_l0.fill_(u)
        model.recurrence.weight_ih_l0.fill_(w)
        model.recurrence.bias_ih_l0.fill_(bias)
    return model


def state(position):
    return (HIDDEN, (position, 0))


@pytest.mark.parametrize(
    ("activation", "states", "gradients", "parts"),
    [
        (
            "tanh",
            [0.7616, 0.5950, 0.4896, 0.4142],
            [0.29659, 0.51019, 0.74561, 1],
            [0, 0.250981, 0.337318, 0.405615],
        ),
        ("relu", [1, 0.9, 0.81, 0.729], [0.729, 0.81, 0.9, 1], [0, 0.81, 0.81, 0.81]),  # as the identity
    ],
)
def test_a_scalar_recurrence_by_hand(activation, states, gradients, parts):
    model = recurrence(activation, 0.9)
    found = gradient(model, [1, 0, 0, 0], state(3))
    assert found.trace[HIDDEN].array[:, 0] == pytest.approx(states, abs=1e-4)
    assert found[HIDDEN].array[:, 0] == pytest.approx(gradients, abs=1e-5)
    over_time = parameter_over_time(model, [1, 0, 0, 0], state(3), U)
    assert over_time.parts[:, 0, 0] == pytest.approx(parts, abs=1e-6)
    assert over_time.whole == pytest.approx(found.parameters[U], rel=1e-12)
    whole = {"tanh": 0.99391, "relu": 2.43}[activation]
    assert float(over_time.whole[0, 0]) == pytest.approx(whole, abs=1e-5)
    assert over_time.along.sum() == pytest.approx(whole, abs=1e-5)
    truncated = {"tanh": 0.742933, "relu": 1.62}[activation]  # to two steps
    assert over_time.parts[-2:].sum() == pytest.approx(truncated, abs=1e-6)


def test_a_scalar_recurrence_of_sigmoids_by_hand():
    found = gradient(recurrence("sigmoid", 0.9), [1, 0, 0, 0], state(3))
    assert float(found[HIDDEN].array[0, 0]) == pytest.approx(0.00865, abs=1e-5)
    assert float(found.parameters[U][0, 0]) == pytest.approx(0.186511, abs=1e-6)


TICKETS = 34
"""Words between “tickets” and the blank that wants it again."""


@pytest.mark.parametrize(("u", "left"), [(0.9, 0.0278), (0.95, 0.175), (0.99, 0.711), (1.1, 25.5)])
def test_over_the_34_steps_to_the_tickets_a_factor_becomes_its_power(u, left):
    model, ids = recurrence("relu", u), [1] + [0] * TICKETS
    found = reach(gradient(model, ids, state(TICKETS)), HIDDEN)
    assert found.last == TICKETS
    assert found.relative[0] == pytest.approx(left, rel=2e-3)
    assert found.relative[0] == pytest.approx(u**TICKETS, rel=1e-9)
    assert found.factor == pytest.approx(u, rel=1e-9)
    np.testing.assert_allclose(spectral_norms(step_jacobians(model, trace(model, ids)))[1:], u)


def test_a_sigmoid_passes_back_at_most_a_quarter():
    model = recurrence("sigmoid", 1.0, w=0.0, bias=-0.5)  # σ(0) at every step after the first
    found = reach(gradient(model, [0] * (TICKETS + 2), state(TICKETS + 1)), HIDDEN)
    assert found.relative[1] == pytest.approx(3.4e-21, rel=0.02)


def test_a_loss_twenty_steps_back_is_cut_off_before_the_tickets():
    model, ids = recurrence("relu", 0.95), [1] + [0] * (TICKETS + 1)
    with torch.no_grad():
        model.output.weight[1] = 1
    found = losses_by_state(model, ids, HIDDEN)
    assert len(found.targets) * (len(found.targets) + 1) / 2 == np.count_nonzero(found.norms)
    kept = found.within(20)
    assert kept[-1].nonzero()[0].tolist() == list(range(TICKETS - 19, TICKETS + 1))
    assert found.norms[-1, 0] > 0
    assert not kept[-1, 0]
    assert found.within(len(ids))[np.tril_indices(len(found.targets))].all()


def test_a_forget_gate_of_95_percent_keeps_a_word_for_34_steps():
    model = scalar_model("lstm")
    with torch.no_grad():
        model.recurrence.bias_ih_l0.copy_(torch.tensor([0.0, np.log(0.95 / 0.05), 0.3, 0.0]))
    ids = [1] + [0] * TICKETS
    held = held_words(trace(model, ids))
    assert held.kept[0, 0] == pytest.approx(0.95**TICKETS)
    assert held.kept[0, 0] == pytest.approx(0.175, abs=1e-3)
    assert held.kept[-1, 0] == 1
    assert held.shares.sum() == pytest.approx(1)
    assert held.shares[0] == pytest.approx(0.175 * held.shares[-1], rel=2e-3)


@pytest.mark.parametrize(("kind", "address"), [("lstm", "layers/0/cell"), ("gru", "layers/0/hidden")])
@pytest.mark.parametrize("position", [0, 3, -1])
def test_what_is_held_adds_up_to_the_state(a, text, kind, address, position):
    found = trace(a(kind), text)
    held = held_words(found, "layers/0", position)
    assert held.address == address
    assert len(held.parts) == held.position + 1
    np.testing.assert_allclose(held.parts.sum(axis=0), found[address].array[position], atol=1e-6)
    np.testing.assert_allclose(held.rest, 0, atol=1e-6)


def read_backwards(kind, **settings):
    configuration = find_family(kind).configuration(layers=1, width=4, **settings)
    return build_model(kind, configuration, 6, 0, TASKS["tagging"].predicts(("noun", "verb"))).eval()


@pytest.mark.parametrize(("kind", "name"), [("lstm", "cell"), ("gru", "hidden")])
@pytest.mark.parametrize(("direction", "layer"), [("backward", "layers/0"), ("both", "layers/0/backward")])
@pytest.mark.parametrize("position", [0, 2, 3])
def test_a_layer_that_reads_backwards_holds_the_words_that_follow(kind, name, direction, layer, position):
    found = trace(read_backwards(kind, direction=direction), [1, 5, 2, 3])
    held = held_words(found, layer, position)
    assert held.address == f"{layer}/{name}"
    np.testing.assert_allclose(held.parts.sum(axis=0), found[held.address].array[position], atol=1e-6)
    assert held.parts.shape == held.kept.shape == (4, 4)
    assert not held.kept[:position].any()
    assert (held.kept[position] == 1).all()
    assert (np.diff(held.kept[position:], axis=0) < 0).all()  # the further away, the less


def test_what_surgery_puts_into_a_cell_is_told_apart_from_words(a, text):
    found = trace(a("lstm"), text, interventions=[zero("layers/0/cell", position=5, unit=2)])
    held = held_words(found)
    assert held.rest[2] == pytest.approx(-held.parts[:, 2].sum())
    np.testing.assert_allclose(np.delete(held.rest, 2), 0, atol=1e-6)


@pytest.mark.parametrize("kind", ["rnn", "transformer-learned-pre"])
def test_without_gates_nothing_says_what_is_held(a, text, kind):
    with pytest.raises(LmvizError, match="no gates"):
        held_words(trace(a(kind), text))


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_beside_a_source_no_layer_holds_words_of_the_text_alone(a, text, kind):
    assert gated_layer(trace(a(kind), text)) == "layers/0"
    configuration = find_family(kind).configuration.from_values({"layers": 1, "width": 4})
    model = build_model(kind, configuration, 6, 0, NEXT_TOKEN, 5).eval().requires_grad_(False)
    found = trace(model, [0, 3, 5, 2], source=[4, 0])
    assert gated_layer(found) == ""
    held = held_words(found, "encoder/layers/0", 1)  # of its two words of the source
    assert len(held.parts) == 2
    with pytest.raises(LmvizError, match="source"):
        held_words(found, "encoder/layers/0", 3)


RECURRENT = ("rnn", "lstm", "gru")


@pytest.mark.parametrize("kind", RECURRENT)
def test_the_gradient_by_a_state_is_the_product_of_the_steps_jacobians(kind):
    configuration = find_family(kind).configuration.from_values({"width": 5, "layers": 1})
    model = build_model(kind, configuration, 7, seed=3).double().eval()
    ids = [1, 5, 2, 3, 6]
    jacobians = step_jacobians(model, trace(model, ids))
    assert jacobians.shape == (5, *(2 * (10 if kind == "lstm" else 5,)))
    for unit in (0, 4):
        found = gradient(model, ids, (HIDDEN, (4, unit)))
        row = unit + (5 if kind == "lstm" else 0)  # the cell comes first
        product = jacobians[4][row] @ jacobians[3] @ jacobians[2]
        np.testing.assert_allclose(product[-5:], found[HIDDEN].array[1], atol=1e-12)
        if kind == "lstm":
            cell = found["layers/0/cell"].array[1] - _through_hidden(found, 1)
            np.testing.assert_allclose(product[:5], cell, atol=1e-12)


def _through_hidden(found, position):
    """What reaches a cell through the hidden state of its own position."""
    values = found.trace
    slope = 1 - np.tanh(values["layers/0/cell"].array[position]) ** 2
    return found[HIDDEN].array[position] * values["layers/0/output"].array[position] * slope


@pytest.mark.parametrize("kind", RECURRENT)
def test_jacobians_of_a_model_on_another_device_are_the_same(a, text, kind):
    wanted = step_jacobians(a(kind), trace(a(kind), text))
    with apple_chip():
        there = copy.deepcopy(a(kind)).to(CHIP)
        found = step_jacobians(there, trace(there, text))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("kind", RECURRENT)
def test_a_layer_that_reads_backwards_hands_its_state_to_the_left(kind):
    model = read_backwards(kind, direction="backward").double()
    ids = [1, 5, 2, 3, 4]
    jacobians = step_jacobians(model, trace(model, ids))
    address = state_address(model).rpartition("/")[0] + "/hidden"
    found = gradient(model, ids, (address, (1, 2)))
    row = 2 + (4 if kind == "lstm" else 0)  # the cell comes first
    product = jacobians[1][row] @ jacobians[2]
    np.testing.assert_allclose(product[-4:], found[address].array[3], atol=1e-12)


@pytest.mark.parametrize(("activation", "most"), [("tanh", 1.0), ("sigmoid", 0.25)])
def test_a_step_stretches_at_most_by_the_slope_times_the_norm_of_u(activation, most):
    """Pascanu et al. 2013: ‖∂h_T/∂h_k‖ ≤ (γ‖U‖)^(T−k)."""
    settings = {"width": 5, "layers": 1, "activation": activation}
    model = build_model("rnn", find_family("rnn").configuration.from_values(settings), 7, seed=3).double()
    jacobians = step_jacobians(model.eval(), trace(model, [1, 5, 2, 3, 6]))
    bound = most * np.linalg.norm(model.recurrence.weight_hh_l0.detach().numpy(), ord=2)
    assert (spectral_norms(jacobians) <= bound).all()
    product = np.linalg.multi_dot(list(jacobians[:0:-1]))
    assert np.linalg.norm(product, ord=2) <= bound**4


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_a_step_whose_jacobian_is_not_finite_has_no_norm(broken):
    jacobians = np.stack([np.eye(2), 3 * np.eye(2)])
    jacobians[0, 1, 0] = broken
    np.testing.assert_array_equal(spectral_norms(jacobians), [math.nan, 3])


def test_jacobians_are_listed_where_there_are_steps_and_room(a, text, monkeypatch):
    assert can_be_listed(a("lstm"), trace(a("lstm"), text))
    assert not can_be_listed(a("window"), trace(a("window"), text))
    monkeypatch.setattr("lmviz.inspection.step_jacobians.MOST", 6 * 12 * 12 - 1)
    assert not can_be_listed(a("lstm"), trace(a("lstm"), text))
    assert can_be_listed(a("gru"), trace(a("gru"), text))


def test_beside_a_source_no_steps_are_listed():
    configuration = find_family("gru").configuration(layers=1, width=4)
    model = build_model("gru", configuration, 6, 0, NEXT_TOKEN, 5).eval().requires_grad_(False)
    assert not can_be_listed(model, trace(model, [0, 3, 5, 2], source=[4, 0]))


@pytest.mark.parametrize("kind", RECURRENT)
def test_steps_under_surgery_are_those_of_the_changed_recurrence(a, text, kind):
    change = scale("layers/0/hidden", 0.5)
    plain = step_jacobians(a(kind), trace(a(kind), text))
    changed = step_jacobians(a(kind), trace(a(kind), text, interventions=[change]))
    assert spectral_norms(changed)[1:].mean() < spectral_norms(plain)[1:].mean()


def test_a_model_without_recurrence_has_no_steps(a, text):
    model = a("transformer-learned-pre")
    with pytest.raises(LmvizError, match="hands no state on"):
        step_jacobians(model, trace(model, text))


@pytest.mark.parametrize("kind", RECURRENT)
def test_every_loss_by_every_state_is_what_one_loss_says(a, text, kind):
    model, address = a(kind), state_address(a(kind))
    found = losses_by_state(model, text, address)
    assert found.targets.tolist() == [1, 2, 3, 4, 5]
    for row, target in enumerate(found.targets):
        single = gradient(model, text, f"loss@{target}")
        assert found.values[row] == pytest.approx(single.value, rel=1e-4)
        np.testing.assert_allclose(found.norms[row], reach(single, address).norms, rtol=1e-3, atol=1e-6)


def test_more_losses_than_are_swept_back_at_once(a):
    ids = [int(token) for token in np.random.default_rng(0).integers(4, 9, 21)]
    found = losses_by_state(a("gru"), ids, HIDDEN)
    last = reach(gradient(a("gru"), ids, "loss@20"), HIDDEN)
    assert found.norms.shape == (20, 21)
    np.testing.assert_allclose(found.norms[-1], last.norms, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("kind", RECURRENT)
def test_a_shared_parameter_is_taught_by_each_position_in_turn(a, text, kind):
    model = a(kind)
    whole = gradient(model, text, "loss@5")
    for name in (U, "recurrence.weight_ih_l1", "recurrence.bias_hh_l0"):
        over_time = parameter_over_time(model, text, "loss@5", name)
        np.testing.assert_allclose(over_time.whole, whole.parameters[name], rtol=1e-4, atol=1e-5)
        assert over_time.along.sum() == pytest.approx(np.linalg.norm(whole.parameters[name]), rel=1e-4)
        assert not over_time.parts[5].any()  # the token itself is read too late
        assert over_time.norms[:5][1:].all()


@pytest.mark.parametrize("kind", RECURRENT)
@pytest.mark.parametrize("attention", ["none", "dot", "bilinear"])
def test_beside_a_source_the_recurrence_over_the_text_is_taken_apart(kind, attention):
    settings = {"layers": 1, "width": 4, "attention": attention}
    configuration = find_family(kind).configuration.from_values(settings)
    model = build_model(kind, configuration, 6, 0, NEXT_TOKEN, 5).double().eval()
    text, source = np.array([0, 3, 5, 2]), np.array([4, 0, 2])
    (name,) = recurrent_weights(model)
    assert name.startswith("decoder.")
    whole = gradient(model, text, "loss@-1", source=source)
    parts = parameter_over_time(model, text, "loss@-1", name, source=source)
    assert len(parts.parts) == len(text)
    np.testing.assert_allclose(parts.whole, whole.parameters[name], rtol=1e-9, atol=1e-12)
    address = state_address(model)
    found = losses_by_state(model, text, address, source=source)
    np.testing.assert_allclose(found.norms[-1], reach(whole, address).norms, rtol=1e-9)
    scaled = reach_with(model, text, "loss@-1", address, scales={name: 2.0}, source=source)
    model.get_parameter(name).data.mul_(2)
    np.testing.assert_allclose(
        scaled.norms, reach(gradient(model, text, "loss@-1", source=source), address).norms, rtol=1e-9
    )


@pytest.mark.parametrize("name", ["output.weight", "recurrence.weight_hh_l9"])
def test_a_parameter_that_no_step_reads_is_refused(a, text, name):
    with pytest.raises(LmvizError, match=r"position by position|no parameter"):
        parameter_over_time(a("rnn"), text, "loss", name)


def test_scaling_u_leads_from_vanishing_to_exploding():
    model, ids = recurrence("relu", 0.9), [1] + [0] * 10
    assert recurrent_weights(model) == (U,)
    factors = [reach_with(model, ids, state(10), HIDDEN, scales={U: size}).factor for size in (0.5, 1.0, 1.5)]
    assert factors == pytest.approx([0.45, 0.9, 1.35])
    assert float(model.recurrence.weight_hh_l0[0, 0]) == 0.9


def test_the_tap_that_says_how_far_a_gradient_reaches(a):
    expected = {
        "rnn": "layers/0/hidden",
        "lstm": "layers/0/cell",
        "gru": "layers/0/hidden",
        "window": "embedding",
        "transformer-learned-pre": "embedding/token",
    }
    assert {kind: state_address(a(kind)) for kind in expected} == expected


def test_a_gradient_that_reaches_nothing_has_no_factor(a, text):
    found = gradient(a("rnn"), text, ("layers/0/hidden", (0, 1)))
    assert np.isnan(reach(found, HIDDEN).factor)
    nothing = gradient(a("rnn"), text, ("embedding", (0, 0)))
    assert reach(nothing, HIDDEN).last == -1
    assert not reach(nothing, HIDDEN).relative.any()
    weights = gradient(a("transformer-learned-pre"), text)
    with pytest.raises(LmvizError, match="has no positions"):
        reach(weights, "layers/0/attention/weights")


def test_in_an_encoder_a_gradient_reaches_back_along_the_source():
    settings = find_family("lstm").configuration(layers=1, width=4)
    model = build_model("lstm", settings, 6, 0, None, 5).eval()
    found = gradient(model, np.array([0, 3, 5]), source=np.array([4, 0, 2, 1]))
    norms = reach(found, "encoder/layers/0/cell").norms
    expected = np.linalg.norm(found["encoder/layers/0/cell"].array.astype(np.float64), axis=1)
    np.testing.assert_allclose(norms, expected)
    assert norms.shape == (4,)
    assert norms.all()


EVERY = ("window", "rnn", "lstm", "gru", "transformer-learned-pre", "transformer-rotary-pre")


@pytest.mark.parametrize("kind", EVERY)
def test_erasing_a_word_is_measured_by_really_erasing_it(a, text, kind):
    model, change = a(kind), scale("logits", 0.5)
    found = gradient(model, text, "loss@5", interventions=[change])
    [item] = saliencies(model, found)
    measured = item.measured
    address = "embedding" if "embedding" in found else "embedding/token"
    for position in range(6):
        without = gradient(model, text, "loss@5", interventions=[change, zero(address, position=position)])
        assert measured[position] == pytest.approx(without.value - found.value, rel=1e-3, abs=1e-5)


def test_what_gradient_times_embedding_predicts_is_the_first_order(a, text):
    model = a("lstm")
    found = gradient(model, text, "loss@5")
    predicted = saliency(model, found)
    little = gradient(model, text, "loss@5", interventions=[scale("embedding", 0.999, position=2)])
    assert (little.value - found.value) * 1000 == pytest.approx(predicted[2], rel=0.05, abs=1e-3)
    assert predicted[5] == 0
