"""Which parameters of a model are no numbers."""

import pytest
import torch

from lmviz.families import FAMILIES, build_model
from lmviz.models.finite import parameters_without_numbers


def test_a_model_of_numbers_has_none():
    model = build_model("lstm", FAMILIES["lstm"].configuration(width=4), 7, seed=1)
    assert parameters_without_numbers(model) == ()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("kind", [torch.float32, torch.float16])
def test_one_cell_is_enough(number, kind):
    model = build_model("lstm", FAMILIES["lstm"].configuration(width=4), 7, seed=1).to(kind)
    with torch.no_grad():
        model.output.weight[3, 2] = number
    assert parameters_without_numbers(model) == ("output.weight",)


def test_large_numbers_are_numbers():
    model = build_model("lstm", FAMILIES["lstm"].configuration(width=4), 7, seed=1)
    with torch.no_grad():
        model.output.weight.fill_(3e38)
    assert not model.output.weight.sum().isfinite(), "their sum overflows"
    assert parameters_without_numbers(model) == ()
