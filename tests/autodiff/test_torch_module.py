"""A network as a module of PyTorch runs as it stands, and gives the numbers of Autodiff."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from lmviz.autodiff import descend, read, shipped_network, shipped_networks
from lmviz.autodiff.torch_module import current_line, module_code


@pytest.fixture(autouse=True)
def default_type():
    """The program sets the type of numbers for the whole process."""
    before = torch.get_default_dtype()
    yield
    torch.set_default_dtype(before)


def run(net, rate):
    space, printed = {"print": lambda *numbers: printed.extend(numbers)}, []
    exec(net.torch_module(rate), space)
    return space, printed


@pytest.mark.parametrize("name", [each.name for each in shipped_networks()])
def test_it_runs_and_gives_the_same_loss_gradients_and_step(name):
    net = read(shipped_network(name).text).backward()
    space, printed = run(net, 0.1)
    assert printed[0] == pytest.approx(net.loss, rel=1e-12)
    if not net.parameters:
        return
    assert printed[1] == pytest.approx(descend(net, 0.1).after, rel=1e-10, abs=1e-12)
    found = dict(space["net"].named_parameters())
    assert len(found) == len(net.parameters)
    for (_, parameter), node in zip(found.items(), net.parameters, strict=True):
        np.testing.assert_allclose(parameter.grad.numpy(), node.gradient, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
def test_it_is_a_program_of_its_own():
    net = read(shipped_network("lecture").text)
    done = subprocess.run([sys.executable, "-c", net.torch_module(0.1)], capture_output=True, text=True)
    assert [round(float(number), 6) for number in done.stdout.split()] == [0.325054, 0.306588]


@pytest.mark.parametrize("name", ["forward", "self", "parameters", "training", "type", "net"])
def test_a_value_may_be_called_as_what_a_module_has(name):
    net = read(f"parameter {name} = 3\nu = square({name})\nJ = multiply(2, u)").backward()
    _, printed = run(net, 0.5)
    assert printed == [18, descend(net, 0.5).after]


def test_a_value_set_by_hand_passes_no_gradient():
    net = read(shipped_network("lecture").text).forward()
    net.edit("z", (0,), 2)
    net.backward()
    space, printed = run(net, 0.1)
    assert printed[0] == pytest.approx(net.loss)
    np.testing.assert_allclose(space["net"].α.grad.numpy(), net["α"].gradient, atol=1e-12)


def test_a_push_lights_the_line_of_its_value_and_a_pop_the_way_back():
    net = read(shipped_network("elman").text)
    rate = 0.1
    assert module_code(net, rate).lit == -1
    for node in net.tape.modules:
        net.tape.push()
        code = module_code(net, rate)
        name = node.name.partition("·")[0].replace("[", "_").replace("]", "").replace("ℓ", "l")
        assert code.lines[code.lit].code.startswith(f"{name} = ")
        assert current_line(net, rate) == -1
    net.tape.pop()
    code = module_code(net, rate)
    assert code.lines[code.lit].code == "loss.backward()"
    assert code.lines[current_line(net, rate)].code.startswith("J = ")
