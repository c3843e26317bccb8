"""Recurrent networks as units and weighted arrows: which are, and what comes along each arrow."""

import pytest

from lmviz.autodiff import read, shipped_network, shipped_networks
from lmviz.autodiff.folding import Arrow, units_of

FOLDING = {
    "summation",
    "comparison",
    "recurrence_tanh",
    "recurrence_sigmoid",
    "recurrence_identity",
    "both_ways",
}


@pytest.mark.parametrize("name", [each.name for each in shipped_networks()])
def test_the_small_recurrent_nets_fold_and_the_others_do_not(name):
    assert (units_of(read(shipped_network(name).text)) is not None) == (name in FOLDING)


def test_summation_is_one_unit_over_four_steps():
    found = units_of(read(shipped_network("summation").text))
    assert [unit.name for unit in found.units if unit.base == "h"] == ["h[0]", "h[1]", "h[2]", "h[3]", "h[4]"]
    assert {unit.row for unit in found.units if unit.base == "h"} == {1}
    assert found.unit("h[0]").is_given
    assert not found.unit("h[1]").is_given
    assert (found.unit("y").step, found.unit("y").row) == (4, 2)
    loops = [arrow for arrow in found.arrows if found.delay(arrow)]
    assert loops == [Arrow(f"h[{t - 1}]", f"h[{t}]", "U") for t in range(1, 5)]
    assert Arrow("x[3]", "h[3]", "W") in found.arrows
    assert Arrow("h[4]", "y") in found.arrows


def test_a_unit_has_its_function():
    comparison = units_of(read(shipped_network("comparison").text))
    assert [comparison.unit(name).function for name in ("h[2]", "y[2]", "J")] == ["", "σ", "Σ"]
    assert units_of(read(shipped_network("recurrence_tanh").text)).unit("h[1]").function == "tanh"


def test_a_recurrence_from_the_right_has_a_row_of_its_own():
    found = units_of(read(shipped_network("both_ways").text))
    rows = {unit.base: unit.row for unit in found.units}
    assert rows == {"x": 0, "left": 1, "right": 2, "y": 3, "J": 4}
    loops = {(arrow.source, found.delay(arrow)) for arrow in found.arrows if found.delay(arrow)}
    assert loops == {*((f"left[{t}]", 1) for t in range(3)), *((f"right[{t}]", -1) for t in range(2, 5))}
    places = [(unit.row, unit.step) for unit in found.units]
    assert len(set(places)) == len(places), "no two stand in one place"


LOOP = "U = 1\nW = 2\nh[0] = 0\nx[1..2] = [1; 2]\nfor t in 1..2:\n    h[t] = {}\ny = identity(h[2])"


@pytest.mark.parametrize(
    "line",
    [
        "tanh(add(linear(U, h[t-1]), x[t]))",
        "relu(tanh(add(multiply(U, h[t-1]), multiply(W, x[t]))))",
        "linear(U, h[t-1])",
        "add(h[t-1], x[t])",
        "tanh(h[t-1])",
    ],
)
def test_other_lines_that_are_units(line):
    assert units_of(read(LOOP.format(line))) is not None


@pytest.mark.parametrize(
    "line",
    [
        "multiply(h[t-1], x[t])",
        "add(linear(U, h[t-1]), W)",
        "add(linear(U, h[t-1]), multiply(5, x[t]))",
        "add(linear(U, linear(W, h[t-1])), x[t])",
        "linear(U, x[t])",
        "exp(h[t-1])",
    ],
)
def test_lines_that_are_no_units_or_not_recurrent(line):
    assert units_of(read(LOOP.format(line))) is None


def test_what_is_too_long_to_be_drawn_is_not_folded():
    text = "U = 1\nh[0] = 1\nfor t in 1..40:\n  h[t] = multiply(U, h[t-1])"
    assert units_of(read(text)) is None
    assert units_of(read(text.replace("40", "12"))) is not None
