"""The tape pushes and pops one module at a time, in both versions, and can be gone back on."""

import numpy as np
import pytest

from lmviz.autodiff import read, shipped_network, shipped_networks
from lmviz.base.errors import LmvizError


@pytest.fixture
def net():
    return read(shipped_network("lecture").text)


def known(net):
    return {node.name for node in net if node.gradient is not None}


def test_a_push_computes_one_module(net):
    assert net["a"].value is None
    assert net.tape.push().name == "a"
    np.testing.assert_allclose(net["a"].value, (0, 0.5))
    assert net["z"].value is None
    assert [node.name for node in net.tape] == ["a"]


def test_the_first_popped_is_the_loss(net):
    net.forward()
    popped = [net.tape.pop().name for _ in net.tape.modules]
    assert popped == ["J", "ŷ", "b", "z", "a"]
    assert len(net.tape) == 0
    with pytest.raises(LmvizError, match="Nothing is left on the tape"):
        net.tape.pop()


def test_nothing_is_pushed_behind_the_last(net):
    net.forward()
    with pytest.raises(LmvizError, match="Every module is on the tape"):
        net.tape.push()


def test_there_are_two_ways_to_go_back(net):
    with pytest.raises(LmvizError, match="choose A"):
        net.backward("C")


def test_scatter_reaches_the_inputs_of_what_is_popped(net):
    net.forward()
    assert known(net) == set()
    net.tape.pop()
    assert known(net) == {"J", "ŷ", "y"}


def test_gather_reaches_what_is_popped(net):
    net.forward()
    net.tape.version = "A"
    net.tape.pop()
    assert known(net) == {"J", "y"}
    net.tape.pop()
    assert known(net) == {"J", "y", "ŷ"}


def test_before_all_are_pushed_a_pop_undoes_the_push(net):
    net.tape.push()
    net.tape.push()
    assert net.tape.pop().name == "z"
    assert net["z"].value is None
    assert known(net) == set()
    assert net.tape.push().name == "z"


def test_a_push_after_pops_takes_the_last_one_back(net):
    net.forward()
    net.tape.pop()
    before = {name: net[name].gradient for name in known(net)}
    net.tape.pop()
    assert net.tape.push().name == "ŷ"
    assert {name: net[name].gradient for name in known(net)}.keys() == before.keys()
    for name, gradient in before.items():
        np.testing.assert_array_equal(net[name].gradient, gradient)


@pytest.mark.parametrize("name", [each.name for each in shipped_networks()])
def test_gather_and_scatter_agree(name):
    net = read(shipped_network(name).text)
    gathered = {node.name: node.gradient for node in net.backward("A")}
    for node in net.backward("B"):
        np.testing.assert_allclose(node.gradient, gathered[node.name], rtol=1e-12, atol=1e-15)


def test_changing_the_version_keeps_the_place(net):
    net.forward()
    net.tape.pop()
    net.tape.version = "A"
    assert net.tape.popped == 1
    net.tape.version = "B"
    assert known(net) == {"J", "ŷ", "y"}


def test_an_edit_computes_what_follows_and_keeps_the_place(net):
    net.forward()
    net.tape.pop()
    before = net["ŷ"].gradient
    net.edit("x", (0,), 5)
    assert (net.tape.pushed, net.tape.popped) == (5, 1)
    assert net["a"].value[0] == 2
    assert not np.allclose(net["ŷ"].gradient, before)


def test_a_computed_cell_that_is_set_by_hand_stays_and_hands_nothing_back(net):
    net.edit("z", (1,), 0.25).backward()
    assert net["z"].value.tolist() == [0.5, 0.25]
    assert net["a"].gradient[1] == 0
    assert net["a"].gradient[0] != 0
    assert net["z"].gradient[1] != 0
    assert net.check("α").agrees
    assert net.check("z").agrees
    net.release("z").forward()
    assert net["z"].value[1] == pytest.approx(0.622459, abs=5e-7)


def test_what_leads_nowhere_has_the_gradient_zero():
    net = read("x = [1; 2]\ny = [3; 4]\nunused = sigmoid(y)\nz = sum(x)").backward()
    assert net["y"].gradient.tolist() == [0, 0]
    assert net["unused"].gradient.tolist() == [0, 0]


def test_the_tape_can_be_read(net):
    net.tape.push()
    assert "linear  a  on the tape" in repr(net.tape)
    assert "cross_entropy  J  not computed yet" in repr(net.tape)


def test_a_gradient_is_final_when_all_its_consumers_are_popped():
    net = read("parameter v = 3\nu = square(v)\nw = multiply(2, v)\ny = add(u, w)").forward()
    net.tape.pop()
    net.tape.pop()
    assert not net.tape.is_final(net["v"])
    assert net.tape.is_final(net["w"])
    net.tape.pop()
    assert net.tape.is_final(net["v"])


def test_a_value_that_was_set_by_hand_says_so():
    net = read("x = [1; 2]\ny = sum(x)").forward()
    assert net.explain("y").operation == "sum"
    net.edit("y", (), 5).forward()
    found = net.explain("y")
    assert (found.operation, found.value) == ("set by hand", 5)
