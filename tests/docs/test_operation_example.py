"""The operations of docs/adding-an-operation.md, each in a family that is made of little else."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
import torch
from around_operation import family_around
from every_invariant import NAMES, check_invariant
from examples import install
from family_cases import IDS, trained

from lmviz.base.errors import LmvizError
from lmviz.inspection.equations import one_line
from lmviz.inspection.explain import explain
from lmviz.inspection.tracing import trace
from lmviz.models.arithmetic import RULES
from lmviz.models.tap import Weight

EPSILON = 1e-6


def scale_norm(vectors, parameters):
    return parameters["gain"] * vectors / (vectors.norm(dim=-1, keepdim=True) ** 2 + EPSILON) ** 0.5


@pytest.fixture(scope="module")
def family() -> Iterator[str]:
    """A family that uses ScaleNorm."""
    with pytest.MonkeyPatch.context() as patch:
        rows = install("adding-an-operation.md", patch)
        rule = sys.modules["lmviz.models.arithmetic.rules.scale_norm"].SCALE_NORM
        row = rows["lmviz/models/arithmetic/rules/table.py"]
        for name, value in eval(f"{{{row}}}", {"SCALE_NORM": rule}).items():
            patch.setitem(RULES, name, value)
        from lmviz.models.operations.scale_norm import ScaleNorm

        operation = ScaleNorm("embedding", Weight("own.gain"), EPSILON)
        with family_around(operation, scale_norm, {"gain": torch.ones(1)}) as made:
            yield made


@pytest.mark.parametrize("name", NAMES)
def test_what_holds_for_every_family_holds_with_the_operation(name, family):
    check_invariant(name, family)


def test_it_is_written_with_its_root(family):
    model = trained(family, ())
    written = one_line(explain(model, trace(model, IDS), "operation", (2, 1)))
    assert written.count("√") == 1
    assert written.count("=") == 1


def test_without_its_rule_it_shows_nothing_rather_than_a_sum(monkeypatch, family):
    model = trained(family, ())
    found = trace(model, IDS)
    monkeypatch.delitem(RULES, "scale norm")
    with pytest.raises(LmvizError, match="no rule 'scale norm'"):
        explain(model, found, "operation", (2, 1))
