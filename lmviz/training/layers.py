"""Which layer a parameter belongs to, and how far an update moved each layer."""

from __future__ import annotations

import math
import re

import torch
from torch.nn.utils import get_total_norm

LAYER = re.compile(r"(?:^|\.)layers\.(\d+)\.|_l(\d+)(?:_reverse)?$")
"""Where a parameter's name says its layer: those of lmviz, and those of torch's recurrent modules."""


def layer_of(parameter: str) -> str:
    """The layer that a parameter belongs to: `layers/L`, or the first word of its name."""
    found = LAYER.search(parameter)
    return f"layers/{found[1] or found[2]}" if found else parameter.partition(".")[0]


def update_ratios(model: torch.nn.Module, before: list[torch.Tensor]) -> dict[str, float]:
    """How far each layer's weights moved from `before`, relative to their norm; about 0.001 is healthy."""
    moved: dict[str, list[torch.Tensor]] = {}
    weights: dict[str, list[torch.Tensor]] = {}
    learned = ((name, item) for name, item in model.named_parameters() if item.requires_grad)
    for (name, parameter), earlier in zip(learned, before, strict=True):
        moved.setdefault(layer_of(name), []).append(parameter.detach() - earlier)
        weights.setdefault(layer_of(name), []).append(earlier)
    ratios = {layer: get_total_norm(moved[layer]) / get_total_norm(weights[layer]) for layer in moved}
    return {layer: ratio for layer, value in ratios.items() if math.isfinite(ratio := float(value))}
