"""How functions are written around numbers and around sums."""

import pytest

from lmviz.models.arithmetic.notation import LATEX, PLAIN


@pytest.mark.parametrize(
    ("function", "argument", "written"),
    [
        ("", "1 + 2", "1 + 2"),
        ("sigmoid", "1 + 2", "σ(1 + 2)"),
        ("one minus", "0.30", "(1 − 0.30)"),
        ("one minus", "1 + 2", "(1 − (1 + 2))"),
        ("reciprocal", "4", "1/4"),
        ("reciprocal", "1 + 2", "1/(1 + 2)"),
        ("cos", "0.50", "cos(0.50)"),
    ],
)
def test_brackets_keep_together_what_a_function_is_applied_to(function, argument, written):
    assert PLAIN.apply(function, argument) == written


def test_a_fraction_needs_no_brackets_in_print():
    assert LATEX.apply("reciprocal", "1 + 2") == r"\frac{1}{1 + 2}"
    assert LATEX.apply("one minus", "1 + 2") == "(1 - (1 + 2))"


@pytest.mark.parametrize("notation", [PLAIN, LATEX], ids=["plain", "latex"])
def test_an_unknown_function_is_not_left_out(notation):
    with pytest.raises(KeyError):
        notation.apply("swish", "2")
