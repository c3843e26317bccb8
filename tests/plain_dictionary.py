"""A plain PyTorch loop that learns a TopK autoencoder, written apart from lmviz, by the same recipe."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn


class PlainAutoencoder(nn.Module):
    """Gao et al. 2024: a = TopK(E (x − c) + b), and x is about D a + c, with directions of length 1."""

    def __init__(self, width: int, size: int, k: int) -> None:
        super().__init__()
        self.k = k
        self.decoder = nn.Linear(size, width)
        self.encoder = nn.Linear(width, size)
        with torch.no_grad():
            directions = torch.nn.functional.normalize(torch.randn(size, width), dim=1)
            self.decoder.weight.copy_(directions.T)
            self.encoder.weight.copy_(directions)
            self.encoder.bias.zero_()
            self.decoder.bias.zero_()

    def forward(self, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """(state, channel) the reconstruction, (state, feature) the scores and the activations."""
        scores = self.encoder(states - self.decoder.bias)
        values, places = scores.topk(self.k, dim=-1)
        activations = torch.zeros_like(scores).scatter(-1, places, values.relu())
        return self.decoder(activations), scores, activations


def plain_loop(
    batch: Callable[[], torch.Tensor],
    mean: torch.Tensor,
    scale: float,
    *,
    size: int,
    k: int,
    steps: int,
    rate: float,
    dead_after: int,
) -> Callable[[torch.Tensor], float]:
    """Learns on batches; what is given says which share of the variance of states is explained."""
    model = PlainAutoencoder(len(mean), size, k)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    rising, falling = max(1, steps // 10), max(1, steps // 3)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / rising) * min(1, (steps - step) / falling)
    )
    unused = torch.zeros(size)
    for _ in range(steps):
        states = (batch() - mean) / scale
        found, scores, activations = model(states)
        left = states - found
        loss = left.pow(2).mean()
        dead = unused >= dead_after
        if dead.any():
            values, places = scores.masked_fill(~dead, -torch.inf).topk(min(32, int(dead.sum())), dim=-1)
            revived = torch.zeros_like(scores).scatter(-1, places, values.relu()) @ model.decoder.weight.T
            loss = loss + (left.detach() - revived).pow(2).mean() / left.detach().pow(2).mean() / 32
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            model.decoder.weight.div_(model.decoder.weight.norm(dim=0))
            unused = torch.where((activations > 0).any(0), 0, unused + len(states))

    def explained(states: torch.Tensor) -> float:
        with torch.no_grad():
            scaled = (states - mean) / scale
            return 1 - float(
                (scaled - model(scaled)[0]).pow(2).sum() / (scaled - scaled.mean(0)).pow(2).sum()
            )

    return explained
