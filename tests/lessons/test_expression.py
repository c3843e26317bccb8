"""Arithmetic of values and numbers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.base.faults import LineFault
from lmviz.lessons.expression import constant, evaluate, parse
from lmviz.lessons.faults import NotKnown


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4/11", 4 / 11),
        ("5/(11+2)", 5 / 13),
        ("1 + 2 × 3", 7),
        ("2 · 3 ÷ 4", 1.5),
        ("2 ^ 3 ^ 2", 512),
        ("-2 ^ 2", -4),
        ("2 ^ -1", 0.5),
        ("−3 − −2", -1),
        ("8 / 4 / 2", 1),
        ("7 - 2 - 1", 4),
        ("36 %", 0.36),
        ("1e-3", 0.001),
        (".5", 0.5),
        ("ln(exp(2))", 2),
        ("sqrt(abs(-9))", 3),
        ("√9", 3),
        ("1 + √(3^2) × √4", 7),
        ("round(2.6)", 3),
        ("12*96*12288^2", 12 * 96 * 12288**2),
    ],
)
def test_arithmetic_is_read_as_it_is_written(text: str, number: float) -> None:
    assert constant(text) == pytest.approx(number, rel=1e-12)


def test_values_are_looked_up_with_their_arguments() -> None:
    asked = []

    def look_up(name, arguments):
        asked.append((name, arguments))
        return 11.0

    expression = parse('count("cows eat", 1 + 1) / (vocabulary + 11)')
    assert evaluate(expression, look_up) == 0.5
    assert asked == [("count", ["cows eat", 2.0]), ("vocabulary", [])]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4 +",
        "(4",
        "4)",
        "4 5",
        "ln",
        "ln(1, 2)",
        "count(",
        '"corn',
        "4 $ 5",
        "x.y",
        "__import__('os').system('x')",
        "(" * 99,
        "9^" * 99 + "9",
    ],
)
def test_what_is_no_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(LineFault) as refused:
        parse(text)
    assert refused.value.sentence.endswith((".", "?"))


@pytest.mark.parametrize("text", ["1/0", "ln(0)", "sqrt(-1)", "9^9^9^9", "exp(9999)", "(-8)^0.5", '"a" + 1'])
def test_arithmetic_without_a_value_is_not_known(text: str) -> None:
    with pytest.raises(NotKnown):
        evaluate(parse(text), lambda name, arguments: 0.0)
    assert constant(text) is None


@given(st.text(max_size=60) | st.text(alphabet='0123456789.+-*/^()%," lnexp', max_size=60))
def test_any_words_are_a_finite_number_or_none(text: str) -> None:
    number = constant(text)
    assert number is None or math.isfinite(number)
