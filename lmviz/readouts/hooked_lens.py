"""Jacobian lenses in the file that TransformerLens and the authors of the method write (`torch.save`).

`J` maps a layer's number to its matrix (channel of the end, channel); layer 0 is what the first block leaves.
They are read as published, without a mean. Nothing in the file is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from lmviz.base.arguments import named_file
from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.interchange.stored_tensors import read_saved
from lmviz.readouts.fitted_lens import FittedLens


@loads("lens")
def read_hooked_lens(path: str | Path, places: Sequence[str]) -> FittedLens:
    """The lens in such a file, for a model with these places: the embedding first, then one a layer."""
    saved = read_saved(named_file(path))
    matrices = saved.get("J")
    if not isinstance(matrices, dict) or not matrices:
        raise LmvizError(f"{path} holds no Jacobians under 'J': choose a lens that JacobianLens.save wrote.")
    maps: dict[str, np.ndarray] = {}
    for layer, matrix in matrices.items():
        if not isinstance(layer, int) or not 0 <= layer < len(places) - 2:
            raise LmvizError(
                f"{path} has a Jacobian of layer {layer!r}, and the model has {len(places) - 1} layers: open "
                "the lens of this model."
            )
        if not isinstance(matrix, torch.Tensor) or matrix.dim() != 2 or not matrix.isfinite().all():
            raise LmvizError(f"{path} has no matrix of numbers for layer {layer}: choose another lens.")
        maps[places[layer + 1]] = matrix.float().numpy()
    passages = saved.get("n_prompts")
    return FittedLens(
        kind="jacobian",
        places=(*(place for place in places if place in maps), places[-1]),
        maps=maps,
        means={},
        passages=passages if isinstance(passages, int) else None,
        tokens=None,
        centred=False,
        scope="later",
    )
