"""Every result shows itself by a look: as a short table in a terminal, and in a notebook."""

from __future__ import annotations

import inspect
import pkgutil
import re
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest
from results_of_all_kinds import results

import lmviz
from lmviz.looks.shown import Shown
from lmviz.showing.several import ResultList, ResultsByStep
from lmviz.showing.width import width_of

NO_RESULTS = {
    "Intervention": "a change that is asked for, and says itself in a line",
    "Path": "where something was written",
    "ProgressBar": "a bar, which draws itself while work goes on",
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
    assert not NO_RESULTS.keys() & known, "what shows itself is a result"


def test_every_kind_is_written_from_its_look():
    modules()
    shown = kinds(Shown) - {Shown}
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
def test_every_kind_of_which_a_package_says_how_it_looks_is_tried(made):
    tables = [
        module.LOOKS for module in modules() if module.__name__.count(".") == 2 and hasattr(module, "LOOKS")
    ]
    tried = {kind for result in made.values() for kind in type(result).__mro__}
    assert {kind.__name__ for table in tables for kind in table if kind not in tried} <= {"LensOverTime"}


def test_several_results_are_a_row_each():
    one = lmviz.contrast("a b", "a c")
    told = repr(ResultList([one, one]))
    assert told.startswith("2 results")
    assert told.count("Contrast") == 2
    assert "7  Contrast" in re.sub(" +", "  ", repr(ResultsByStep({7: one})))


@dataclass(frozen=True, eq=False, repr=False)
class Sampled(Shown):
    """A result of which no package says how it looks."""

    name: str
    share_kept: float
    words: tuple[str, ...]
    losses: np.ndarray
    grid: np.ndarray


def test_a_result_without_a_row_looks_as_its_fields_do():
    told = repr(Sampled("hay", 0.25, ("a", "b"), np.array([1.0, np.nan]), np.eye(2)))
    assert told.startswith("Sampled")
    for said in ("share kept", "0.25", "hay", "place  words  losses", "a           1", "–", "1.00"):
        assert said in told
