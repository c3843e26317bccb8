"""Networks put together at random: their gradients are those of torch, and both versions agree."""

import numpy as np
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from lmviz.autodiff import read

TAKES_ANY = ["sigmoid", "tanh", "identity", "softmax", "layer_norm", "exp", "square"]
"""Without relu, whose derivative where two ways round are equal is a matter of rounding."""


@some.composite
def networks(draw):
    """A text: vectors, matrices, and lines that take any earlier values, recurrences among them."""
    numbers = some.floats(-1.5, 1.5).map(lambda value: round(value, 3))
    vector = lambda: "; ".join(str(draw(numbers)) for _ in range(3))  # noqa: E731
    matrix = lambda columns: (  # noqa: E731
        "; ".join(" ".join(str(draw(numbers)) for _ in range(columns)) for _ in range(3))
    )
    lines = [f"v0 = [{vector()}]", f"v1 = [{vector()}]", f"W = [{matrix(3)}]", f"S = [{matrix(3)}]"]
    lines += [f"T = [{matrix(6)}]", f"s = {draw(numbers)}"]
    for number in range(2, 2 + draw(some.integers(1, 7))):
        one, other = (f"v{draw(some.integers(0, number - 1))}" for _ in range(2))
        call = draw(
            some.sampled_from(
                [
                    f"{draw(some.sampled_from(TAKES_ANY))}({one})",
                    f"add({one}, {other}, s)",
                    f"subtract({one}, {other})",
                    f"multiply({one}, {other})",
                    f"linear(W, {one})",
                    f"linear(W, {one}, {other})",
                    f"matmul({one}, W)",
                    f"attention({one}, W, S)",
                    f"linear(s, tanh({one}))",
                    f"linear(T, concatenate({one}, {other}))",
                    f"linear(transpose(W), {one})",
                    f"multiply({one}, mean({other}))",
                    f"log(add(square({one}), 1))",
                    f"add({one}, stop({other}))",
                    f"matmul(v1, causal_attention(stack({one}, {other}, v0), W, S))",
                    f"identity(h{number}[3])",
                ]
            )
        )
        if "[3]" in call:  # a recurrence of three steps goes before it
            function = draw(some.sampled_from(["tanh", "sigmoid", "identity"]))
            lines += [
                f"h{number}[0] = identity({one})",
                "for t in 1..3:",
                f"    h{number}[t] = {function}(add(linear(W, h{number}[t-1]), {other}))",
            ]
        lines.append(f"v{number} = {call}")
    last = f"v{number}"
    ends = [
        f"J = sum({last})",
        f"J = cross_entropy([0; 1; 0], softmax({last}))",
        f"J = squared_error(v0, {last})",
    ]
    return "\n".join([*lines, draw(some.sampled_from(ends))])


def by_torch(net):
    space: dict[str, object] = {}
    before = torch.get_default_dtype()
    try:
        exec(net.torch.partition("\nprint")[0], space)
    finally:
        torch.set_default_dtype(before)
    return space


@settings(max_examples=80)
@given(networks())
def test_gradients_are_those_of_torch(text):
    with np.errstate(all="ignore"):
        net = read(text).backward()
        assume(all(np.isfinite(node.value).all() and abs(node.gradient).max() < 1e9 for node in net))
    found = by_torch(net)
    for node in net.inputs + net.parameters:
        if "·" in node.name or not node.name[0].isalpha():
            continue
        gradient = found[node.name].grad
        expected = np.zeros(node.shape) if gradient is None else gradient.numpy()
        size = max(1.0, float(np.abs(node.gradient).max()))
        np.testing.assert_allclose(node.gradient, expected, rtol=1e-6, atol=1e-9 * size)


@settings(max_examples=60)
@given(networks())
def test_gathering_and_scattering_agree(text):
    with np.errstate(all="ignore"):
        net = read(text)
        gathered = {node.name: node.gradient for node in net.backward("A")}
        for node in net.backward("B"):
            if np.isfinite(node.gradient).all():
                size = max(1.0, float(np.abs(node.gradient).max()))
                np.testing.assert_allclose(node.gradient, gathered[node.name], rtol=1e-9, atol=1e-12 * size)


@settings(max_examples=40)
@given(networks(), some.data())
def test_an_edit_gives_what_a_new_network_would(text, data):
    with np.errstate(all="ignore"):
        net = read(text).backward()
    name = data.draw(some.sampled_from([node.name for node in net.inputs + net.parameters]))
    index = data.draw(some.sampled_from(list(np.ndindex(*net[name].shape))))
    with np.errstate(all="ignore"):
        net.edit(name, index, 0.375)
        fresh = read(net.text).backward()
    for node, anew in zip(net, fresh, strict=True):  # a number without a name is called by what it is
        np.testing.assert_array_equal(node.value, anew.value)
        np.testing.assert_array_equal(node.gradient, anew.gradient)
