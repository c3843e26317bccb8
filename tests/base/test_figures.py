"""Numbers for people are written in one place, and in one way."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import floats

import lmviz
from lmviz.base.figures import (
    bare_percentage,
    brief_percentage,
    cell_figure,
    count,
    number,
    percentage,
    percentage_change,
    plain,
    share_or_none,
    short,
    signed_figure,
    whole_percentage,
    with_unit,
)

FORMATS = re.compile(r":[z,+]*\.(?:\d+|\{\w+\})[eg]\}|:[z,+]*(?:\.\d+)?%\}|\.removeprefix\(\"0\"\)")
OWN = {
    "panels/autodiff/nudge.py": "all digits of two numbers, of which the leading ones agree",
    "panels/circuits/patching.py": "a whole number of per cent",
    "panels/race/steering.py": "what is typed, and read again",
    "widgets/base/svg_strokes.py": "a place in a drawing, which nobody reads",
    "widgets/diagrams/editable_numbers.py": "what is typed, and read again",
}
"""Where a number is written otherwise, and why."""


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (plain(8.0e-4), "0.0008"),
        (plain(2.0e-5), "2e−5"),
        (plain(-1.5e20), "−1.5e20"),
        (plain(12.5), "12.5"),
        (plain(-0.0), "0"),
        (plain(float("inf")), "∞"),
        (number(2.0e-5), "2.0e−5"),
        (percentage(2.0e-7), "2.0e−5 %"),
        (percentage(0.00031), "0.031 %"),
        (percentage(0.99961), "99.96 %"),
        (percentage(-0.06841), "−6.8 %"),
        (percentage(-0.00031), "−0.031 %"),
        (signed_figure(-0.351), "−0.35"),
        (whole_percentage(-0.031), "−3 %"),
        (whole_percentage(1.012), "101 %"),
        (bare_percentage(0.0312), "3.1"),
        (percentage_change(0.118), "+12 %"),
        (percentage_change(-0.001), "0 %"),
        (short(10_000), "10.0k"),
    ],
)
def test_a_number_has_a_true_minus_and_no_zeros_in_its_exponent(written: str, wanted: str) -> None:
    assert written == wanted


@given(floats(0, 1))
def test_nothing_is_written_as_all_of_it_while_something_is_left(share: float) -> None:
    is_all = share > 1 - 2.1e-7  # what float32 can lose
    if not is_all:
        assert not percentage(share).startswith("100")
        assert brief_percentage(share) != "100"
    if share > 1 - 1.9e-7:
        assert (percentage(share), brief_percentage(share)) == ("100.0 %", "100")


@given(floats())
def test_every_number_can_be_written_also_one_that_is_none(value: float) -> None:
    for write in (
        signed_figure,
        number,
        plain,
        cell_figure,
        percentage,
        brief_percentage,
        bare_percentage,
        whole_percentage,
        percentage_change,
        share_or_none,
        count,
        short,
    ):
        assert write(value)
    assert with_unit(value, "B")


def test_the_window_writes_numbers_by_these_functions_alone() -> None:
    app = Path(lmviz.__file__).parent / "app"
    found = {
        path.relative_to(app).as_posix()
        for path in app.rglob("*.py")
        if any(FORMATS.search(line) for line in path.read_text("utf-8").splitlines())
    }
    assert found <= OWN.keys()


PERCENT = re.compile(r"\{(?:round\()?100(?:\.0)? \* |\* 100(?:\.0)?\)?[:}]")


def test_shares_are_written_in_per_cent_by_these_functions_alone() -> None:
    package = Path(lmviz.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(PERCENT.search(line) for line in path.read_text("utf-8").splitlines())
    }
    assert found <= {"base/figures.py"}


@pytest.mark.parametrize(
    ("share", "written"),
    [
        (0.0, "0"),
        (1.0, "100"),
        (0.456, "46"),
        (0.0096, "1"),
        (0.004, "0.4"),
        (0.00021, "0.02"),
        (3e-7, "3e−5"),
    ],
)
def test_a_small_share_is_not_rounded_to_none(share: float, written: str) -> None:
    assert brief_percentage(share) == written
