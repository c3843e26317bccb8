"""The pace of this machine: floating-point operations a second in a training step, measured."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.scaling.compute import training_compute

LONGEST = 1.5  # seconds of steps after which their pace is known
MEASURED = TransformerConfiguration(layers=4, heads=4, width=128, context=128)
VOCABULARY, BATCH = 2000, 8


@dataclass(frozen=True)
class Pace:
    """What was measured: tokens a second in a training of a model of so many parameters."""

    tokens_per_second: float
    parameters: int

    @property
    def operations(self) -> float:
        """Floating-point operations a second, by 6 × parameters × tokens."""
        return training_compute(self.parameters, self.tokens_per_second)


def measured_pace() -> Iterator[float | Pace]:
    """Train a small Transformer on random tokens for a moment.

    Yields the fraction of the time that has passed, and at the end the pace. The first step, in which memory
    is fetched, is not counted.
    """
    import torch

    from lmviz.families import build_model

    model = build_model("transformer", MEASURED, VOCABULARY, seed=0)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    optimizer = torch.optim.AdamW(model.parameters())
    generator = torch.Generator().manual_seed(0)
    shape = (BATCH, MEASURED.context + 1)
    begun, steps = 0.0, -1
    while steps < 1 or time.perf_counter() - begun < LONGEST:
        ids = torch.randint(VOCABULARY, shape, generator=generator)  # (batch, position)
        with torch.enable_grad():
            logits = model(ids[:, :-1])  # (batch, position, token)
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        steps += 1
        if steps == 0:
            begun = time.perf_counter()
        yield min(1.0, (time.perf_counter() - begun) / LONGEST)
    seconds = time.perf_counter() - begun
    yield Pace(steps * BATCH * MEASURED.context / seconds, parameters)
