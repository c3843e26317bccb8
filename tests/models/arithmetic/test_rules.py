"""Every rule evaluates and writes itself; a new one is shown as what it is."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from told import is_told

from lmviz.base.errors import LmvizError
from lmviz.inspection.equations import numbers, one_line
from lmviz.inspection.lighting import operand_cells
from lmviz.models.arithmetic import RULES, Arithmetic, Factor, Rule, Terms, constant
from lmviz.models.arithmetic.notation import LATEX, PLAIN
from lmviz.models.arithmetic.sheet import Sheet, numbers_of, term_line


def factor(*values, source="x", function=""):
    return Factor(source, np.arange(len(values))[:, None], np.array(values, dtype=float), function)


def named(**values):
    return tuple(Terms(name, (factor(*numbers),)) for name, numbers in values.items())


ROW = (0.3, -1.2, 2.0, 0.7)
SAMPLES = {
    "sum": (
        Terms("input", (factor(*ROW), factor(0.5, 0.25, -1.0, 3.0, source="w.weight", function="tanh"))),
        Terms("bias", (constant(0.4),)),
    ),
    "fraction": named(count=(3.0,), k=(0.5, 1.5), total=(8.0, 1.0), every=(2.0,)),
    "softmax": named(own=(0.7,), row=ROW),
    "layer norm": named(own=(0.7,), row=ROW, gain=(1.5,), bias=(-0.2,), epsilon=(0.01,)),
    "rms norm": named(own=(0.7,), row=ROW, gain=(1.5,), epsilon=(0.01,)),
    "mask": named(hidden=(0.7,)),
}
"""Operands for every rule in the table."""
every_rule = pytest.mark.parametrize("name", RULES)


def cell(rule, groups, function=""):
    empty = Arithmetic("y", (0,), 0.0, "what is done", rule, tuple(groups), function)
    return replace(empty, value=empty.evaluate())


@pytest.mark.filterwarnings("error")
def test_the_share_of_an_infinite_score_is_no_number_and_nothing_is_said_on_the_terminal():
    broken = cell("softmax", named(own=(math.inf,), row=(math.inf, 0.5)))
    assert math.isnan(broken.evaluate())


@every_rule
def test_it_weighs_every_term_between_0_and_1(name):
    strengths = RULES[name].strengths(SAMPLES[name])
    assert [len(found) for found in strengths] == [len(group) for group in SAMPLES[name]]
    together = np.concatenate(strengths)
    assert together.min() >= 0
    assert together.max() == 1


@every_rule
@pytest.mark.parametrize("notation", [PLAIN, LATEX], ids=["plain", "latex"])
def test_its_equation_names_its_numbers(name, notation):
    groups = SAMPLES[name]
    written = RULES[name].equation(groups, notation, 10)
    if name == "mask":
        assert written == notation.number(-math.inf)
        return
    shown = groups if name in ("sum", "fraction", "softmax") else (groups[0], *groups[2:])
    for group in shown:
        for value in group.factors[0].values:
            assert notation.number(abs(float(value))) in written


@every_rule
def test_its_sheet_shows_the_terms_and_names_what_they_make(name):
    groups = SAMPLES[name]
    sheet = RULES[name].sheet(groups, lambda source, index: f"{source}{index[0]}", 10)
    seen = {number.value for line in sheet.lines for number in line.numbers}
    assert float(groups[0].factors[0].values[0]) in seen
    assert sheet.result or name == "mask"
    assert all(map(is_told, (sheet.middle, sheet.last, *(line.name for line in sheet.lines))))


@pytest.mark.parametrize("name", ["sum", "softmax"])
def test_others_are_spoken_of_where_there_are_some(name):
    def others(count):
        sheet = RULES[name].sheet(SAMPLES[name], lambda source, index: source, count)
        written = RULES[name].equation(SAMPLES[name], PLAIN, count), *(line.name for line in sheet.lines)
        return sum("other" in text for text in written)

    assert others(5 if name == "sum" else 4) == 0
    assert others(3) == 2  # in the equation and on the sheet
    terms = 5 if name == "sum" else 4
    assert RULES[name].equation(SAMPLES[name], PLAIN, terms - 1).count("(1 other)") == 1


def test_the_lines_of_a_sum_add_up():
    groups = SAMPLES["sum"]
    for count in (1, 2, 10):
        lines = RULES["sum"].sheet(groups, lambda source, index: source, count).lines
        assert sum(line.value for line in lines) == pytest.approx(RULES["sum"].evaluate(groups))
        assert all(line.adds for line in lines)


def test_a_line_leaves_out_the_ones_that_change_nothing():
    group = Terms("", (constant(1.0), constant(2.0), constant(1.0, function="sin"), factor(1.0)))
    shown = [(number.value, number.function, number.source) for number in numbers_of(group, 0)]
    assert shown == [(2.0, "", "constant"), (1.0, "sin", "constant"), (1.0, "", "x")]


def test_the_sheet_of_a_layer_norm_states_what_it_computes_with():
    sheet = RULES["layer norm"].sheet(SAMPLES["layer norm"], lambda source, index: source, 9)
    values = [line.value for line in sheet.lines]
    assert values == pytest.approx([0.7, np.mean(ROW), np.std(ROW), 1.5, -0.2])
    assert [line.name for line in sheet.lines][2:] == ["their standard deviation", "gain", "bias"]


def test_the_values_of_a_layer_norm_matter_by_their_distance_from_the_mean():
    own, row, *others = RULES["layer norm"].strengths(SAMPLES["layer norm"])
    distances = np.abs(np.array(ROW) - np.mean(ROW))
    np.testing.assert_allclose(row, distances / distances.max())
    assert all((strength == 1).all() for strength in (own, *others))


def test_a_layer_norm_may_do_without_a_bias():
    own, row, gain, bias, epsilon = SAMPLES["layer norm"]
    groups = (own, row, gain, epsilon)
    with_bias = RULES["layer norm"].evaluate((own, row, gain, bias, epsilon))
    assert RULES["layer norm"].evaluate(groups) == pytest.approx(with_bias + 0.2)
    names = [line.name for line in RULES["layer norm"].sheet(groups, lambda source, index: source, 9).lines]
    assert names[-1] == "gain"
    for given in (groups, (own, row, gain, bias, epsilon)):
        sheet = RULES["layer norm"].sheet(given, lambda source, index: source, 9)
        assert ("bias" in sheet.result) is any(line.name == "bias" for line in sheet.lines)


def test_a_rule_that_is_not_there_is_refused_where_it_is_named():
    with pytest.raises(LmvizError, match=r"no rule 'product': use 'sum'.*table\.py"):
        Arithmetic("y", (0,), 6.0, "", "product", named(a=(2.0,), b=(3.0,)))


def _product(groups):
    return math.prod(float(group.products[0]) for group in groups)


PRODUCT = {
    "evaluate": _product,
    "equation": lambda groups, notation, shown: notation.product(
        [(float(group.products[0]), "") for group in groups]
    ),
    "sheet": lambda groups, naming, count: Sheet.of_terms(
        tuple(term_line(group, 0, naming, group.label) for group in groups), "multiplied"
    ),
    "strengths": lambda groups: tuple(np.ones(1) for _ in groups),
}
"""A rule that is not in the table."""


@pytest.mark.parametrize("part", PRODUCT)
def test_a_rule_without_one_of_its_parts_cannot_be_defined(part):
    assert set(PRODUCT) == {field.name for field in fields(Rule)}
    with pytest.raises(TypeError, match=part):
        Rule(**{name: value for name, value in PRODUCT.items() if name != part})


def test_a_new_rule_is_shown_as_what_it_is_and_not_as_a_sum(monkeypatch):
    monkeypatch.setitem(RULES, "product", Rule(**PRODUCT))
    groups = (Terms("a", (factor(2.0, source="a"),)), Terms("b", (factor(3.5, source="b"),)))
    found = cell("product", groups)
    assert found.evaluate() == 7
    assert one_line(found) == "2 · 3.50 = 7"
    assert numbers(found) == r"2 \cdot 3.50 = 7"
    assert RULES["product"].sheet(groups, lambda source, index: source, 6).result == "multiplied"
    assert [cells.strengths.tolist() for cells in operand_cells(found)] == [[1.0], [1.0]]
