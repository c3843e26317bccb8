"""The lines in which a cell's arithmetic is read, for the cells of every family."""

import numpy as np
import pytest

from lmviz.inspection.explain import explain
from lmviz.inspection.tracing import trace
from lmviz.models.arithmetic import RULES


def sheets(model, text):
    """An arithmetic of every tap, and its sheet with all terms."""
    found = trace(model, text)
    for address, traced in found.arrays.items():
        index = tuple(np.array(traced.array.shape) // 2)
        arithmetic = explain(model, found, address, index)
        sheet = RULES[arithmetic.rule].sheet(arithmetic.terms, lambda source, index: f"{source}{index}", 1000)
        yield arithmetic, sheet


def test_every_number_of_a_line_stands_among_the_operands(model, text):
    for arithmetic, sheet in sheets(model, text):
        operands = {
            (factor.source, tuple(place.tolist()), value)
            for group in arithmetic.terms
            for factor in group.factors
            for place, value in zip(factor.indices, factor.values.tolist(), strict=True)
        }
        shown = {
            (number.source, number.index, number.value) for line in sheet.lines for number in line.numbers
        }
        assert shown <= operands, arithmetic.address


def test_the_lines_of_a_sum_make_what_its_function_is_applied_to(model, text):
    for arithmetic, sheet in sheets(model, text):
        if arithmetic.rule == "sum":
            added = sum(line.value for line in sheet.lines)
            assert added == pytest.approx(arithmetic.argument, abs=1e-9), arithmetic.address


def test_products_are_headed_as_products_and_plain_terms_as_terms(model, text):
    for arithmetic, sheet in sheets(model, text):
        if arithmetic.rule in ("sum", "fraction", "mask"):
            multiplies = any(len(line.numbers) > 1 for line in sheet.lines)
            assert sheet.last == ("product" if multiplies else "term"), arithmetic.address
