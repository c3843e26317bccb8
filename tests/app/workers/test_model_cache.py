import gc
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.workers import model_cache
from lmviz.app.workers.model_cache import ModelCache
from lmviz.base.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.training.run import Run


@pytest.fixture
def run_of_its_own(lstm_run: Path, tmp_path: Path) -> Path:
    """A copy of the small run, from which snapshots may be taken away."""
    return Path(shutil.copytree(lstm_run, tmp_path / "run"))


def state_at(cache: ModelCache, folder: Path, step: int) -> dict[str, np.ndarray]:
    return {name: value.numpy().copy() for name, value in cache.model(folder, step).state().items()}


def test_going_back_in_time_does_not_read_the_disk_again(run_of_its_own: Path) -> None:
    cache = ModelCache()
    cache.open(run_of_its_own)
    before = state_at(cache, run_of_its_own, 0)
    cache.model(run_of_its_own, 3)
    Run.open(run_of_its_own).snapshot_path(0).unlink()
    for name, value in state_at(cache, run_of_its_own, 0).items():
        np.testing.assert_array_equal(value, before[name])


def test_what_was_not_used_for_longest_makes_room(
    run_of_its_own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_cache, "LARGEST_CACHE", 1)
    cache = ModelCache()
    cache.open(run_of_its_own)
    for step in (0, 3):
        cache.model(run_of_its_own, step)
    Run.open(run_of_its_own).snapshot_path(0).unlink()
    with pytest.raises(LmvizError):
        cache.model(run_of_its_own, 0)


def test_of_a_model_that_was_closed_nothing_is_kept(run_of_its_own: Path, transformer_run: Path) -> None:
    cache, zero = ModelCache(), Intervention("layers/0/hidden", "replace", 0.0)
    kept = [weakref.ref(cache.model(folder, 2)) for folder in (run_of_its_own, transformer_run)]
    assert cache.model(run_of_its_own, 2, spells_out=True) is not None
    assert cache.changed(run_of_its_own, 2, [zero]) is not None
    cache.forget(run_of_its_own)
    gc.collect()
    assert [model() is None for model in kept] == [True, False]
    shutil.rmtree(run_of_its_own)
    with pytest.raises(LmvizError):
        cache.model(run_of_its_own, 2)


def test_only_so_many_models_are_kept(
    lstm_run: Path, transformer_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_cache, "MODELS_KEPT", 1)
    cache = ModelCache()
    _, first = cache.open(lstm_run)
    assert cache.model(lstm_run, 6) is first
    cache.model(transformer_run, 2)
    assert cache.model(lstm_run, 6) is not first


def test_a_run_that_took_the_place_of_another_is_read_anew(
    make_run: Callable[..., Path], run_of_its_own: Path
) -> None:
    cache = ModelCache()
    cache.open(run_of_its_own)
    cache.model(run_of_its_own, 0)
    cache.model(run_of_its_own, 3)
    other = make_run("lstm", 6, width=8, seed=5)
    shutil.rmtree(run_of_its_own)
    shutil.copytree(other, run_of_its_own)
    cache.open(run_of_its_own)
    for step in (0, 3):
        wanted = ModelCache()
        wanted.open(other)
        expected = state_at(wanted, other, step)
        for name, value in state_at(cache, run_of_its_own, step).items():
            np.testing.assert_array_equal(value, expected[name])


def test_weights_of_a_step_that_another_run_has_not_reached_yet_are_not_its_own(
    make_run: Callable[..., Path], run_of_its_own: Path
) -> None:
    cache, wanted, other = ModelCache(), ModelCache(), make_run("lstm", 6, width=8, seed=5)
    cache.open(run_of_its_own)
    for step in (0, 6):
        cache.model(run_of_its_own, step)
    shutil.rmtree(run_of_its_own)
    shutil.copytree(other, run_of_its_own)
    last = Run.open(run_of_its_own).snapshot_path(6)
    content = last.read_bytes()
    last.unlink()
    cache.open(run_of_its_own)
    last.write_bytes(content)  # by and by the other run comes to it
    wanted.open(other)
    expected = state_at(wanted, other, 6)
    for name, value in state_at(cache, run_of_its_own, 6).items():
        np.testing.assert_array_equal(value, expected[name])


def test_weights_of_the_moment_survive_that_their_run_is_opened_again(lstm_run: Path) -> None:
    cache = ModelCache()
    _, model = cache.open(lstm_run)
    cache.keep(lstm_run, 5000, {name: torch.zeros_like(value) for name, value in model.state().items()})
    cache.open(lstm_run)
    assert not any(value.any() for value in cache.model(lstm_run, 5000).state().values())


def test_interventions_that_are_switched_off_change_no_model(lstm_run: Path) -> None:
    cache = ModelCache()
    off = Intervention("layers/0/hidden", "scale", 0.0, enabled=False)
    assert cache.changed(lstm_run, 6, [off]) is cache.model(lstm_run, 6)


def test_the_same_interventions_change_the_model_that_was_asked_for(
    lstm_run: Path, transformer_run: Path
) -> None:
    cache = ModelCache()
    no_logits = [Intervention("logits", "scale", 0.0)]
    changed = cache.changed(lstm_run, 6, no_logits)
    assert cache.changed(lstm_run, 6, no_logits) is changed
    assert cache.changed(transformer_run, 2, no_logits).unchanged is cache.model(transformer_run, 2)


def test_of_two_snapshots_equally_near_the_earlier_is_taken() -> None:
    opened = OpenedModel(Path("run"), "run", "lstm", (0, 4, 8), None, lambda: None, None, 0)
    assert [opened.nearest_snapshot(step) for step in (2, 3, 6, 100)] == [0, 4, 4, 8]


def test_the_parameters_of_a_model_are_counted_once(
    run_of_its_own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, counted = ModelCache(), []
    model = cache.model(run_of_its_own, 0)
    monkeypatch.setattr(type(model), "parameter_count", lambda model: counted.append(model) or 1)
    for step in (0, 1, 0):
        cache.model(run_of_its_own, step)
    assert not counted
