"""Running a model in order to look at it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

    from lmviz.models.model import Model


@contextmanager
def evaluation(model: Model) -> Iterator[None]:
    """Without gradients and without dropout; the model is left as it was."""
    import torch

    training = model.training
    if training:
        model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        if training:
            model.train()


def on_device(model: Model, ids: np.ndarray) -> torch.Tensor:
    """Token ids, (position,) or (batch, position), as a batch (batch, position) where the model computes."""
    import torch

    tokens = torch.from_numpy(np.atleast_2d(ids))
    parameter = next(model.parameters(), None)
    return tokens if parameter is None else tokens.to(parameter.device)
