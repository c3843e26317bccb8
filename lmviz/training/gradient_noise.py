"""How noisy a gradient is: the norm of the mean over a batch, beside those of single examples.

The gradient of one example is that of the whole text, G, plus what is special about the example. In the mean
over B of them the latter shrinks with 1/√B, so the expected square of the norm is |G|² + S/B, S being the
variance of single gradients, summed over the parameters. Where S/B equals |G|² lies the *simple noise scale*:
larger batches save few steps (McCandlish, Kaplan, Amodei et al. 2018, "An Empirical Model of Large-Batch
Training", section 2.2 and appendix A.1, whose unbiased estimates of |G|² and S are used here).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.models.float64 import in_float64
from lmviz.models.model import Model
from lmviz.text.examples import Examples
from lmviz.training.batches import Batch
from lmviz.training.batching import batches_of
from lmviz.training.distributed import Team
from lmviz.training.options import TrainingOptions

EXAMPLES = 256
"""Single gradients that are taken, unless it is said how many."""

LARGEST_BATCH = 64

MOST_PARAMETERS = 25_000_000
"""Of larger models the gradients that have to be kept would take more than a gigabyte."""


@dataclass(frozen=True, eq=False)
class GradientNoise:
    """Norms of mean gradients by the size of the batch.

    `sizes` (size,) are powers of two from 1 on, and `norms` (size,) the root mean square of the norms over
    disjoint batches of that size. `signal` estimates |G|², `variance` S, both without bias; as an estimate
    the signal may be negative. `examples` is how many single gradients there were.
    """

    sizes: np.ndarray
    norms: np.ndarray
    signal: float
    variance: float
    examples: int

    @property
    def noise_scale(self) -> float:
        """The batch size at which noise and signal are equally large; infinite where there is no signal."""
        return self.variance / self.signal if self.signal > 0 else float("inf")

    def expected(self, sizes: np.ndarray) -> np.ndarray:
        """The norm that is expected at batch sizes (size,): √(|G|² + S/B)."""
        return np.sqrt(np.maximum(0.0, self.signal) + self.variance / sizes)

    def of_noise_alone(self, sizes: np.ndarray) -> np.ndarray:
        """What the norms would be if there were nothing but noise: the first one over √B."""
        return np.asarray(self.norms[0] / np.sqrt(sizes))


def gradient_noise(
    model: Model,
    training: np.ndarray | Examples,
    options: TrainingOptions,
    *,
    ignored_target: int | None,
    examples: int = EXAMPLES,
) -> Iterator[tuple[float, GradientNoise]]:
    """Take single gradients of a model, without dropout; yields the fraction done and what is known so far.

    `training` and `ignored_target` are those of `gradient_training.learn`, and so is what an example is: an
    excerpt of the text, a sentence, or an example of a task. Each counts alike. `examples` is rounded down to
    a power of two. LmvizError where the model has nothing to differentiate, or too much.
    """
    learned = list(model.parameters())
    if not learned:
        raise LmvizError("This model is counted, so it has no gradient: choose one that learns by gradients.")
    if sum(item.numel() for item in learned) > MOST_PARAMETERS:
        raise LmvizError("This model is too large for its gradients to be kept: choose a smaller one.")
    sampling = "random" if options.sampling == "streams" else options.sampling
    single = replace(options, batch=1, sampling=sampling)
    batches = batches_of(model, training, single, ignored_target=ignored_target, team=Team())
    means = _MeansByPairs(max(1, examples).bit_length())
    count = 1 << max(1, examples).bit_length() - 1
    with differentiable(model):
        for step in range(count):
            means.add(single_gradient(model, learned, batches.batch(step), options.label_smoothing))
            yield (step + 1) / count, means.found()


@contextmanager
def differentiable(model: Model) -> Iterator[None]:
    """Its parameters take gradients, and it drops nothing out; afterwards both are as they were."""
    took, trained = [item.requires_grad for item in model.parameters()], model.training
    model.eval().requires_grad_(True)
    try:
        yield
    finally:
        model.train(trained)
        for item, flag in zip(model.parameters(), took, strict=True):
            item.requires_grad_(flag)


def single_gradient(
    model: Model, learned: list[torch.nn.Parameter], batch: Batch, smoothing: float = 0.0
) -> torch.Tensor:
    """The gradient of the loss on a batch, all parameters one after the other: (number,)."""
    device = learned[0].device
    beside: dict[str, Any] = {
        name: torch.from_numpy(array).to(device) for name, array in batch.beside.items()
    }
    with torch.enable_grad():
        loss, _ = model.loss(
            torch.from_numpy(batch.tokens).to(device),
            torch.from_numpy(batch.targets).to(device),
            **beside,
            smoothing=smoothing,
        )
        gradients = torch.autograd.grad(loss, learned, allow_unused=True)
    return torch.cat(
        [
            (torch.zeros_like(item) if gradient is None else gradient).flatten()
            for item, gradient in zip(learned, gradients, strict=True)
        ]
    )


class _MeansByPairs:
    """Sums of 1, 2, 4, … gradients, made of two of the size below as soon as there are two."""

    def __init__(self, levels: int) -> None:
        self._waiting: list[torch.Tensor | None] = [None] * levels
        self._squares = np.zeros(levels)
        self._counts = np.zeros(levels, dtype=np.int64)

    def add(self, gradient: torch.Tensor) -> None:
        """One more single gradient."""
        total = gradient
        for level in range(len(self._waiting)):
            self._squares[level] += float(in_float64(total).square().sum()) / 4**level
            self._counts[level] += 1
            first = self._waiting[level]
            if first is None:
                self._waiting[level] = total
                return
            self._waiting[level] = None
            total = first + total

    def found(self) -> GradientNoise:
        """What is known so far."""
        known = self._counts > 0
        sizes = 2 ** np.flatnonzero(known)
        squares = self._squares[known] / self._counts[known]
        largest = int(sizes[-1])
        signal = (largest * squares[-1] - squares[0]) / (largest - 1) if largest > 1 else 0.0
        variance = (squares[0] - squares[-1]) / (1 - 1 / largest) if largest > 1 else float(squares[0])
        drawn = sizes <= LARGEST_BATCH
        return GradientNoise(
            sizes[drawn], np.sqrt(squares[drawn]), float(signal), float(variance), int(self._counts[0])
        )
