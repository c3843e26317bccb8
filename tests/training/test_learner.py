"""When the weights of a model that learns are beyond use."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from lmviz.models.model import Model
from lmviz.training.distributed import Team
from lmviz.training.learner import GradientLearner, NotFinite
from lmviz.training.options import TrainingOptions


@pytest.mark.parametrize("weight", [1e30, math.inf, math.nan])
def test_only_weights_that_are_no_finite_numbers_are_beyond_use(
    lstm: Callable[..., Model], weight: float
) -> None:
    """The square of 1e30 is beyond float32, which says nothing against the weight itself."""
    model = lstm()
    options = TrainingOptions(batch=2, length=8)
    learner = GradientLearner(
        model, np.arange(60) % 7, options, ignored_target=None, device=torch.device("cpu"), team=Team()
    )
    learner.check_finite()
    with torch.no_grad():
        next(model.parameters())[0] = weight
    if math.isfinite(weight):
        learner.check_finite()
    else:
        with pytest.raises(NotFinite, match="size of a weight"):
            learner.check_finite()
