"""Two small models of one shape that differ, for any family."""

import copy

import torch
from family_cases import trained

from lmviz.differences.pair import paired


def other_of(model, size=0.2, names=None):
    """The same model with every weight moved a little, or those of some names."""
    other = copy.deepcopy(model)
    chance = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, parameter in other.named_parameters():
            if names is None or name in names:
                parameter += size * torch.randn(parameter.shape, generator=chance)
    return other.eval().requires_grad_(False)


def two_of(family, options=()):
    """A pair of a family, its second model moved away from the first."""
    model = trained(family, options)
    return paired(model, other_of(model))
