"""The family of docs/adding-a-family.md is one like any other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from every_invariant import NAMES, check_invariant
from examples import install
from family_cases import IDS, trained

from lmviz import families
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.stream import residual_norms
from lmviz.inspection.tracing import trace
from lmviz.models.estimate import Estimate


@pytest.fixture(scope="module", autouse=True)
def _example() -> Iterator[None]:
    """FAMILIES has the new row."""
    with pytest.MonkeyPatch.context() as patch:
        row = install("adding-a-family.md", patch)["lmviz/families.py"]
        family = eval(row, vars(families))
        patch.setitem(families.FAMILIES, family.name, family)
        yield


@pytest.mark.parametrize("name", NAMES)
def test_what_holds_for_every_family_holds_for_the_example(name):
    check_invariant(name, "average")


def test_its_cost_is_known_before_it_exists():
    configuration = families.FAMILIES["average"].configuration(width=8)
    model = families.build_model("average", configuration, 7, seed=0)
    cost = configuration.estimate(7, batch=2, length=5)
    assert isinstance(cost, Estimate)
    assert cost.parameters == model.parameter_count()


def test_its_average_is_a_place_of_the_logit_lens():
    model = trained("average", ())
    found = trace(model, IDS)
    lens = logit_lens(model, found, count=3)
    assert lens.places == ("average",)
    expected = np.sort(found["probabilities"].array, axis=-1)[:, ::-1][:, :3]
    np.testing.assert_allclose(lens.probabilities[0], expected, atol=1e-6)
    places, norms = residual_norms(found)
    assert places == ("average",)
    np.testing.assert_allclose(norms[0], np.linalg.norm(found["average"].array, axis=-1))
