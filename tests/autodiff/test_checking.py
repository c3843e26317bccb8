"""Nudging finds the slope, says how many digits agree, and finds a broken module."""

import numpy as np
import pytest

from lmviz.autodiff import check_module, read, sabotage, shipped_network, shipped_networks
from lmviz.autodiff.checking import Nudging, agreeing_digits, check, errors_over_epsilon
from lmviz.autodiff.sabotage import FACTOR, ONES, SIGN, TRANSPOSE
from lmviz.base.errors import LmvizError


def test_one_cell(lecture):
    [cell] = lecture.check("β", (1, 0)).cells
    assert cell.gradient == lecture["β"].gradient[1, 0]
    assert cell.slope == pytest.approx(cell.gradient, rel=1e-9)
    assert cell.digits >= 9
    assert cell.more < cell.less  # the gradient is negative


def test_all_parameters(lecture):
    assert {(cell.name, cell.index) for cell in lecture.check().cells} == {
        (name, index) for name in ("α", "β") for index in np.ndindex(*lecture[name].shape)
    }


def test_checking_leaves_the_network_as_it_is(lecture):
    before = {node.name: (node.value.copy(), node.gradient.copy()) for node in lecture}
    lecture.check("z")
    for node in lecture:
        np.testing.assert_array_equal(node.value, before[node.name][0])
        np.testing.assert_array_equal(node.gradient, before[node.name][1])


def test_nudging_takes_two_passes_for_each_number_that_learns(lecture, monkeypatch):
    passes, loss = [], Nudging.loss
    monkeypatch.setattr(Nudging, "loss", lambda *given: passes.append(given) or loss(*given))
    lecture.check()
    assert len(passes) == 2 * lecture.size == 20


def test_a_wrong_gradient_does_not_agree(lecture):
    lecture["b"].begins_at = 1.0
    lecture.backward()
    assert not lecture.check("β").agrees


def test_float32_is_worse_and_best_at_a_larger_epsilon(lecture):
    fine, coarse = (errors_over_epsilon(lecture, "β", dtype=kind) for kind in (np.float64, np.float32))
    assert coarse[:, 1].min() > 1000 * fine[:, 1].min()
    assert coarse[:, 1].argmin() > fine[:, 1].argmin()


def test_both_slopes_of_the_error(lecture):
    curve = dict(map(tuple, np.log10(errors_over_epsilon(lecture, "β", exponents=(-2, -1)))))
    assert curve[-1] - curve[-2] == pytest.approx(2, abs=0.05)
    rounding = np.log10(errors_over_epsilon(lecture, "β", exponents=np.arange(-12, -6.5, 0.5)))
    assert np.polyfit(rounding[:, 0], rounding[:, 1], 1)[0] == pytest.approx(-1, abs=0.25)


@pytest.mark.parametrize(
    ("first", "second", "digits"),
    [(1.0, 1.0, 16), (1.0, 1.001, 3), (0.0, 0.0, 16), (1.0, -1.0, 0), (0, 1, 0)],
)
def test_digits_that_agree(first, second, digits):
    assert agreeing_digits(first, second) == pytest.approx(digits, abs=1)


@pytest.mark.parametrize("eps", [0, -1, float("nan"), float("inf")])
def test_an_epsilon_that_says_nothing_is_refused(lecture, eps):
    with pytest.raises(LmvizError, match="choose an ε above 0"):
        lecture.check("β", eps=eps)


@pytest.mark.parametrize("index", [(3, 0), (0,), (-1, 0), 3, "ab", (0.5, 0)])
def test_a_cell_that_is_not_there(lecture, index):
    with pytest.raises(LmvizError, match=r"no cell|not a cell"):
        check(lecture, "β", index)
    for gradient in (False, True):
        with pytest.raises(LmvizError, match=r"no cell|not a cell"):
            lecture.explain("β", index, gradient=gradient)


def test_only_modules_can_be_checked_alone(lecture):
    with pytest.raises(LmvizError, match="given, not computed"):
        check_module(lecture, "x")


@pytest.mark.parametrize("name", [each.name for each in shipped_networks()])
@pytest.mark.parametrize("seed", range(6))
def test_exactly_the_broken_module_fails_its_check(name, seed):
    broken, done = sabotage(read(shipped_network(name).text), seed)
    failing = [node.name for node in broken.tape.modules if not check_module(broken, node.name).agrees]
    assert failing == [done.name]


def test_every_kind_of_breakage_comes_up():
    square = read("x = [1 2; 3 4]\ny = [0.5 1; -1 2]\nz = matmul(x, y)\nJ = sum(sigmoid(z))")
    done = [sabotage(square, seed)[1] for seed in range(60)]
    assert {one.breakage for one in done} == {SIGN, FACTOR, TRANSPOSE, ONES}
    assert square.output.name not in {one.name for one in done if one.breakage == ONES}


def test_sabotage_is_the_same_for_the_same_seed(lecture):
    assert sabotage(lecture, 3)[1] == sabotage(lecture, 3)[1]
    assert check_module(lecture, sabotage(lecture, 3)[1].name).agrees  # the network itself is whole


def test_a_broken_module_is_explained_as_it_computes(lecture):
    broken, done = sabotage(lecture, 1)
    broken.backward()
    for input in broken[done.name].inputs:
        for index in np.ndindex(*input.shape):
            arithmetic = broken.explain(input.name, index, gradient=True)
            assert arithmetic.evaluate() == pytest.approx(input.gradient[index])
