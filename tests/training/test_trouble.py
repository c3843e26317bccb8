"""What a training does about numbers that are not finite and disks that are full."""

import numpy as np
import pytest
import torch
from small_trainings import SMALL, Make, NewRun, assert_equal_states, start

from lmviz.models.model import Model
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run


def explode(model: Model, at: int, factor: float) -> None:
    """Let the loss of the model be multiplied from its update `at` on."""
    loss, calls = model.loss, 0

    def exploding(*arguments: torch.Tensor) -> object:
        nonlocal calls
        calls += 1
        value, state = loss(*arguments)
        return value * (factor if calls >= at else 1.0), state

    model.loss = exploding  # type: ignore[method-assign]


@pytest.mark.parametrize("factor", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_pauses_and_keeps_the_last_good_weights(
    lstm: Make, new_run: NewRun, ids: np.ndarray, factor: float
) -> None:
    options, model, twin = TrainingOptions(**SMALL), lstm(), lstm()
    explode(model, 12, factor)
    run = new_run(model, options)
    told = list(start(model, ids, options, run))
    assert [progress.step for progress in told] == [*range(12), 11]
    assert "loss was not a finite number at step 12" in told[-1].trouble
    assert "lower learning rate" in told[-1].trouble
    steps = start(twin, ids, options, new_run(twin, options, "good"))
    while next(steps).step < 11:
        pass
    assert_equal_states(model.state(), twin.state())
    assert all(torch.isfinite(tensor).all() for tensor in run.load_snapshot(run.snapshots()[-1]).values())
    told = list(start(lstm(), ids, options, run, resume=True))
    assert told[-1].finished


def test_weights_beyond_use_are_never_saved_and_are_taken_back(
    lstm: Make, new_run: NewRun, ids: np.ndarray
) -> None:
    options, model = TrainingOptions(**SMALL | {"snapshots": 40}), lstm()
    run = new_run(model, options)
    steps = start(model, ids, options, run)
    told = [next(steps) for _ in range(6)]
    with torch.no_grad():
        model.embedding.weight[0, 0] = torch.inf
    told += steps
    assert "not a finite number" in told[-1].trouble
    saved = told[-1].step
    assert_equal_states(model.state(), run.load_snapshot(saved))
    for step in run.snapshots():
        assert all(torch.isfinite(tensor).all() for tensor in run.load_snapshot(step).values())


def test_a_weight_beyond_use_is_found_even_where_the_loss_does_not_show_it(
    lstm: Make, new_run: NewRun, ids: np.ndarray
) -> None:
    options, model = TrainingOptions(**SMALL | {"snapshots": 40}), lstm()
    run = new_run(model, options)
    steps = start(model, np.minimum(ids, 5), options, run)
    told = [next(steps) for _ in range(6)]
    with torch.no_grad():
        model.embedding.weight[6] = torch.inf  # a token that the text has not
    told += steps
    assert "weight was not a finite number" in told[-1].trouble
    assert run.snapshots() == list(range(6))
    assert torch.isfinite(model.embedding.weight).all()


def test_a_full_disk_pauses_and_leaves_the_run_intact(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    resource = pytest.importorskip("resource")  # which Windows lacks
    options = TrainingOptions(**SMALL | {"snapshots": 40})
    undisturbed = lstm()
    list(start(undisturbed, ids, options, new_run(undisturbed, options, "straight")))
    model = lstm()
    run = new_run(model, options)
    steps = start(model, ids, options, run)
    told = [next(steps) for _ in range(6)]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, hard))
    try:
        told += steps
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "could not be written" in told[-1].trouble
    assert 5 <= told[-1].step < 40
    assert not list(run.folder.rglob("*.part"))
    assert run.snapshots() == list(range(6))
    fresh = lstm()
    told = list(start(fresh, ids, options, Run.open(run.folder), resume=True))
    assert told[-1].finished
    assert_equal_states(fresh.state(), undisturbed.state())
