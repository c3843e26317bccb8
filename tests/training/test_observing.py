"""An update that is observed: its parts are the real ones, and it is the same as one that nobody sees."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from lmviz.families import FAMILIES, build_model
from lmviz.models.model import IGNORED, Model
from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.model import Ngram
from lmviz.runs.preparation import begin_run
from lmviz.text.corpus import load_corpus
from lmviz.training.controls import Controls
from lmviz.training.counting import learn_counts
from lmviz.training.gradient_training import learn
from lmviz.training.observation import ObservedCount, ObservedUpdate
from lmviz.training.options import TrainingOptions
from tests.small_models import small_settings

OPTIONS = TrainingOptions(steps=6, batch=3, length=8, validate_every=0, learning_rate=0.01)
NEURAL = [name for name, family in FAMILIES.items() if not family.counts]


def new_model(family: str, **settings: object) -> Model:
    return build_model(
        family, FAMILIES[family].configuration(**{**small_settings(family), **settings}), 7, seed=1
    )


def observed(
    model: Model, ids: np.ndarray, options: TrainingOptions = OPTIONS, **more: object
) -> list[ObservedUpdate]:
    """Every update of a training."""
    found = []
    for progress in learn(
        model, ids, ids[:50], options, None, ignored_target=None, controls=Controls(observe=True), **more
    ):
        if progress.step:
            assert isinstance(progress.observed, ObservedUpdate)
            found.append(progress.observed)
    return found


def weights(model: Model) -> torch.Tensor:
    return torch.cat([item.detach().flatten() for item in model.parameters()])


@pytest.mark.parametrize("sampling", ["random", "streams"])
@pytest.mark.parametrize("family", NEURAL)
def test_an_observed_training_has_the_same_weights_to_the_last_bit(
    family: str, sampling: str, ids: np.ndarray
) -> None:
    options = TrainingOptions(**{**OPTIONS.to_values(), "sampling": sampling})
    drops = {"dropout": 0.3} if "dropout" in FAMILIES[family].configuration.names() else {}
    seen, unseen = new_model(family, **drops), new_model(family, **drops)
    observed(seen, ids, options)
    for progress in learn(unseen, ids, ids[:50], options, None, ignored_target=None):
        assert progress.observed is None
    assert torch.equal(weights(seen), weights(unseen))


@pytest.mark.parametrize("sampling", ["random", "streams"])
@pytest.mark.parametrize("family", NEURAL)
def test_the_losses_of_the_targets_have_the_mean_that_was_learned_from(
    family: str, sampling: str, ids: np.ndarray
) -> None:
    options = TrainingOptions(**{**OPTIONS.to_values(), "sampling": sampling})
    for update in observed(new_model(family), ids, options):
        assert update.batch.tokens.shape == (3, 8)
        assert np.nanmean(update.batch.losses) == pytest.approx(update.loss, rel=1e-5)
        assert update.batch.counted == 24


def test_targets_that_do_not_count_have_no_loss(ids: np.ndarray) -> None:
    [update, *_] = [
        progress.observed
        for progress in learn(
            new_model("lstm"),
            ids,
            ids[:50],
            OPTIONS,
            None,
            ignored_target=2,
            controls=Controls(observe=True),
        )
        if progress.observed is not None
    ]
    assert isinstance(update, ObservedUpdate)
    np.testing.assert_array_equal(np.isnan(update.batch.losses), update.batch.targets == IGNORED)
    assert np.nanmean(update.batch.losses) == pytest.approx(update.loss, rel=1e-5)
    assert 0 < update.batch.counted < update.batch.targets.size


def test_the_gradient_is_clipped_to_the_threshold(ids: np.ndarray) -> None:
    options = TrainingOptions(**{**OPTIONS.to_values(), "clip": 0.05})
    for update in observed(new_model("gru"), ids, options):
        assert update.is_clipped
        assert update.norm > 0.05
        assert update.clipped_norm == pytest.approx(0.05, rel=1e-4)
        assert np.linalg.norm(list(update.layer_norms.values())) == pytest.approx(update.norm, rel=1e-5)


def test_a_short_gradient_stays_as_it_is(ids: np.ndarray) -> None:
    options = TrainingOptions(**{**OPTIONS.to_values(), "clip": 1000.0})
    for update in observed(new_model("gru"), ids, options):
        assert not update.is_clipped
        assert update.clipped_norm == pytest.approx(update.norm, rel=1e-6)


def test_the_largest_changes_are_those_of_the_parameters(
    ids: np.ndarray, transformer: Callable[..., Model]
) -> None:
    model = transformer()
    before = {name: item.detach().clone() for name, item in model.named_parameters()}
    options = TrainingOptions(
        steps=1, batch=3, length=8, optimizer="sgd", learning_rate=0.5, schedule="constant", validate_every=0
    )
    [update] = observed(model, ids, options)
    after = {name: item.detach().cpu() for name, item in model.named_parameters()}
    farthest = max(float((after[name] - before[name]).abs().max()) for name in before)
    assert abs(update.changes[0].after - update.changes[0].before) == pytest.approx(farthest)
    for change in update.changes:
        assert change.before == float(before[change.parameter][change.index])
        assert change.after == float(after[change.parameter][change.index])
        assert change.after == pytest.approx(change.before - 0.5 * change.gradient, abs=1e-6)


def test_each_part_has_its_time(ids: np.ndarray) -> None:
    update = observed(new_model("rnn"), ids)[-1]
    assert list(update.seconds) == ["batch", "forward", "backward", "clip", "update"]
    assert all(seconds > 0 for seconds in update.seconds.values())
    assert update.step == 6
    assert update.optimizer == "adamw"


def test_observing_can_begin_and_end_on_the_way(ids: np.ndarray) -> None:
    controls, seen = Controls(), []
    for progress in learn(
        new_model("rnn"), ids, ids[:50], OPTIONS, None, ignored_target=None, controls=controls
    ):
        seen.append(progress.observed is not None)
        controls.observe = progress.step in (2, 3)
    assert seen == [False, False, False, True, True, False, False]


def counted(ids: np.ndarray, *, observe: bool) -> tuple[Ngram, list[ObservedCount]]:
    model = Ngram(NgramConfiguration(order=3), 7)
    progress = learn_counts(
        model,
        ids,
        ids[:50],
        TrainingOptions(steps=5),
        None,
        ignored_target=2,
        controls=Controls(observe=observe),
    )
    return model, [item.observed for item in progress if isinstance(item.observed, ObservedCount)]


def test_counting_says_what_it_found_in_its_slice(ids: np.ndarray) -> None:
    model, steps = counted(ids, observe=True)
    assert [step.begin for step in steps] == [0, 120, 240, 360, 480]
    np.testing.assert_array_equal(np.concatenate([step.ids for step in steps]), ids)
    whole = count_ngrams(ids, 3, 7, 2)
    for level, order in zip(whole.levels, (1, 2, 3), strict=True):
        found = [item for step in steps for item in step.orders if item.order == order]
        assert sum(item.total for item in found) == level.counts.sum()
        assert all(len(item.most_frequent) == order for item in found)
    assert steps[-1].is_fitted
    unseen, _ = counted(ids, observe=False)
    assert all(
        torch.equal(a, b) for a, b in zip(model.state().values(), unseen.state().values(), strict=True)
    )


def test_the_most_frequent_ngram_is_counted_in_the_slice() -> None:
    from lmviz.training.counting import counted_orders

    ids = np.array([0, 1, 2, 1, 2, 1, 2, 3])
    [ones, twos] = counted_orders(ids, 1, 7, 2, None)
    assert (ones.total, ones.different, ones.times) == (6, 2, 3)
    assert (twos.most_frequent, twos.times) == ((1, 2), 3)
    assert counted_orders(ids.astype(np.uint8), 1, 7, 2, None) == (ones, twos)
    assert counted_orders(ids.astype(np.uint8), 1, 7, 2, 300) == (ones, twos)


TEXTS = {
    "tagging": "the/d cat/n runs/v\nthe/d old/n man/v the/d boats/n\n" * 8,
    "classification": "good\ta fine film\nbad\ta dull film that was not fine\n" * 8,
    "translation": "ab\tba\nabc\tcba\nd\td\n" * 8,
}


@pytest.mark.parametrize("task", TEXTS)
@pytest.mark.parametrize("family", ["gru", "transformer"])
def test_batches_of_every_task_are_observed(family: str, task: str, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXTS[task], encoding="utf-8")
    corpus = load_corpus(path, task=task)
    settings = FAMILIES[family].configuration(**small_settings(family))
    options = TrainingOptions(steps=4, batch=3, validate_every=0)
    controls = Controls(observe=True)
    training = begin_run(family, settings, options, corpus, tmp_path / "run", controls)
    steps = [progress.observed for progress in training.progress if progress.step]
    assert len(steps) == 4
    for update in steps:
        assert isinstance(update, ObservedUpdate)
        assert np.nanmean(update.batch.losses) == pytest.approx(update.loss, rel=1e-5)
        assert update.batch.losses.shape == update.batch.targets.shape
        assert ("source" in update.batch.beside) == (task == "translation")
