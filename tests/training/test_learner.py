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


def learner_of(model: Model) -> GradientLearner:
    options = TrainingOptions(batch=2, length=8)
    return GradientLearner(
        model, np.arange(60) % 7, options, ignored_target=None, device=torch.device("cpu"), team=Team()
    )


@pytest.mark.parametrize("weight", [1e30, math.inf, math.nan])
def test_only_weights_that_are_no_finite_numbers_are_beyond_use(
    lstm: Callable[..., Model], weight: float
) -> None:
    """The square of 1e30 is beyond float32, which says nothing against the weight itself."""
    model = lstm()
    learner = learner_of(model)
    learner.check_finite()
    with torch.no_grad():
        next(model.parameters())[0] = weight
    if math.isfinite(weight):
        learner.check_finite()
    else:
        with pytest.raises(NotFinite, match="size of a weight"):
            learner.check_finite()


def test_a_gradient_without_end_of_a_loss_that_is_finite_changes_nothing(lstm: Callable[..., Model]) -> None:
    model = lstm()
    learner = learner_of(model)
    before = [item.detach().clone() for item in model.parameters()]
    hook = next(model.parameters()).register_hook(lambda gradient: gradient + math.inf)
    with pytest.raises(NotFinite, match="gradient"):
        learner.update(0.01)
    assert all(map(torch.equal, before, model.parameters()))
    hook.remove()
    assert learner.update(0.01).loss is not None
