"""Trainings of forty steps, and what two of them have in common."""

from collections.abc import Callable

import numpy as np
import torch

from lmviz.models.model import Model
from lmviz.training.gradient_training import learn
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

Make = Callable[..., Model]
NewRun = Callable[..., Run]
SMALL = {"steps": 40, "batch": 4, "length": 8, "learning_rate": 0.03, "validate_every": 15, "snapshots": 8}


def start(model: Model, ids: np.ndarray, options: TrainingOptions, run: Run, **rest: object):
    return learn(model, ids[:500], ids[500:], options, run, ignored_target=None, **rest)


def assert_equal_states(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
