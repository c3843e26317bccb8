"""Numbers are written briefly, and never as a false zero."""

import math

import pytest

from lmviz.app.widgets.base.figures import (
    cell_figure,
    count,
    number,
    percentage,
    short,
    signed_figure,
    with_unit,
)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.2844, "0.284"),
        (-0.35, "−0.350"),
        (0.0, "0.000"),
        (1e-9, "1.0e−9"),
        (-math.inf, "−∞"),
        (2.5e7, "2.5e7"),
    ],
)
def test_number(value, written):
    assert number(value) == written


@pytest.mark.parametrize(
    ("share", "written"),
    [(0.212, "21.2 %"), (1, "100.0 %"), (0, "0.0 %"), (0.00031, "0.031 %"), (1e-12, "1.0e−10 %")],
)
def test_percentage(share, written):
    assert percentage(share) == written


@pytest.mark.parametrize("exponent", range(-14, 0))
@pytest.mark.parametrize("figure", [1.0, 1.04, 4.9, 5.1, 8.2, 9.94])
def test_a_percentage_is_never_off_by_more_than_its_second_figure(figure, exponent):
    share = figure * 10.0**exponent
    written = float(percentage(share).removesuffix(" %").replace("−", "-")) / 100
    assert written == pytest.approx(share, rel=0.05)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (950, "950"),
        (12345, "12.3k"),
        (803_000, "803k"),
        (124_439_808, "124M"),
        (1_240_000, "1.24M"),
        (174e9, "174bn"),
    ],
)
def test_short(value, written):
    assert short(value) == written


def test_a_unit_stands_apart_with_its_prefix():
    assert with_unit(10_200_000, "B") == "10.2 MB"
    assert with_unit(950, "B") == "950 B"
    assert with_unit(174e9, "B") == "174 GB"


@pytest.mark.parametrize("value", [0.0, -0.0, -1e-12, -0.004])
def test_nothing_that_is_written_as_zero_has_a_minus(value):
    for write in (number, cell_figure, percentage, signed_figure, lambda value: number(value, 2)):
        written = write(value)
        assert "-" not in written
        assert "−" not in written or any(digit in "123456789" for digit in written), written


def test_signs_and_separators():
    assert signed_figure(1.123) == "+1.12"
    assert signed_figure(-0.35) == "−0.35"
    assert count(-12345) == "−12,345"
