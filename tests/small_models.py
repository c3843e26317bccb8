"""How a model of any family is made small; a family whose sizes have other names adds them here."""

from __future__ import annotations

import torch

from lmviz.families import FAMILIES, build_model
from lmviz.models.model import Model

SMALL = {"layers": 2, "heads": 2, "width": 8, "context": 16, "window": 3, "order": 3}


def small_settings(family: str) -> dict[str, int]:
    """Those of the small settings that a family has."""
    names = FAMILIES[family].configuration.names()
    return {name: value for name, value in SMALL.items() if name in names}


def shaken(family: str, **settings: object) -> Model:
    """One of two layers in float64, with weights larger than at the beginning: nothing is nearly linear."""
    torch.manual_seed(3)
    given = small_settings(family) | settings
    model = build_model(family, FAMILIES[family].configuration(**given), 7, 0).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return model.eval()
