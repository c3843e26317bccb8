"""The parameter names and shapes of a model, without allocating its weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

INITIALISERS = "torch.nn.init"


@contextmanager
def without_numbers() -> Iterator[None]:
    """What is built here has shapes and no values, and takes no memory."""
    with torch.device("meta"), _LeftAsTheyAre():
        yield


class _LeftAsTheyAre(TorchFunctionMode):
    """Weights are not given first values: on the meta device torch would import its compiler for that."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(function, "__module__", "") == INITIALISERS:
            return args[0] if args else kwargs["tensor"]
        return function(*args, **kwargs)
