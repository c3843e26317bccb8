"""Looking at a model that is being trained does not change its training."""

import numpy as np
import pytest
import torch

from lmviz.decoding.continuation import Continuation
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import distribution_after
from lmviz.families import FAMILIES, build_model
from lmviz.models.reading import evaluation, on_device
from lmviz.training.evaluation import evaluate_ids

IDS = np.array([3, 1, 4, 1, 5, 0, 2, 6])
DROPPING = [name for name, family in FAMILIES.items() if "dropout" in family.configuration.names()]


def training_model(family: str):
    kind = FAMILIES[family].configuration
    settings = {"width": 16, "dropout": 0.5, "layers": 2}
    own = {name: value for name, value in settings.items() if name in kind.names()}
    return build_model(family, kind(**own), 7, seed=0).train()


def flags(model) -> list[bool]:
    return [module.training for module in model.modules()]


@pytest.mark.parametrize("family", DROPPING)
def test_a_model_that_trains_is_read_without_dropout_and_without_being_switched(family):
    model = training_model(family)
    with evaluation(model) as reader:
        assert all(flags(model))
        assert not any(flags(reader))
        assert [id(item) for item in reader.parameters()] == [id(item) for item in model.parameters()]
        found = reader.advance(on_device(model, IDS))[0]
    assert all(flags(model))
    assert not found.requires_grad
    torch.testing.assert_close(found, model.eval()(on_device(model, IDS)).detach())


@pytest.mark.parametrize("family", DROPPING)
def test_what_is_asked_of_a_model_that_trains_is_what_it_would_say_at_rest(family):
    model = training_model(family)
    options = SamplingOptions()
    busy = distribution_after(Continuation.of(model, IDS), options).probabilities
    score = evaluate_ids(model, [IDS], None).negative_log_likelihood
    assert all(flags(model))
    model.eval()
    np.testing.assert_allclose(busy, distribution_after(Continuation.of(model, IDS), options).probabilities)
    assert score == pytest.approx(evaluate_ids(model, [IDS], None).negative_log_likelihood)


def test_the_twin_follows_the_weights_of_the_training():
    model = training_model("gru")
    with evaluation(model) as reader:
        before = reader.advance(on_device(model, IDS))[0]
        with torch.no_grad():
            model.output.bias += 1
        torch.testing.assert_close(reader.advance(on_device(model, IDS))[0], before + 1)


def test_ids_that_nobody_may_change_are_copied():
    ids = np.array([3, 1, 2])
    ids.flags.writeable = False
    tokens = on_device(training_model("rnn"), ids)
    tokens[0, 0] = 0
    assert ids.tolist() == [3, 1, 2]
    assert tokens.tolist() == [[0, 1, 2]]
