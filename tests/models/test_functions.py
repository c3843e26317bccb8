"""Every function says the same on tensors, in numbers and as a derivative, and can be written."""

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES
from lmviz.models.arithmetic import FUNCTIONS, Arithmetic, Factor, Function, Terms, constant
from lmviz.models.operations import Activation, Affine, Of
from lmviz.models.slopes import SLOPES, slope_of
from lmviz.models.tap import Value

EVERYWHERE = np.linspace(-4.1, 4.1, 42)  # 0 is not among them, where relu has a corner
POSITIVE = np.linspace(0.1, 4.1, 21)
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def points(name):
    return POSITIVE if name in ("log", "reciprocal") else EVERYWHERE


@every_function
def test_tensors_and_numbers_agree(name):
    tensors = FUNCTIONS[name].tensor(torch.from_numpy(points(name)))
    np.testing.assert_allclose(FUNCTIONS[name].compute(points(name)), tensors.numpy(), rtol=1e-12, atol=1e-14)


with_slopes = pytest.mark.parametrize(
    "name", [*(name for name in FUNCTIONS if slope_of(name) in SLOPES), "soft cap 2", "times 3", "clip 1.6"]
)


@with_slopes
def test_the_slope_is_the_derivative_by_autograd_and_by_small_changes(name):
    argument, step = torch.from_numpy(points(name)).requires_grad_(), 1e-5
    value = FUNCTIONS[name].tensor(argument)
    value.sum().backward()
    expected = argument.grad.numpy()
    found = FUNCTIONS[slope_of(name)].compute(points(name))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    rise = FUNCTIONS[name].compute(points(name) + step) - FUNCTIONS[name].compute(points(name) - step)
    np.testing.assert_allclose(found, rise / (2 * step), rtol=1e-6, atol=1e-8)
    if (by_value := slope_of(name, from_value=True)) in FUNCTIONS:
        found = FUNCTIONS[by_value].compute(value.detach().float().numpy())  # as traces hold values
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@every_function
def test_a_single_number_will_do(name):
    compute = FUNCTIONS[name].compute
    assert float(compute(np.float64(0.5))) == float(compute(np.array([0.5]))[0])


@every_function
def test_it_is_written_around_its_argument(name):
    for template in (FUNCTIONS[name].plain, FUNCTIONS[name].latex):
        assert "0.37" in template.format("0.37")
        assert name == "" or template.format("0.37") != "0.37"


def test_sigmoid_takes_any_number():
    with np.errstate(over="raise"):
        assert FUNCTIONS["sigmoid"].compute(np.array([-800.0, 800.0])).tolist() == [0, 1]


def test_a_function_that_is_offered_can_be_chosen_wherever_there_is_an_activation():
    offered = [name for name, function in FUNCTIONS.items() if name and function.offered]
    repeated = [name for name in offered if not FUNCTIONS[name].runs_away]
    settings = {name: row.configuration.settings() for name, row in FAMILIES.items()}
    choices = {
        name: each.choices for name in settings for each in settings[name] if each.name == "activation"
    }
    assert choices == {
        "window": (*offered, "identity"),
        "rnn": (*repeated, "identity"),
        "transformer": (*offered, "identity"),
    }
    assert {slope_of(name) for name in offered} <= set(SLOPES), "gradients are written with them"


@pytest.mark.parametrize(
    "define",
    [
        lambda: constant(1.0, function="swish"),
        lambda: Factor("x", np.zeros((1, 1)), np.ones(1), "swish"),
        lambda: Arithmetic("x", (0,), 0.0, "", "sum", (Terms("", (constant(1.0),)),), "swish"),
        lambda: Activation(Value("x"), "swish"),
        lambda: Affine((), "swish"),
        lambda: Of(Value("x"), "swish"),
    ],
)
def test_a_function_that_is_not_there_is_refused_where_it_is_named(define):
    with pytest.raises(LmvizError, match=r"no function 'swish': use 'sigmoid'.*functions\.py"):
        define()


def test_a_function_without_a_slope_says_where_to_add_one():
    with pytest.raises(LmvizError, match=r"'log' has no slope.*SLOPES in .*slopes\.py"):
        constant(1.0, function=slope_of("log"))


def test_a_function_without_one_of_its_parts_cannot_be_defined():
    with pytest.raises(TypeError, match="tensor"):
        Function(np.exp, "exp({})", "e^{{{}}}")
