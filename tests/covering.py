"""Which of many cases a quick check takes: each choice once, and not each beside every other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import pytest

from lmviz.families import FAMILIES


def covering(cases: Sequence, choices: Sequence[set[Hashable]]) -> list:
    """The cases as parameters, all but a few of them slow; `choices` are those that each case makes.

    The few make every choice that any case makes. They are found greedily: always the case that makes most
    of the choices that are missing, of several the first.
    """
    missing, quick = set().union(*choices), set()
    while missing:
        best = max(range(len(cases)), key=lambda at: (len(choices[at] & missing), -at))
        quick.add(best)
        missing -= choices[best]
    return [
        case if at in quick else pytest.param(*case.values, id=case.id, marks=pytest.mark.slow)
        for at, case in enumerate(cases)
    ]


def others_slow(cases: Iterable, *quick: object) -> list:
    """The cases, all slow but those that are named."""
    cases = list(cases)
    assert all(case in cases for case in quick), f"no such case: {quick}"
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in cases]


def in_turn(firsts: Iterable, seconds: Sequence, among: Sequence | None = None) -> list:
    """Every pair, all slow but those where each first meets one of the seconds, which take turns.

    Firsts that are not `among` those that are named, where some are, are slow with all of the seconds.
    """
    firsts = list(firsts)
    assert all(first in firsts for first in among or ()), f"no such first: {among}"
    return [
        pytest.param(
            first,
            second,
            marks=() if at % len(seconds) == turn and (among is None or first in among) else pytest.mark.slow,
        )
        for at, first in enumerate(firsts)
        for turn, second in enumerate(seconds)
    ]


def walk_through(*few: str) -> pytest.MarkDecorator:
    """Has `perspectives` be the names of a few, and at night of all."""
    from lmviz.app.panels.table import shown_perspectives

    every = tuple(row.name for row in shown_perspectives())
    assert set(few) <= set(every), f"no such perspective: {few}"
    return pytest.mark.parametrize("perspectives", others_slow([few, every], few), ids=len)


def in_families(*quick: str) -> pytest.MarkDecorator:
    """Has the fixture `run` be of every family; those that are not `quick` are slow.

    Where many tests of a file go through all families, each takes some of them: together they take each
    family several times.
    """
    return pytest.mark.parametrize("run", others_slow(FAMILIES, *quick), indirect=True, scope="module")


def parametrize_few(
    names: str | Sequence[str], cases: Iterable, quick: int = 1, **settings: Any
) -> pytest.MarkDecorator:
    """As `pytest.mark.parametrize`, where one of the cases shows the rule: those behind the first are slow.

    `quick` is how many are not.
    """
    several = not isinstance(names, str) or "," in names
    given = []
    for at, case in enumerate(cases):
        known = isinstance(case, type(pytest.param()))
        values = case.values if known else case if several else (case,)
        marks = [*(case.marks if known else ()), *([pytest.mark.slow] if at >= quick else ())]
        given.append(pytest.param(*values, id=case.id if known else None, marks=marks))
    return pytest.mark.parametrize(names, given, **settings)
