"""Each number of a trace follows from what it says that it was computed from, in every family."""

import re

import numpy as np
import torch
from cells import cells_of, check_operand
from family_cases import (
    IDS,
    SOURCE,
    each_family_and_each_task,
    every_case,
    parameters_of,
    rows_beside,
    traced,
)
from told import is_told

from lmviz.inspection.explain import TraceReader
from lmviz.models.arithmetic import FUNCTIONS, RULES
from lmviz.models.explicit import ForwardPass

PARTS = {"attention", "output", "pooling"}
"""Parts of models of which some results are called by a name of their own."""


@every_case
def test_stages_lead_from_tap_to_tap_to_the_probabilities(model):
    addresses = {tap.address for tap in model.taps()}
    stages = model.stages()
    assert {address for stage in stages for address in stage.results + stage.operands} <= addresses
    assert stages[-1].results == ("probabilities",)
    shown = [address for stage in stages for address in stage.results]
    assert len(shown) == len(set(shown))
    assert all(is_told(stage.title) for stage in stages)
    assert all(is_equation(stage.equation) for stage in stages)


@every_case
def test_a_stage_stands_where_its_results_do(model):
    for stage in model.stages():
        at_result = all(f"{result}/".startswith(f"{stage.place}/") for result in stage.results)
        assert at_result or stage.place in PARTS, stage


@every_case
def test_stages_name_all_that_their_results_are_computed_from(model):
    operations = {tap.address: tap.operation for tap in model.taps()}
    for stage in model.stages():
        read = {operand.address for result in stage.results for operand in operations[result].operands}
        assert set(stage.operands) - set(stage.results) == read - set(stage.results), stage.title


@each_family_and_each_task
def test_every_cell_follows_from_its_stated_operands(model):
    check_cells(model, lambda array: np.ndindex(array.shape))


@every_case
def test_a_few_cells_follow_from_their_stated_operands(model):
    check_cells(model, cells_of)


@every_case
def test_every_rule_and_function_in_use_is_in_the_tables(model):
    found = traced(model, IDS)
    reader = TraceReader(model, found)
    for tap in model.taps():
        index = tuple(np.array(found[tap.address].array.shape) // 2)
        arithmetic = tap.operation.explain(reader, tap.address, index)
        factors = [factor for group in arithmetic.terms for factor in group.factors]
        assert arithmetic.rule in RULES
        told = [arithmetic.operation, *(group.label for group in arithmetic.terms)]
        assert all(is_told(words) for words in told), (tap.address, told)
        assert {arithmetic.function, *(factor.function for factor in factors)} <= set(FUNCTIONS)


@every_case
def test_operations_read_the_taps_that_they_declare_and_no_others(model):
    tokens, seen = torch.from_numpy(IDS)[None], set()

    class Observed(ForwardPass):
        def read(self, operand):
            seen.add(operand)
            return super().read(operand)

    def listener(tap, value, position):
        assert seen <= set(tap.operation.operands)
        last = len(SOURCE if tap.axes[0] == "source" else IDS) - 1
        if position in (None, last if tap.reverse else 0):  # a scan reads what it leaves alone once, first
            assert seen == set(tap.operation.operands)
        seen.clear()
        return value

    with torch.no_grad():
        Observed(tokens, parameters_of(model), **rows_beside(model, 1)).run(model.taps(), listener)


@every_case
def test_explanations_name_only_operands_that_are_declared(model):
    found = traced(model, IDS)
    reader = TraceReader(model, found)
    for tap in model.taps():
        declared = {operand.address for operand in tap.operation.operands}
        for index in cells_of(found[tap.address].array):
            terms = tap.operation.explain(reader, tap.address, index).terms
            sources = {factor.source for group in terms for factor in group.factors}
            assert sources & set(found.arrays) <= declared


def is_equation(latex):
    """Whether letters stand alone in it, but for the names of functions and words."""
    symbols = re.sub(r"\\(text|mathrm|operatorname)\{[^}]*\}", "", latex)
    return bool(symbols.strip()) and not re.search("[A-Z]{2}", symbols)


def check_cells(model, of):
    """The chosen cells of each tap have the value of their arithmetic, and its operands theirs."""
    found = traced(model, IDS)
    reader = TraceReader(model, found)
    for tap in model.taps():
        array = found[tap.address].array
        for index in of(array):
            arithmetic = tap.operation.explain(reader, tap.address, index)
            assert (arithmetic.address, arithmetic.index) == (tap.address, index)
            assert arithmetic.value == array[index]
            for group in arithmetic.terms:
                for factor in group.factors:
                    check_operand(model, found, factor)
            check_value(arithmetic)


def check_value(arithmetic):
    computed = arithmetic.evaluate()
    close = abs(computed - arithmetic.value) <= 1e-5 + 1e-4 * abs(arithmetic.value)
    assert computed == arithmetic.value or close, (arithmetic, computed)
