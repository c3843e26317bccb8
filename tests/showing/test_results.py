"""Every result shows itself by a look: as a short table in a terminal, and in a notebook."""

from __future__ import annotations

import inspect
import pkgutil
import re
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from results_of_all_kinds import results

import lmviz
from lmviz.looks.shown import Shown
from lmviz.showing.several import ResultList, ResultsByStep
from lmviz.showing.width import width_of

NO_RESULTS = {
    "Intervention": "a change that is asked for, and says itself in a line",
    "Path": "where something was written",
    "WordSum": "a measure that is asked for",
    "Divergence": "a measure that is asked for",
}
"""What public functions return that is no result."""

LONGEST, TALLEST = 100, 60
"""The columns of a terminal's table, and its lines: a title and some tables of ten rows each."""


def modules() -> list[ModuleType]:
    """All modules below the window."""
    found = pkgutil.walk_packages(lmviz.__path__, "lmviz.")
    names = [each.name for each in found if not each.name.startswith(("lmviz.app", "lmviz.__main__"))]
    return [import_module(name) for name in names if "callback" not in name]


def kinds(of: type) -> set[type]:
    """A class and all that derive from it, below the window."""
    found = {of}
    for each in of.__subclasses__():
        if each.__module__.startswith("lmviz.") and not each.__module__.startswith("lmviz.app"):
            found |= kinds(each)
    return found


def test_what_public_functions_return_shows_itself():
    modules()
    known = {kind.__name__ for kind in kinds(Shown)}
    strangers = {}
    for name in (name for name in lmviz.__all__ if not name.endswith("Callback")):
        value = getattr(lmviz, name)
        if inspect.isfunction(value):
            said = set(re.findall(r"\b[A-Z]\w+", str(inspect.signature(value).return_annotation)))
            if said - known - NO_RESULTS.keys():
                strangers[name] = said
        elif isinstance(value, type) and issubclass(value, Shown | Exception):
            continue
        elif name not in NO_RESULTS:
            strangers[name] = {name}
    assert strangers == {}


def test_every_kind_is_in_a_table_and_is_written_from_it():
    tables: dict[type, Any] = {}
    for module in modules():
        if module.__name__.endswith(".looks") and module.__name__.count(".") == 2:
            tables |= module.LOOKS
    shown = kinds(Shown) - {Shown}
    without = {kind.__name__ for kind in shown if not set(kind.__mro__) & tables.keys()}
    assert without == set()
    others = {kind.__name__ for kind in shown if kind.__repr__ is not Shown.__repr__}
    others |= {kind.__name__ for kind in shown if kind.__str__ is not object.__str__}
    assert others == set(), "a dataclass that is shown needs repr=False"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return results(tmp_path_factory.mktemp("results"))


@pytest.mark.slow
def test_a_result_of_every_kind_is_a_short_table(made, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(LONGEST))
    wrong = {}
    for name, result in made.items():
        told = str(result)
        lines = told.splitlines()
        too_long = [line for line in lines if width_of(line) > LONGEST]
        if too_long or len(lines) > TALLEST or re.search(r"array\(|dtype|<\w+ object|\bnan\b", told):
            wrong[name] = told
        assert repr(result) == told, name
        assert lines[0].strip(), name
    assert wrong == {}


@pytest.mark.slow
def test_every_kind_is_among_those_that_are_tried(made):
    tried = {type(result) for result in made.values()}
    inner = {"Shown", "ReplacedArithmetic", "StrengthCurve"}
    missing = {
        kind.__name__
        for kind in kinds(Shown)
        if not any(issubclass(one, kind) for one in tried) and kind.__name__ not in inner
    }
    assert missing <= {kind.__name__ for kind in kinds(lmviz.models.model.Model)} | {
        kind.__name__ for kind in kinds(lmviz.Run)
    }


def test_several_results_are_a_row_each():
    one = lmviz.contrast("a b", "a c")
    told = repr(ResultList([one, one]))
    assert told.startswith("2 results")
    assert told.count("Contrast") == 2
    assert "7  Contrast" in re.sub(" +", "  ", repr(ResultsByStep({7: one})))
