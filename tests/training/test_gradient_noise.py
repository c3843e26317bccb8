"""How noisy gradients are: means of single ones, and the estimates of signal and noise made from them."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.models.model import Model
from lmviz.training.batching import batches_of
from lmviz.training.distributed import Team
from lmviz.training.gradient_noise import GradientNoise, gradient_noise, single_gradient
from lmviz.training.options import TrainingOptions

OPTIONS = TrainingOptions(batch=8, length=8)


def measured(
    model: Model, ids: np.ndarray, examples: int, options: TrainingOptions = OPTIONS
) -> GradientNoise:
    *_, (share, found) = gradient_noise(model, ids, options, ignored_target=None, examples=examples)
    assert share == 1
    return found


def singles(model: Model, ids: np.ndarray, count: int) -> np.ndarray:
    """The same single gradients, (example, number)."""
    one = TrainingOptions(**{**OPTIONS.to_values(), "batch": 1})
    batches = batches_of(model, ids, one, ignored_target=None, team=Team())
    learned = list(model.parameters())
    return np.stack(
        [single_gradient(model, learned, batches.batch(step)).double().numpy() for step in range(count)]
    )


def test_norms_are_those_of_means_over_disjoint_batches(ids: np.ndarray, lstm: Callable[..., Model]) -> None:
    model = lstm()
    found, each = measured(model, ids, 32), singles(model, ids, 32)
    assert found.sizes.tolist() == [1, 2, 4, 8, 16, 32]
    for size, norm in zip(found.sizes, found.norms, strict=True):
        means = each.reshape(-1, size, each.shape[1]).mean(1)
        assert norm == pytest.approx(np.sqrt((means**2).sum(1).mean()), rel=1e-5)


def test_signal_and_noise_are_the_unbiased_estimates(ids: np.ndarray, lstm: Callable[..., Model]) -> None:
    model = lstm()
    found, each = measured(model, ids, 64), singles(model, ids, 64)
    variance = each.var(0, ddof=1).sum()
    assert found.variance == pytest.approx(variance, rel=1e-4)
    assert found.signal == pytest.approx((each.mean(0) ** 2).sum() - variance / 64, rel=1e-4)
    assert found.noise_scale == pytest.approx(found.variance / found.signal)
    np.testing.assert_allclose(found.expected(np.array([1, 64]))[0], found.norms[0], rtol=1e-4)
    assert found.of_noise_alone(np.array([4]))[0] == pytest.approx(found.norms[0] / 2)


def test_a_batch_has_the_mean_of_its_single_gradients(ids: np.ndarray, lstm: Callable[..., Model]) -> None:
    model = lstm()
    batches = batches_of(model, ids, OPTIONS, ignored_target=None, team=Team())
    batch, learned = batches.batch(3), list(model.parameters())
    whole = single_gradient(model, learned, batch)
    rows = [
        type(batch)(batch.tokens[row : row + 1], batch.targets[row : row + 1], 1.0, True) for row in range(8)
    ]
    mean = torch.stack([single_gradient(model, learned, row) for row in rows]).mean(0)
    torch.testing.assert_close(mean, whole, rtol=1e-4, atol=1e-7)


def test_dropout_adds_nothing_and_no_gradient_is_left_behind(ids: np.ndarray) -> None:
    model = build_model("transformer", FAMILIES["transformer"].configuration(width=8, dropout=0.5), 7, 0)
    first, again = measured(model, ids, 8), measured(model, ids, 8)
    np.testing.assert_array_equal(first.norms, again.norms)
    assert all(item.grad is None for item in model.parameters())
    assert model.training


def test_a_model_that_was_opened_to_be_read_can_be_measured(
    ids: np.ndarray, lstm: Callable[..., Model]
) -> None:
    opened = lstm().requires_grad_(False).eval()
    np.testing.assert_array_equal(measured(opened, ids, 4).norms, measured(lstm(), ids, 4).norms)
    assert not any(item.requires_grad for item in opened.parameters())


def test_streams_are_measured_as_excerpts(ids: np.ndarray, lstm: Callable[..., Model]) -> None:
    options = TrainingOptions(**{**OPTIONS.to_values(), "sampling": "streams"})
    np.testing.assert_array_equal(measured(lstm(), ids, 4, options).norms, measured(lstm(), ids, 4).norms)


def test_whole_sentences_are_measured_as_sentences(ids: np.ndarray, lstm: Callable[..., Model]) -> None:
    options = TrainingOptions(**{**OPTIONS.to_values(), "sampling": "sentences", "batch": 1})
    model = lstm()
    *_, (_, found) = gradient_noise(model, ids, options, ignored_target=2, examples=4)
    batches, learned = (
        batches_of(model, ids, options, ignored_target=2, team=Team()),
        list(model.parameters()),
    )
    norms = [single_gradient(model, learned, batches.batch(step)).double().norm() for step in range(4)]
    assert found.norms[0] == pytest.approx(np.sqrt(np.mean(np.square(norms))), rel=1e-5)


def test_what_is_counted_has_no_gradient(ids: np.ndarray) -> None:
    model = build_model("ngram", FAMILIES["ngram"].configuration(order=2), 7, 0)
    with pytest.raises(LmvizError, match="no gradient"):
        measured(model, ids, 4)
