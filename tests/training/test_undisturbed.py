"""A training learns the same whatever other threads do with models meanwhile."""

import threading
from collections.abc import Callable

import numpy as np
import torch
from covering import parametrize_few

import lmviz
from lmviz.families import FAMILIES, build_model
from lmviz.models.model import Model
from lmviz.training.gradient_training import learn
from lmviz.training.options import TrainingOptions

OPTIONS = TrainingOptions(steps=40, batch=4, length=20, validate_every=0, device="cpu")


def new_model(family: str, seed: int) -> Model:
    return build_model(family, FAMILIES[family].configuration(width=32, layers=2, dropout=0.4), 7, seed)


def trained(ids: np.ndarray, meanwhile: Callable[[Model], object] | None) -> torch.Tensor:
    """The weights after a training with dropout, in another thread than what is done meanwhile."""
    model, finished = new_model("lstm", seed=1), threading.Event()

    def disturb() -> None:
        while meanwhile is not None and not finished.is_set():
            meanwhile(model)

    other = threading.Thread(target=disturb)
    other.start()
    for _ in learn(model, ids, ids[:50], OPTIONS, None, ignored_target=None):
        pass
    finished.set()
    other.join()
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


@parametrize_few(
    "meanwhile",
    [lambda model: new_model("gru", seed=9), lambda model: lmviz.trace(model, [1, 2, 3])],
    ids=["models are built", "its model is traced"],
)
def test_a_training_with_dropout_is_the_same_while_others_work(
    ids: np.ndarray, meanwhile: Callable[[Model], object]
) -> None:
    assert torch.equal(trained(ids, meanwhile), trained(ids, None))


def test_looking_into_a_model_draws_nothing_from_what_a_training_draws_from() -> None:
    before = torch.get_rng_state()
    model = lmviz.open_model("stories-lstm")
    lmviz.trace(model, "the dog said")
    lmviz.next_token(model, "the dog")
    list(lmviz.sample(model, "the dog", 3, seed=1))
    assert torch.equal(torch.get_rng_state(), before)
