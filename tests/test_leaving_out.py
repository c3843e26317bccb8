"""A quick check makes no slow case, and everything else makes all of them."""

from types import SimpleNamespace

import pytest
from leaving_out import pytest_generate_tests

SLOW = SimpleNamespace(name="slow")
OTHER = SimpleNamespace(name="other")


def left(cases, marked="not slow", arguments=("tests",), whole=None):
    """The names of those of some cases that are made; `cases` has the marks of each."""
    metafunc = SimpleNamespace(
        _calls=[SimpleNamespace(id=name, marks=marks) for name, marks in cases.items()],
        config=SimpleNamespace(option=SimpleNamespace(markexpr=marked), args=arguments),
        definition=SimpleNamespace(get_closest_marker=lambda name: whole if name == "slow" else None),
    )
    steps = pytest_generate_tests(metafunc)
    next(steps)
    with pytest.raises(StopIteration):
        steps.send(None)
    return "".join(case.id for case in metafunc._calls)


def test_slow_cases_are_made_only_where_they_may_be_wanted():
    cases = {"a": [SLOW], "b": [], "c": [OTHER], "d": [OTHER, SLOW]}
    assert left(cases) == "bc"
    assert left(cases, marked="") == left(cases, marked="slow") == "abcd"
    assert left(cases, arguments=("tests/test_x.py::test_y[d]",)) == "abcd"


def test_where_all_are_slow_one_is_left_for_pytest_to_put_aside():
    assert left({"a": [SLOW], "b": [SLOW]}) == "a"
    assert left({"a": [], "b": []}, whole=SLOW) == "a"
    assert left({}) == ""
