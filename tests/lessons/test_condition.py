"""Conditions, as values."""

import pytest

from lmviz.base.faults import LineFault
from lmviz.lessons.condition import parse_condition
from lmviz.lessons.faults import NotKnown

KNOWN = {
    "model": "stories-5-gram",
    "step": 200.0,
    "prefix": "cows  eat",
    "pinned": 1.0,
    "stage": "layer 1 attention",
    "j": 0.3251,
}


def look_up(name, arguments):
    if name not in KNOWN:
        raise NotKnown(f"There is no {name}.")
    return KNOWN[name]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("model is stories-5-gram", True),
        ('model is "Stories-5-gram"', True),
        ("model is stories-lstm", False),
        ("model is not stories-lstm", True),
        ("model is not stories-5-gram", False),
        ("prefix is cows eat", True),
        ("stage contains attention", True),
        ("stage contains output", False),
        ("step >= 200", True),
        ("step ≥ 201", False),
        ("step > 199 + 0.5", True),
        ("step < 200", False),
        ("step <= 200", True),
        ("step = 200", True),
        ("step ≠ 200", False),
        ("step != 5", True),
        ("j = 0.325", False),
        ("j = 0.325 ± 0.001", True),
        ("step is 200", True),
        ("pinned", True),
        ("not pinned", False),
        ("nothing >= 0", False),
        ("not nothing", False),
        ("model >= 1", False),
    ],
)
def test_a_condition_holds_where_what_it_says_is_so(text: str, holds: bool) -> None:
    assert parse_condition(text).holds(look_up) is holds


def test_a_change_is_measured_from_a_state() -> None:
    condition = parse_condition("prefix changes")
    assert condition.text == "prefix changes"
    assert condition.state(look_up) == "cows  eat"
    assert not condition.holds(look_up, "cows  eat")
    assert condition.holds(look_up, "cows")
    assert not condition.holds(look_up, None), "nothing is known of before"


def test_words_in_quotation_marks_belong_to_the_value() -> None:
    condition = parse_condition('control("is = contains") is x')
    assert condition.relation == "is"
    assert condition.words == "x"


@pytest.mark.parametrize("text", ["model is ", "step >=", "step = 1 ± x", "= 4", "step ++", "changes"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    if text == "changes":
        assert parse_condition(text).relation == "holds", "it is the value of that name"
        return
    with pytest.raises(LineFault):
        parse_condition(text)
