from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from covering import parametrize_few

from lmviz.base.errors import LmvizError
from lmviz.models.model import Model
from lmviz.training.controls import Controls
from lmviz.training.gradient_training import learn
from lmviz.training.options import TrainingOptions
from lmviz.training.progress import Progress
from lmviz.training.run import Run

Make = Callable[..., Model]
OPTIONS = TrainingOptions(steps=30, batch=4, length=8, learning_rate=0.03, validate_every=10, warmup=3)


def train(model: Model, ids: np.ndarray, options: TrainingOptions, run: Run | None = None) -> list[Progress]:
    return list(learn(model, ids[:500], ids[500:], options, run, ignored_target=None))


def test_it_learns_and_says_how(lstm: Make, ids: np.ndarray) -> None:
    told = train(lstm(), ids, OPTIONS)
    assert [progress.step for progress in told] == list(range(31))
    assert {progress.steps for progress in told} == {30}
    before = told[0]
    assert before.loss is before.learning_rate is before.gradient_norm is before.tokens_per_second is None
    assert told[0].validation_loss == pytest.approx(np.log(7), abs=0.3)
    assert [progress.step for progress in told if progress.validation_loss is not None] == [0, 10, 20, 30]
    assert told[-1].validation_loss < 0.6 * told[0].validation_loss
    assert all(progress.gradient_norm > 0 and progress.tokens_per_second > 0 for progress in told[1:])
    assert all(progress.learning_rate > 0 for progress in told[1:])
    assert [progress.finished for progress in told] == [False] * 30 + [True]
    assert set(told[1].update_ratios) == {"embedding", "layers/0", "output"}
    assert all(0 < ratio < 1 for ratio in told[1].update_ratios.values())
    assert told[-1].seconds_left == 0 < told[5].seconds_left
    seconds = [progress.seconds for progress in told]
    assert seconds == sorted(seconds)


def test_the_time_for_which_the_driver_holds_it_does_not_count(
    lstm: Make, ids: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    steps = learn(lstm(), ids, ids, OPTIONS, None, ignored_target=None)
    next(steps)
    now += 1000
    assert next(steps).seconds == 0


def test_how_far_updates_move_the_weights_is_measured_once_a_second(
    lstm: Make, ids: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0

    def pass_time() -> float:
        nonlocal now
        now += 0.01
        return now

    monkeypatch.setattr("time.perf_counter", pass_time)
    told = train(lstm(), ids, OPTIONS)
    measured = [progress for progress in told if progress.update_ratios]
    assert measured[0].step == 1
    assert 1 <= len(measured) <= 1 + told[-1].seconds
    assert len(measured) < len(told) / 2


@pytest.mark.parametrize("sampling", ["random", "streams"])
def test_the_same_seed_gives_the_same_weights(lstm: Make, ids: np.ndarray, sampling: str) -> None:
    options = TrainingOptions(steps=8, batch=4, length=8, sampling=sampling)
    models = [lstm(dropout=0.3) for _ in range(3)]
    for model, seed in zip(models, (0, 0, 1), strict=True):
        torch.rand(5)  # what others draw must not matter
        train(model, ids, TrainingOptions(**options.to_values() | {"seed": seed}))
    same, twin, other = (model.state() for model in models)
    assert all(torch.equal(same[name], twin[name]) for name in same)
    if sampling == "random":
        assert not all(torch.equal(same[name], other[name]) for name in same)


def test_dropout_differs_from_step_to_step(lstm: Make) -> None:
    options = TrainingOptions(steps=5, batch=1, learning_rate=0.0, validate_every=0)
    told = train(lstm(dropout=0.5), np.arange(6), options)  # one window, again and again
    assert len({progress.loss for progress in told[1:]}) == 5


def test_streams_carry_the_state_of_a_recurrence_over(lstm: Make) -> None:
    seen = []
    model = lstm()
    loss = model.loss

    def spy(tokens: torch.Tensor, targets: torch.Tensor, state: object = None) -> object:
        value, carried = loss(tokens, targets, state)
        seen.append((state, carried))
        return value, carried

    model.loss = spy  # type: ignore[method-assign]
    options = TrainingOptions(steps=12, batch=2, length=5, sampling="streams", validate_every=0)
    train(model, np.arange(60) % 7, options)  # two streams of 29 targets, six windows each
    begins = [index for index, (state, _) in enumerate(seen) if state is None]
    assert begins == [0, 6]
    for (_, carried), (state, _) in pairwise(seen):
        if state is not None:
            assert all(torch.equal(one, other) for one, other in zip(carried, state, strict=True))
            assert not any(part.requires_grad for part in state)


@parametrize_few("optimizer", ["sgd", "momentum", "adam", "adamw"], quick=2)
def test_every_optimizer_learns(transformer: Make, ids: np.ndarray, optimizer: str) -> None:
    rate = 0.5 if optimizer in ("sgd", "momentum") else 0.02
    options = TrainingOptions(steps=30, batch=4, optimizer=optimizer, learning_rate=rate, warmup=3)
    told = train(transformer(), ids, options)
    assert told[-1].validation_loss < told[0].validation_loss - 0.05


def test_the_learning_rate_can_be_taken_over_and_given_back(lstm: Make, ids: np.ndarray) -> None:
    controls = Controls()
    steps = learn(lstm(), ids, ids, OPTIONS, None, ignored_target=None, controls=controls)
    planned = [next(steps) for _ in range(6)]
    controls.learning_rate = 1e-5
    assert next(steps).learning_rate == 1e-5
    controls.learning_rate = None
    assert next(steps).learning_rate == pytest.approx(planned[-1].learning_rate, rel=0.2)


def test_clipping_bounds_the_update_but_not_the_norm_that_is_told(lstm: Make, ids: np.ndarray) -> None:
    moved = []
    for clip in (0.0, 1e-3):
        model = lstm()
        before = model.embedding.weight.detach().clone()
        options = TrainingOptions(steps=1, optimizer="sgd", learning_rate=1.0, schedule="constant", clip=clip)
        told = train(model, ids, options)
        assert told[1].gradient_norm > 0.01
        moved.append((model.embedding.weight.cpu() - before).norm().item())
    assert moved[1] < 1e-3 < moved[0]


def test_smoothed_targets_are_learned_and_plain_ones_validated(lstm: Make, ids: np.ndarray) -> None:
    """What is told of a step is the cross-entropy with the smoothed target; the validation loss is not."""
    options = TrainingOptions(steps=1, batch=2, length=8, validate_every=1, label_smoothing=0.3)
    smoothed, plain = train(lstm(), ids, options), train(lstm(), ids, replace(options, label_smoothing=0.0))
    assert smoothed[0].validation_loss == plain[0].validation_loss
    assert smoothed[1].loss != pytest.approx(plain[1].loss, rel=1e-6)
    model = lstm()
    tokens = torch.from_numpy(ids[:9].astype(np.int64))
    logits = model(tokens[None, :-1])[0].log_softmax(-1)
    aims = torch.full_like(logits, 0.3 / model.outputs)
    aims[range(8), tokens[1:]] += 0.7
    expected = -(aims * logits).sum(-1).mean()
    found, _ = model.loss(tokens[None, :-1], tokens[None, 1:], smoothing=0.3)
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)


def test_without_validation_text_there_is_no_validation_loss(lstm: Make, ids: np.ndarray) -> None:
    told = list(learn(lstm(), ids, ids[:0], OPTIONS, None, ignored_target=None))
    assert all(progress.validation_loss is None for progress in told)
    assert told[-1].finished


def test_a_text_of_a_few_tokens_is_learned_too(transformer: Make) -> None:
    told = train(transformer(), np.array([1, 2, 3]), TrainingOptions(steps=3, batch=2))
    assert told[-1].finished


def test_a_batch_without_a_target_that_counts_has_no_loss(lstm: Make) -> None:
    options = TrainingOptions(steps=4, batch=1, length=1, sampling="streams")
    ids = np.array([6, 1, 6, 1, 6])
    told = list(learn(lstm(), ids, ids, options, None, ignored_target=6))
    assert [progress.loss is None for progress in told[1:]] == [False, True, False, True]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"length": 17}, "at most 16 positions"),
        ({"device": "mps"}, "choose auto or cpu"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_learned(
    transformer: Make, ids: np.ndarray, settings: dict[str, object], sentence: str
) -> None:
    if settings.get("device") == "mps" and torch.backends.mps.is_available():
        pytest.skip("this machine can")
    with pytest.raises(LmvizError, match=sentence):
        train(transformer(), ids, TrainingOptions.from_values(settings))
