"""Initial weights that depend only on a seed, without side effects on other random numbers.

torch draws weights from a generator shared by the whole process. A training in another thread draws its
dropout from the same one, so seeding it for a new model would change that training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

DRAWS = {
    *("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial"),
    *("rand_like", "randn_like", "randint_like"),
    *("uniform_", "normal_", "trunc_normal_", "bernoulli_", "exponential_", "random_"),
    *("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_"),
}
"""The functions of torch, its tensors and `torch.nn.init` that draw, and take a generator."""


class DrawnFrom(TorchFunctionMode):
    """Within this context, in this thread, every function of torch that draws does so from one generator."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self._generator = generator

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = dict(kwargs or {})
        if getattr(function, "__name__", "") in DRAWS and kwargs.get("generator") is None:
            kwargs["generator"] = self._generator
        return function(*args, **kwargs)
