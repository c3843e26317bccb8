"""Every module: its gradients are those of nudging and of torch, and its operands explain each cell."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import lmviz
from lmviz.autodiff import MODULES, check_module, read, shipped_network, shipped_networks
from lmviz.autodiff.node import COMPUTED

GIVEN = """
s = 0.7
v = [0.3; -1.2; 2.1]
u = [0.5; 0.9; -0.4]
p = [0.2; 0.5; 0.3]
M = [0.3 -0.4 1.1; 2 0.6 -0.7]
N = [1 0.2; -0.3 0.4; 0.8 -1.5]
S = [0.3 0.1 -0.9; 0.4 1.2 0.5; -0.6 0.7 0.2]
"""
USES = {
    "linear": [
        "linear(M, v)",
        "linear(s, v)",
        "linear(M, S)",
        "linear(M, v, [1; 2])",
        "linear(s, M, u)",
        "linear(s, s)",
    ],
    "matmul": ["matmul(M, N)", "matmul(M, v)", "matmul(v, N)", "matmul(v, u)"],
    "transpose": ["transpose(M)"],
    "add": ["add(v, u)", "add(M, v, s)", "add(v)"],
    "subtract": ["subtract(v, u)", "subtract(v, M)", "subtract(s, M)"],
    "multiply": ["multiply(v, u)", "multiply(M, v, s)", "multiply(v, v)", "multiply(2, v)"],
    "sum": ["sum(M)"],
    "mean": ["mean(M)"],
    "log": ["log(p)"],
    "softmax": ["softmax(v)", "softmax(M)"],
    "causal": ["softmax(causal(S))"],
    "attention": ["attention(v, S, S)", "attention(M, S, N)"],
    "causal_attention": ["causal_attention(S, S, N)"],
    "layer_norm": ["layer_norm(v)", "layer_norm(M, u)", "layer_norm(M, u, v)", "layer_norm(v, s, s)"],
    "concatenate": ["concatenate(v, u)", "concatenate(M, M)", "concatenate(v)"],
    "stack": ["stack(v, u)", "stack(s, s, 3)"],
    "cross_entropy": ["cross_entropy(u, p)", "cross_entropy([0; 1; 0], p)"],
    "squared_error": ["squared_error(v, u)", "squared_error(M, M)"],
}
CALLS = [(word, call) for word in MODULES for call in USES.get(word, [f"{word}(v)", f"{word}(M)"])]


def network(call):
    # weighted by numbers that are all different, so that no two cells could be exchanged unnoticed
    plain = read(f"{GIVEN}out = {call}")
    shape = plain["out"].shape
    weights = (0.1 + np.arange(int(np.prod(shape))).reshape(shape) ** 1.5).tolist()
    if not shape:
        return read(f"{GIVEN}out = {call}\nJ = multiply(1.7, out)")
    rows = weights if len(shape) == 2 else [[weight] for weight in weights]
    literal = "[" + "; ".join(" ".join(map(str, row)) for row in rows) + "]"
    return read(f"{GIVEN}out = {call}\nweights = {literal}\nJ = sum(multiply(weights, out))")


def test_every_module_is_used_here():
    assert {word for word, _ in CALLS} == set(MODULES)


@pytest.mark.parametrize(("word", "call"), CALLS)
def test_its_gradients_are_those_of_torch(word, call):
    net = network(call).backward()
    space: dict[str, object] = {}
    before = torch.get_default_dtype()
    try:
        exec(net.torch.partition("\nprint")[0], space)
    finally:
        torch.set_default_dtype(before)
    names = {"s", "v", "u", "p", "M", "N", "S"}
    for name in names:
        found = space[name].grad
        expected = np.zeros(net[name].shape) if found is None else found.numpy()
        np.testing.assert_allclose(net[name].gradient, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(net["J"].value, space["J"].item(), rtol=1e-12)


@pytest.mark.parametrize(("word", "call"), [each for each in CALLS if each[0] != "stop"])
def test_its_check_alone_agrees(word, call):
    net = network(call)
    for node in net.tape.modules:
        assert check_module(net, node.name).agrees, node.name


def every_cell(net):
    for node in net:
        for index in np.ndindex(*node.shape):
            for gradient in (False, True):
                yield node, index, gradient


def check_explanations(net):
    for node, index, gradient in every_cell(net):
        arithmetic = net.explain(node.name, index, gradient=gradient)
        if arithmetic is None:
            assert not gradient
            assert node.kind != COMPUTED
            continue
        value = (node.gradient if gradient else node.value)[index]
        assert arithmetic.value == value
        assert arithmetic.evaluate() == pytest.approx(value, rel=1e-9, abs=1e-12), (
            node.name,
            index,
            gradient,
        )
        for group in arithmetic.terms:
            for factor in group.factors:
                if factor.source == "constant":
                    continue
                name = factor.source.removeprefix("gradient/").removeprefix("parameter.")
                array = net[name].gradient if factor.source.startswith("gradient/") else net[name].value
                found = [array[tuple(place)] for place in factor.indices]
                np.testing.assert_allclose(factor.values, found)


@pytest.mark.parametrize(("word", "call"), CALLS)
def test_each_cell_is_explained_by_its_operands(word, call):
    check_explanations(network(call).backward())


@pytest.mark.parametrize("name", [each.name for each in shipped_networks()])
def test_each_cell_of_the_shipped_networks_is_explained(name):
    check_explanations(read(shipped_network(name).text).backward())


def test_an_explanation_under_way_has_only_the_consumers_that_were_popped():
    net = read("parameter v = 3\nu = square(v)\nw = multiply(2, v)\ny = add(u, w)").forward()
    assert net.explain("v", gradient=True) is None
    net.tape.pop()
    net.tape.pop()
    arithmetic = net.explain("v", gradient=True)
    assert [group.label for group in arithmetic.terms] == ["through w"]
    assert arithmetic.evaluate() == arithmetic.value == 2


def test_a_gradient_is_the_consumers_gradient_times_the_local_derivative(lecture):
    arithmetic = lecture.explain("β", (1, 0), gradient=True)
    [group] = arithmetic.terms
    assert [factor.source for factor in group.factors] == ["gradient/b", "z"]
    assert [factor.indices.tolist() for factor in group.factors] == [[[1]], [[0]]]
    assert arithmetic.value == pytest.approx(-0.138756, abs=5e-7)


def test_equations_are_written_for_every_input():
    for word, module in MODULES.items():
        names = [f"x_{place}" for place in range(len(module.arguments))]
        assert len(module.equations("b", names)) == len(names), word


def test_it_is_found_from_lmviz():
    assert lmviz.autodiff.read is read
    assert "autodiff" in dir(lmviz)


def test_it_needs_neither_torch_nor_qt():
    code = (
        "import sys, lmviz; net = lmviz.autodiff.read('x = 2\\ny = square(x)'); net.backward();"
        "lmviz.autodiff.shipped_networks(); net.explain('x', gradient=True); net.check('x'); net.torch;"
        "print([name for name in ('torch', 'PySide6', 'pyqtgraph', 'tokenizers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
