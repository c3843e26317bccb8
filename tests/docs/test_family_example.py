"""The family of docs/adding-a-family.md is one like any other."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from examples import install

from lmviz import families
from lmviz.models.estimate import Estimate

INVARIANTS = Path(__file__).parents[1] / "models" / "test_invariants.py"
NAMES = re.findall(r"^def (test_\w+)", INVARIANTS.read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.fixture(scope="module")
def invariants() -> Iterator[ModuleType]:
    """The tests of all families, in a module that knows the new row."""
    with pytest.MonkeyPatch.context() as patch:
        [row] = install("adding-a-family.md", patch).values()
        family = eval(row, vars(families))
        patch.setitem(families.FAMILIES, family.name, family)
        found = importlib.util.spec_from_file_location("invariants_of_the_example", INVARIANTS)
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        yield module


@pytest.mark.parametrize("name", NAMES)
def test_what_holds_for_every_family_holds_for_the_example(invariants, name):
    test = getattr(invariants, name)
    offered = {"family": "average", "options": {}}
    wanted = inspect.signature(test).parameters
    if "model" in wanted:
        offered["model"] = invariants.trained("average", ())
    test(**{parameter: offered[parameter] for parameter in wanted})


def test_its_cost_is_known_before_it_exists(invariants):
    configuration = families.FAMILIES["average"].configuration(width=8)
    model = families.build_model("average", configuration, 7, seed=0)
    cost = configuration.estimate(7, batch=2, length=5)
    assert isinstance(cost, Estimate)
    assert cost.parameters == model.parameter_count()
