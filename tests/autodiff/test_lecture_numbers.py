"""The numbers of the lectures on automatic differentiation, recurrence and attention, as they were
computed by hand or independently."""

import numpy as np
import pytest

from lmviz import autodiff
from lmviz.autodiff import read, shipped_network


def shipped(name):
    return read(shipped_network(name).text)


def values(net, name, steps):
    return [float(net[f"{name}[{step}]"].value.sum()) for step in steps]


def gradients(net, name, steps):
    return [float(net[f"{name}[{step}]"].gradient.sum()) for step in steps]


def test_the_net_of_the_lecture_forward(lecture):
    expected = {
        "a": (0, 0.5),
        "z": (0.5, 0.622459),
        "b": (-0.122459, 1.494919, -0.188770),
        "ŷ": (0.143355, 0.722488, 0.134157),
        "J": 0.325054,
    }
    for name, numbers in expected.items():
        np.testing.assert_allclose(lecture[name].value, numbers, atol=5e-7)


@pytest.mark.parametrize("version", ["A", "B"])
def test_the_net_of_the_lecture_backward(lecture, version):
    lecture.backward(version)
    expected = {
        "ŷ": (0, -1.384106, 0),
        "b": (0.143355, -0.277512, 0.134157),
        "β": ((0.071677, 0.089233), (-0.138756, -0.172740), (0.067079, 0.083507)),
        "z": (-0.129558, -0.631300),
        "a": (-0.032390, -0.148358),
        "α": ((-0.032390, -0.064779), (-0.148358, -0.296716)),
        "x": (0.132163, -0.103171),
    }
    for name, numbers in expected.items():
        np.testing.assert_allclose(lecture[name].gradient, numbers, atol=5e-7)


@pytest.mark.parametrize(("rate", "after"), [(0.1, 0.306588), (0.5, 0.241334)])
def test_one_step_of_gradient_descent(lecture, rate, after):
    assert autodiff.descend(lecture, rate).after == pytest.approx(after, abs=5e-7)


def test_what_a_straight_line_says_of_that_step(lecture):
    assert autodiff.descend(lecture, 0.1).predicted == pytest.approx(0.306158, abs=5e-7)


@pytest.mark.parametrize(
    ("eps", "error"), [(1e-1, 3.6e-5), (1e-2, 3.6e-7), (1e-3, 3.6e-9)], ids=["1e-1", "1e-2", "1e-3"]
)
def test_truncation_falls_with_the_square_of_epsilon(lecture, eps, error):
    assert lecture.check("β", eps=eps).error == pytest.approx(error, rel=0.02)


def test_rounding_grows_as_epsilon_falls(lecture):
    errors = [lecture.check("β", eps=eps).error for eps in (1e-5, 1e-8, 1e-12)]
    assert errors[0] < 2e-11 < 1e-9 < errors[1] < 1e-7 < 1e-6 < errors[2] < 1e-3


def test_all_gradients_beginning_at_one_leave_the_rows_of_beta_wrong_by_z(lecture):
    right = lecture["β"].gradient
    for node in lecture.nodes:
        node.begins_at = 1.0
    lecture.backward()
    # softmax's backward annihilates the extra 1; b's own extra 1 reaches β, and β begins at 1 as well
    wrong = lecture["β"].gradient - 1 - right
    np.testing.assert_allclose(wrong, np.tile(lecture["z"].value, (3, 1)), atol=1e-12)


def test_the_diamond_gathers_six_and_two():
    net = shipped("diamond").backward("A")
    assert net["v"].gradient == 8
    arithmetic = net.explain("v", gradient=True)
    assert [float(group.products.sum()) for group in arithmetic.terms] == [6, 2]


def test_the_diamond_scatters_two_and_then_six():
    net = shipped("diamond").forward()
    arrived = []
    for _ in net.tape.modules:
        net.tape.pop()
        arrived.append(None if net["v"].gradient is None else float(net["v"].gradient))
    assert arrived == [None, 2, 8]


@pytest.mark.parametrize(
    ("recurrent", "sums"),
    [
        (1, (2, 1.5, 2.5, 3.5)),
        (0.9, (2, 1.3, 2.17, 2.953)),
        (0.5, (2, 0.5, 1.25, 1.625)),
        (1.1, (2, 1.7, 2.87, 4.157)),
    ],
)
def test_summation(recurrent, sums):
    net = shipped("summation").set("U", recurrent).backward()
    np.testing.assert_allclose(values(net, "h", range(1, 5)), sums, atol=1e-12)
    assert net["x[1]"].gradient == pytest.approx(recurrent**3)


def test_summation_of_a_larger_first_number():
    assert shipped("summation").set("x[1]", 3).forward()["y"].value == 4.5


def test_summation_through_tanh():
    text = (
        shipped_network("summation")
        .text.replace("add(linear", "tanh(add(linear")
        .replace("x[t]))", "x[t])))")
    )
    net = read(text).forward()
    np.testing.assert_allclose(values(net, "h", range(1, 5)), (0.9640, 0.4334, 0.8924, 0.9556), atol=5e-5)


def test_summation_and_comparison():
    net = shipped("comparison").backward()
    np.testing.assert_allclose(values(net, "h", range(1, 4)), (4, 0.5, -0.7), atol=1e-12)
    np.testing.assert_allclose(values(net, "y", range(1, 4)), (1.00, 0.92, 0.03), atol=5e-3)
    for step in (1, 2, 3):  # W is (1, −1)
        np.testing.assert_allclose(net[f"x[{step}]"].gradient, (0.1423, -0.1423), atol=5e-5)


def test_comparison_at_the_second_step():
    net = read(shipped_network("comparison").text.replace("sum(y[3])", "sum(y[2])")).backward()
    for step in (1, 2):
        np.testing.assert_allclose(net[f"x[{step}]"].gradient, (0.3505, -0.3505), atol=5e-5)
    np.testing.assert_array_equal(net["x[3]"].gradient, (0, 0))


def test_the_order_of_the_inputs_does_not_matter_to_the_last_comparison():
    net = shipped("comparison")
    before = float(net.forward()["y[3]"].value[0])
    net.set("x[1]", [0, 3.5]).set("x[2]", [2, -2])
    assert net.forward()["y[3]"].value[0] == pytest.approx(before)


def test_through_time_with_tanh():
    net = shipped("recurrence_tanh").backward()
    np.testing.assert_allclose(values(net, "h", range(1, 5)), (0.7616, 0.5950, 0.4896, 0.4142), atol=5e-5)
    np.testing.assert_allclose(gradients(net, "h", (4, 3, 2, 1)), (1, 0.74561, 0.51019, 0.29659), atol=5e-6)
    assert net["U"].gradient == pytest.approx(0.99391, abs=5e-6)
    parts = [float(group.products.sum()) for group in net.explain("U", gradient=True).terms]
    np.testing.assert_allclose(sorted(parts), sorted((0.405615, 0.337318, 0.250981, 0)), atol=5e-7)


@pytest.mark.parametrize(("function", "truncated"), [("tanh", 0.742933), ("identity", 1.62)])
def test_through_time_truncated_to_two_steps(function, truncated):
    text = shipped_network(f"recurrence_{function}").text
    text = text.replace("1..4:", "1..2:").replace(
        "J = ",
        f"kept = stop(h[2])\nh[3] = {function}(add(linear(U, kept), linear(W, x[3])))\n"
        f"h[4] = {function}(add(linear(U, h[3]), linear(W, x[4])))\nJ = ",
    )
    assert read(text).backward()["U"].gradient == pytest.approx(truncated, abs=1e-6)


def test_through_time_with_sigmoid_and_identity():
    sigmoid = shipped("recurrence_sigmoid").backward()
    assert sigmoid["h[1]"].gradient == pytest.approx(0.00865, abs=5e-6)
    assert sigmoid["U"].gradient == pytest.approx(0.186511, abs=5e-7)
    assert shipped("recurrence_identity").backward()["U"].gradient == pytest.approx(2.43)


@pytest.mark.parametrize(
    ("name", "weights", "context"),
    [
        ("dot_attention", (0.4683, 0.0634, 0.4683), (0.9366, 0.5317)),
        ("bilinear_attention", (0.0634, 0.4683, 0.4683), (0.5317, 0.9366)),
    ],
)
def test_attention_of_a_decoder(name, weights, context):
    net = shipped(name).forward()
    np.testing.assert_allclose(net["α"].value, weights, atol=5e-5)
    np.testing.assert_allclose(net["c"].value, context, atol=5e-5)


def test_the_bilinear_score_with_the_identity_is_the_dot_product():
    net = shipped("bilinear_attention").set("W", np.eye(2)).forward()
    np.testing.assert_allclose(net["c"].value, shipped("dot_attention").forward()["c"].value)


def test_the_poll():
    net = shipped("poll").forward()
    np.testing.assert_allclose(net["weights"].value, (0.1, 0.2, 0.6, 0.1), atol=1e-6)
    np.testing.assert_allclose(net["x′"].value, (0.1, 0.2, 1.2, 0.1), atol=1e-6)
    net.set("x[2]", [0, 0, 2, 0]).set("x[3]", [0, 1, 0, 0])
    net.forward()
    np.testing.assert_allclose(net["weights"].value, (0.1, 0.6, 0.2, 0.1), atol=1e-6)
    np.testing.assert_allclose(net["x′"].value, (0.1, 0.2, 1.2, 0.1), atol=1e-6)


LAYERS = """
x[1..4] = [1 0 0 0; {second}; {third}; 0 0 0 1]
Q = [0 0 0 0; 0 0 0 0; 0 0 0 0; -4.60517 -3.218876 -0.510826 -4.60517]
x = stack(x[1..4])
h = add(x, {layer}(matmul(x, Q), x, x))
z = {layer}(matmul(h, Q), h, h)
last = matmul([0 0 0 1], z)
"""
"""Two layers of attention, W_k = W_v = I, in which only the fourth position asks for anything."""


@pytest.mark.parametrize(
    ("second", "third", "expected"),
    [
        ("0 1 0 0", "0 0 2 0", (0.3839, 0.4427, 2.0226, 0.1621)),
        ("0 0 2 0", "0 1 0 0", (0.4691, 0.2680, 2.2411, 0.1424)),
    ],
    ids=["as they stand", "two words swapped"],
)
def test_a_second_layer_lets_order_through_the_causal_mask(second, third, expected):
    def layers(layer):
        return read(LAYERS.format(second=second, third=third, layer=layer)).forward()

    masked, unmasked = layers("causal_attention"), layers("attention")
    np.testing.assert_allclose(masked["last"].value[0], expected, atol=5e-5)
    np.testing.assert_allclose(masked["h"].value[3], (0.1, 0.2, 1.2, 1.1), atol=1e-6)  # whichever way
    other = read(LAYERS.format(second=third, third=second, layer="attention")).forward()
    np.testing.assert_allclose(unmasked["last"].value, other["last"].value, atol=1e-12)
