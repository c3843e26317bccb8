"""What all configurations have in common."""

from dataclasses import dataclass

import pytest

from lmviz.base.configuration import Configuration, setting
from lmviz.base.errors import LmvizError


@dataclass(frozen=True)
class Numbered(Configuration):
    number: int = setting(0, "A whole number.", minimum=0, maximum=2**63 - 1)


@pytest.mark.parametrize("number", [2**63 - 1, 2**53 + 1])
def test_large_whole_numbers_keep_every_digit(number):
    assert Numbered.from_values({"number": number}).number == number
    assert Numbered.from_values({"number": str(number)}).number == number


@pytest.mark.parametrize(("given", "number"), [("1e3", 1000), (5.0, 5), (" 7 ", 7)])
def test_whole_numbers_may_be_written_as_others(given, number):
    assert Numbered.from_values({"number": given}).number == number


@pytest.mark.parametrize("given", [1.5, "1.5", "nan", float("inf"), "1e999", True, None, [], "9" * 5000, "x"])
def test_what_is_no_whole_number_is_refused(given):
    with pytest.raises(LmvizError, match=r"^Number must be"):
        Numbered.from_values({"number": given})
