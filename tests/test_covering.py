"""A quick check leaves out cases, and no choice that any of them makes."""

import pytest
from covering import covering, in_turn, others_slow, parametrize_few
from hypothesis import given
from hypothesis import strategies as some


def is_quick(case):
    return "slow" not in {mark.name for mark in case.marks}


@given(some.lists(some.sets(some.integers(0, 9), min_size=1), min_size=1, max_size=12))
def test_the_quick_cases_make_every_choice_and_none_of_them_in_vain(choices):
    cases = [pytest.param(number, id=str(number)) for number in range(len(choices))]
    covered = covering(cases, choices)
    assert [case.values for case in covered] == [case.values for case in cases]
    quick = [at for at, case in enumerate(covered) if is_quick(case)]
    assert set().union(*(choices[at] for at in quick)) == set().union(*choices)
    assert len(quick) <= len(set().union(*choices))


def test_each_task_meets_one_family_quickly_and_all_of_them_slowly():
    pairs = in_turn("abc", (1, 2))
    assert [pair.values for pair in pairs] == [(task, family) for task in "abc" for family in (1, 2)]
    assert [pair.values for pair in pairs if is_quick(pair)] == [("a", 1), ("b", 2), ("c", 1)]
    few = in_turn("abc", (1, 2), among="bc")
    assert [pair.values for pair in few if is_quick(pair)] == [("b", 2), ("c", 1)]


def test_all_but_the_named_cases_are_slow():
    chosen = others_slow("abc", "a", "c")
    assert [chosen[0], chosen[1].values, chosen[2]] == ["a", ("b",), "c"]
    assert not is_quick(chosen[1])
    with pytest.raises(AssertionError, match="no such case"):
        others_slow("abc", "d")


def test_of_few_cases_the_first_are_quick_and_keep_their_ids_and_marks():
    mark = parametrize_few("number, word", [(1, "a"), pytest.param(2, "b", id="two"), (3, "c")], quick=2)
    names, cases = mark.args
    assert names == "number, word"
    assert [case.values for case in cases] == [(1, "a"), (2, "b"), (3, "c")]
    assert [is_quick(case) for case in cases] == [True, True, False]
    assert cases[1].id == "two"
    pairs = parametrize_few("pair", [(1, 2), (3, 4)]).args[1]
    assert [case.values for case in pairs] == [((1, 2),), ((3, 4),)]
