"""Small models, texts and runs, so that a whole training takes a fraction of a second."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from lmviz.models.model import Model
from lmviz.models.recurrent import RecurrentModel
from lmviz.models.recurrent_configuration import LSTMConfiguration
from lmviz.models.transformer import TransformerModel
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.training.description import RunDescription
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

VOCABULARY = 7


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """What is compared bit for bit is computed by one thread, here and in other processes."""
    torch.set_num_threads(1)


@pytest.fixture
def ids() -> np.ndarray:
    """A text of 600 tokens in which each follows the last by a rule, with a little noise."""
    chance = np.random.default_rng(0)
    tokens = (np.arange(600) * 3 + (chance.random(600) < 0.1)) % VOCABULARY
    return tokens.astype(np.uint8)


@pytest.fixture
def lstm() -> Callable[..., Model]:
    """Makes a small recurrent model, always the same."""

    def make(**settings: object) -> Model:
        torch.manual_seed(0)
        return RecurrentModel(LSTMConfiguration(**{"width": 8, "layers": 1} | settings), VOCABULARY)

    return make


@pytest.fixture
def transformer() -> Callable[..., Model]:
    """Makes a small model with a limited context, always the same."""

    def make(**settings: object) -> Model:
        torch.manual_seed(0)
        small = {"width": 8, "layers": 2, "heads": 2, "context": 16}
        return TransformerModel(TransformerConfiguration(**small | settings), VOCABULARY)

    return make


@pytest.fixture
def new_run(tmp_path: Path) -> Callable[..., Run]:
    """Makes a run in a new folder for a model and options."""

    def make(model: Model, options: TrainingOptions, folder: str = "run") -> Run:
        description = RunDescription(
            name=folder,
            family=model.family,
            configuration=model.configuration.to_values(),
            vocabulary_size=model.vocabulary_size,
            training=options.to_values(),
            corpus={"name": "toy", "fingerprint": "abc"},
        )
        return Run.create(tmp_path / folder, description)

    return make
