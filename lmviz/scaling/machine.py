"""The pace of this machine: floating-point operations a second in a training step, measured."""

from __future__ import annotations

import statistics
import time
from collections.abc import Generator
from dataclasses import dataclass

from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.scaling.compute import training_compute

LONGEST = 1.5  # seconds of steps after which their pace is known
MEASURED = TransformerConfiguration(layers=2, heads=4, width=128, context=128)
VOCABULARY, BATCH, RATE = 1000, 4, 1e-3
FEWEST = 5  # steps, the first of which is not counted


@dataclass(frozen=True)
class MachinePace:
    """What was measured: tokens a second in a training of a model of so many parameters."""

    tokens_per_second: float
    parameters: int

    @property
    def operations(self) -> float:
        """Floating-point operations a second, by 6 × parameters × tokens."""
        return training_compute(self.parameters, self.tokens_per_second)


def measure_pace() -> Generator[float, None, MachinePace]:
    """Train a small Transformer on random tokens for a moment.

    Yields the fraction of the time that has passed, and returns the pace: that of the step in the middle, so
    that what disturbs some steps does not count. Neither does the first, in which memory is fetched. Adam
    (Kingma & Ba 2015) is written out: torch's optimizers first import a compiler, which takes longer than
    all of this.
    """
    import torch

    from lmviz.families import build_model

    model = build_model("transformer", MEASURED, VOCABULARY, seed=0)
    parameters = list(model.parameters())
    moments = [(torch.zeros_like(item), torch.zeros_like(item)) for item in parameters]
    generator = torch.Generator().manual_seed(0)
    shape = (BATCH, MEASURED.context + 1)
    taken: list[float] = []  # seconds of each step
    while len(taken) < FEWEST or sum(taken[1:]) < LONGEST:
        begun = time.perf_counter()
        ids = torch.randint(VOCABULARY, shape, generator=generator)  # (batch, position)
        with torch.enable_grad():
            logits = model(ids[:, :-1])  # (batch, position, token)
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for item, gradient, (mean, square) in zip(parameters, gradients, moments, strict=True):
                mean.lerp_(gradient, 0.1)
                square.mul_(0.99).addcmul_(gradient, gradient, value=0.01)
                item.addcdiv_(mean, square.sqrt().add_(1e-8), value=-RATE)
        taken.append(time.perf_counter() - begun)
        yield min(1.0, len(taken) / FEWEST, sum(taken[1:]) / LONGEST)
    seconds = statistics.median(taken[1:])
    return MachinePace(BATCH * MEASURED.context / seconds, sum(item.numel() for item in parameters))
