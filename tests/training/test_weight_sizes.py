"""The size of the weights, layer by layer."""

import math

import torch

from lmviz.families import FAMILIES, build_model
from lmviz.training.layers import layer_of
from lmviz.training.weight_sizes import weight_sizes


def test_each_layer_has_the_root_mean_square_of_all_its_parameters():
    model = build_model("lstm", FAMILIES["lstm"].configuration(width=8, layers=2), 11, seed=0)
    sizes = weight_sizes(model)
    assert set(sizes) == {layer_of(name) for name, _ in model.named_parameters()}
    of_first = [p.detach().flatten() for n, p in model.named_parameters() if layer_of(n) == "layers/0"]
    expected = torch.cat(of_first).double().square().mean().sqrt()
    assert math.isclose(sizes["layers/0"], float(expected), rel_tol=1e-6)


def test_what_has_no_parameters_has_no_sizes():
    assert weight_sizes(torch.nn.Identity()) == {}
