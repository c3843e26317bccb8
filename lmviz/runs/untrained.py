"""The network that a model was before its training: its first snapshot, or one of the same shape."""

from __future__ import annotations

from lmviz.families import FAMILIES, build_model
from lmviz.models.model import Model
from lmviz.runs.opening import open_model_of
from lmviz.training.run import Run


def untrained_of(run: Run | None, model: Model, seed: int = 0) -> Model | None:
    """The snapshot of step 0 of a run, or a network of the same shape with initial weights by a seed.

    None for a family that counts, which has nothing to begin with.
    """
    if FAMILIES[model.family].counts:
        return None
    if run is not None and run.has_steps and 0 in run.snapshots():
        return open_model_of(run, 0)
    return build_model(model.family, model.configuration, model.vocabulary_size, seed % 2**63, model.predicts)
