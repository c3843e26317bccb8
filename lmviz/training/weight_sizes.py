"""How large the weights of each layer are, of a model that nobody trains just now."""

from __future__ import annotations

import torch

from lmviz.models.float64 import in_float64
from lmviz.training.layers import layer_of


def weight_sizes(model: torch.nn.Module) -> dict[str, float]:
    """The root mean square of each layer's parameters, by layer as in `update_ratios`; empty without any."""
    squares: dict[str, float] = {}
    counts: dict[str, int] = {}
    for name, parameter in model.named_parameters():
        layer = layer_of(name)
        size = float(in_float64(parameter.detach()).square().sum())
        squares[layer] = squares.get(layer, 0.0) + size
        counts[layer] = counts.get(layer, 0) + parameter.numel()
    return {layer: (square / max(1, counts[layer])) ** 0.5 for layer, square in squares.items()}
