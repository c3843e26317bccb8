import math

import numpy as np
import pytest

from lmviz.inspection.equations import number, numbers, one_line
from lmviz.inspection.explain import explain
from lmviz.inspection.tracing import trace
from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant


def factor(*values, function=""):
    return Factor("x", np.arange(len(values))[:, None], np.array(values, dtype=float), function)


def arithmetic(value, *terms, rule="sum", function=""):
    return Arithmetic("a", (0,), value, "", rule, terms, function)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.284, "0.28"),
        (-0.77, "−0.77"),
        (0.0131, "0.013"),
        (-0.0028, "−0.0028"),
        (0.00002831, "2.8·10⁻⁵"),
        (1234567.0, "1.2·10⁶"),
        (12.0, "12"),
        (0.0, "0"),
        (-math.inf, "−∞"),
        (math.nan, "NaN"),
    ],
)
def test_numbers_stand_as_in_print(value, written):
    assert number(value) == written


def test_the_new_cell_of_an_lstm_reads_as_in_a_textbook():
    kept = Terms("kept", (factor(0.91), factor(0.42)))
    new = Terms("new", (factor(0.13), factor(-0.77)))
    cell = arithmetic(0.282, kept, new)
    assert one_line(cell) == "0.91 · 0.42 + 0.13 · −0.77 = 0.28"
    assert numbers(cell) == r"0.91 \cdot 0.42 + 0.13 \cdot (-0.77) = 0.28"


def test_a_function_is_shown_with_its_argument():
    gate = arithmetic(
        0.731, Terms("x", (factor(2.0), factor(0.75))), Terms("b", (factor(-0.5),)), function="sigmoid"
    )
    assert one_line(gate) == "σ(2 · 0.75 − 0.50) = σ(1) = 0.73"
    hidden = arithmetic(0.25, Terms("", (factor(0.92), factor(0.28, function="tanh"))))
    assert one_line(hidden) == "0.92 · tanh(0.28) = 0.25"


def test_of_a_long_sum_the_largest_terms_stand_and_the_rest_is_added_up():
    values = np.array([0.1, -3.0, 0.2, 2.0, 0.3, -1.0])
    long = arithmetic(values.sum(), Terms("", (factor(*values),)))
    assert one_line(long, shown=3) == "−3 + 2 − 1 + 0.60 (3 others) = −1.40"
    assert numbers(long, shown=3).endswith(r"\; (\text{3 others}) = -1.40")


def test_softmax_and_normalisation_have_equations_of_their_own():
    row = factor(1.0, 2.0, -math.inf)
    share = arithmetic(0.269, Terms("own", (factor(1.0),)), Terms("all", (row,)), rule="softmax")
    assert one_line(share) == "exp(1) / (exp(2) + exp(1)) = 0.27"
    assert numbers(share) == r"\frac{e^{1}}{e^{2} + e^{1}} = 0.27"
    norm = arithmetic(
        2.0,
        Terms("own", (factor(3.0),)),
        Terms("all", (factor(1.0, 3.0),)),
        Terms("gain", (factor(1.5),)),
        Terms("bias", (factor(0.5),)),
        Terms("epsilon", (constant(0.0),)),
        rule="layer norm",
    )
    assert one_line(norm) == "(3 − 2) / √(1 + 0) · 1.50 + 0.50 = 2"


def test_masks_and_fractions():
    assert one_line(arithmetic(-math.inf, Terms("", (factor(0.3),)), rule="mask")) == "−∞"
    halves = [Terms("", (factor(value),)) for value in (3.0, 1.0, 8.0, 2.0)]
    assert one_line(arithmetic(0.4, *halves, rule="fraction")) == "(3 + 1) / (8 + 2) = 0.40"


def test_every_equation_of_every_family_can_be_drawn(model, text):
    ziamath = pytest.importorskip("ziamath")
    ziamath.config.svg2 = False
    found = trace(model, text)
    seen = set()
    for address, traced in found.arrays.items():
        index = tuple(np.array(traced.array.shape) // 2)
        shape = type(next(tap for tap in model.taps() if tap.address == address).operation)
        if shape not in seen:
            seen.add(shape)
            assert "<svg" in ziamath.Latex(numbers(explain(model, found, address, index))).svg()
