"""Values with arrays are equal where every number is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from lmviz.looks.by_value import ByValue, same
from lmviz.looks.columns import Column
from lmviz.looks.curve import PlotCurve


@dataclass(frozen=True, eq=False)
class Sized(ByValue):
    numbers: object
    mark: int = 0
    clicked: object = field(default=None, compare=False)


@pytest.mark.parametrize(
    ("first", "second", "are_equal"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([1.0]), np.array([2.0]), False),
        (np.array([1]), np.array([1.0]), False),
        (np.array([1.0]), [1.0], False),
        ((np.array([1.0]), "a"), [np.array([1.0]), "a"], True),
        ({"a": np.zeros(2)}, {"a": np.zeros(2)}, True),
        ({"a": np.zeros(2)}, {"b": np.zeros(2)}, False),
        ("ab", ["a", "b"], False),
        (None, np.zeros(1), False),
    ],
)
def test_arrays_are_compared_wherever_they_stand(first: object, second: object, are_equal: bool) -> None:
    assert same(first, second) is are_equal
    assert (Sized(first) == Sized(second)) is are_equal


def test_a_difference_is_known_field_by_field_and_what_a_click_does_has_no_say() -> None:
    first = Sized(np.zeros(3), clicked=print)
    assert first == Sized(np.zeros(3), clicked=len)
    assert first != PlotCurve("a", [], [])
    moved = Sized(np.zeros(3), mark=1)
    assert first != moved
    assert not first.differs(moved, "numbers")
    assert first.differs(moved, "numbers", "mark")


def test_columns_that_are_written_in_another_way_are_others() -> None:
    values = np.array([0.5, 0.25])
    assert Column("share", values, "{:.2f}".format) == Column("share", values.copy(), "{:.2f}".format)
    assert Column("share", values, "{:.2f}".format) != Column("share", values, "{:.0%}".format)


def test_what_was_not_measured_is_a_dash_without_a_bar_and_last_in_either_order() -> None:
    column = Column("loss", np.array([2.0, np.nan, -4.0, 0.0]), "{:.0f}".format, bar=True)
    assert column.sample == ["2", "–", "-4", "0"]
    assert column.largest == 4.0
    assert column.order().tolist() == [2, 3, 0, 1]
    assert column.order(descending=True).tolist() == [0, 3, 2, 1]
    assert Column("loss", np.array([np.nan]), bar=True).largest == 1.0
