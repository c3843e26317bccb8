"""The tape as code: which line runs, what came of it, and the slip of a slide."""

import numpy as np
import pytest

from lmviz.autodiff import read, shipped_network, shipped_networks
from lmviz.autodiff.running_code import loop_code, losses_over_steps, tape_code
from lmviz.autodiff.slip import begin_gradients_at


def shipped(name):
    return read(shipped_network(name).text)


def lit(code):
    return "" if code.lit < 0 else code.lines[code.lit].code


def test_each_push_and_each_pop_lights_its_line():
    net = shipped("lecture")
    assert lit(tape_code(net)) == ""
    for _ in net.tape.modules:
        net.tape.push()
        assert lit(tape_code(net)) == "tape.push(self)"
    for _ in net.tape.modules:
        net.tape.pop()
        assert lit(tape_code(net)) == "m = tape.pop()"


def test_what_came_of_a_pop_stands_beside_its_lines():
    net = shipped("lecture").forward()
    net.tape.sweep(3)
    figures = {line.code: line.figures for line in tape_code(net).lines}
    assert figures["m = tape.pop()"] == "linear b"
    assert figures["for i in m.inputs:"] == "β, z"
    assert figures["i.out_gradient += g"] == "g β, g z"
    net.tape.version = "A"
    figures = {line.code: line.figures for line in tape_code(net).lines}
    assert figures["for u in m.consumers:"] == "ŷ"
    assert figures["m.out_gradient += g"] == "g b, g β"


def test_the_slip_leaves_the_rows_of_beta_wrong_by_z():
    net = shipped("lecture").backward()
    right, value = net["β"].gradient, net["J"].value
    begin_gradients_at(net, 1)
    assert net.tape.is_swept
    np.testing.assert_allclose(net["β"].gradient - right, np.tile(net["z"].value, (3, 1)), atol=1e-12)
    assert net["J"].gradient == 1
    assert net["J"].value == value
    assert not net.check("β").agrees
    [line] = [line for line in tape_code(net, has_slip=True).lines if line.is_slip]
    assert line.code == "out_gradient = 1"
    begin_gradients_at(net, 0)
    np.testing.assert_array_equal(net["β"].gradient, right)


@pytest.mark.parametrize("version", ["A", "B"])
def test_both_ways_back_run_the_same_slip(version):
    net = shipped("lecture")
    begin_gradients_at(net, 1)
    other = net.copy().backward("A" if version == "B" else "B")
    np.testing.assert_allclose(net.backward(version)["α"].gradient, other["α"].gradient)


def test_a_loop_has_its_lines_with_the_numbers_of_the_step_it_has_come_to():
    net = shipped("elman")
    for _ in range(14):
        net.tape.push()
    code = loop_code(net)
    written = [line.code for line in code.lines]
    assert "h[t] = σ(U·h[t−1] + W·x[t])" in written
    assert code.lines[0].figures == "t = 2"
    assert lit(code) == "ℓ[t] = −y[t]ᵀ log ŷ[t]"
    assert code.lines[code.lit + 1].figures == f"{float(net['ℓ[2]'].value):.4f}"
    assert code.lines[-1].figures == ""


def test_the_losses_over_the_steps_add_up_to_the_output():
    net = shipped("elman")
    assert [loss.value for loss in losses_over_steps(net)] == [None] * 4
    net.forward()
    assert sum(loss.value for loss in losses_over_steps(net)) == pytest.approx(net.loss)


@pytest.mark.parametrize("name", [each.name for each in shipped_networks()])
def test_at_every_place_of_every_tape_one_line_is_lit(name):
    net = shipped(name)
    moves = [net.tape.push] * len(net.tape.modules) + [net.tape.pop] * len(net.tape.modules)
    for move in moves:
        move()
        for code in filter(None, (tape_code(net), loop_code(net))):
            assert 0 <= code.lit < len(code.lines)
