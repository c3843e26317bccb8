"""What a training leaves behind, and how it goes on from there."""

import numpy as np
import pytest
import torch
from small_trainings import SMALL, Make, NewRun, assert_equal_states, start

from lmviz.training.controls import Controls
from lmviz.training.distributed import Team
from lmviz.training.learner import GradientLearner, NotFinite
from lmviz.training.options import TrainingOptions
from lmviz.training.progress import Progress
from lmviz.training.recorder import SAVE_SECONDS, Recorder


def test_a_training_leaves_metrics_and_snapshots(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options = TrainingOptions(**SMALL)
    model = lstm()
    initial = model.state()
    initial = {name: tensor.clone() for name, tensor in initial.items()}
    run = new_run(model, options)
    told = list(start(model, ids, options, run))
    lines = run.metrics()
    assert [line["step"] for line in lines] == list(range(41))
    assert [line.get("loss") for line in lines] == [progress.loss for progress in told]
    assert [line["step"] for line in lines if "validation_loss" in line] == [0, 15, 30, 40]
    assert {"learning_rate", "gradient_norm", "tokens_per_second", "seconds"} <= lines[-1].keys()
    snapshots = run.snapshots()
    assert len(snapshots) == 8
    assert snapshots == [progress.snapshot for progress in told if progress.snapshot is not None]
    assert_equal_states(run.load_snapshot(0), initial)
    assert_equal_states(run.load_snapshot(40), model.state())


def test_a_bound_on_size_leaves_fewer_snapshots(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options = TrainingOptions(**SMALL | {"snapshots": 30, "snapshot_megabytes": 1})
    model = lstm(width=80)
    run = new_run(model, options)
    list(start(model, ids, options, run))
    sizes = [run.snapshot_path(step).stat().st_size for step in run.snapshots()]
    assert sum(sizes) <= 1_000_000
    assert 2 < len(sizes) < 30
    assert {0, 40} <= set(run.snapshots())


def test_where_nothing_fits_only_the_first_and_the_last_snapshot_are_written(
    lstm: Make, new_run: NewRun, ids: np.ndarray
) -> None:
    options = TrainingOptions(**SMALL | {"steps": 4, "snapshot_megabytes": 1})
    model = lstm(width=300)
    run = new_run(model, options)
    told = list(start(model, ids, options, run))
    assert run.snapshot_path(0).stat().st_size > 1_000_000
    assert [progress.snapshot for progress in told if progress.snapshot is not None] == [0, 4]


def test_half_snapshots_leave_the_last_one_whole(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options = TrainingOptions(**SMALL | {"snapshot_precision": "half"})
    model = lstm(width=32)
    run = new_run(model, options)
    list(start(model, ids, options, run))
    *earlier, last = (run.snapshot_path(step).stat().st_size for step in run.snapshots())
    assert max(earlier) < 0.6 * last
    assert_equal_states(run.load_snapshot(40), model.state())


def test_the_state_is_saved_with_planned_snapshots_that_are_seconds_apart(
    lstm: Make, new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    options, model = TrainingOptions(steps=40, batch=4, length=8, snapshots=2, resume_seconds=60), lstm()
    learner = GradientLearner(
        model, np.arange(60) % 7, options, ignored_target=None, device=torch.device("cpu"), team=Team()
    )
    recorder = Recorder(new_run(model, options), learner, options, Controls(), Team())
    assert recorder.save_due()  # nothing is saved yet
    recorder.save(1.0)
    due = {}
    for step in (7, 40):  # only the latter has a snapshot
        learner.step = step
        for now in (1000.0 + SAVE_SECONDS / 2, 1000.0 + 2 * SAVE_SECONDS, 1061.0):
            due[step, now - 1000.0] = recorder.save_due()
    assert list(due.values()) == [False, False, True, False, True, True]


@pytest.mark.parametrize("rank", [0, 1])
def test_every_process_of_a_team_notices_weights_that_are_not_finite(
    rank: int, lstm: Make, new_run: NewRun
) -> None:
    """Else the first one would end, and the others would wait for it."""

    class TeamOfTwo(Team):
        size = 2

    team, options, model = TeamOfTwo(), TrainingOptions(**SMALL), lstm()
    team.rank = rank
    learner = GradientLearner(
        model, np.arange(60) % 7, options, ignored_target=None, device=torch.device("cpu"), team=team
    )
    run = new_run(model, options) if rank == 0 else None
    recorder = Recorder(run, learner, options, Controls(), team)
    assert recorder.snapshot() == (0 if rank == 0 else None)
    next(model.parameters()).data.fill_(torch.nan)
    with pytest.raises(NotFinite):
        recorder.snapshot()


def test_only_the_first_of_several_processes_writes(lstm: Make, new_run: NewRun) -> None:
    class TeamOfTwo(Team):
        size = 2

        def __init__(self, rank: int) -> None:
            self.rank = rank

        def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
            return [tensor, tensor]

    options, model = TrainingOptions(**SMALL), lstm()
    for rank in (1, 0):
        run = new_run(model, options, f"rank {rank}")
        learner = GradientLearner(
            model,
            np.arange(60) % 7,
            options,
            ignored_target=None,
            device=torch.device("cpu"),
            team=TeamOfTwo(rank),
        )
        recorder = Recorder(run, learner, options, Controls(), TeamOfTwo(rank))
        recorder.note(Progress(step=1, steps=40, validation_loss=1.0))
        recorder.snapshot()
        recorder.save(1.0)
        wrote = (run.is_resumable, run.snapshots(), len(run.metrics()))
        assert wrote == ((True, [0], 1) if rank == 0 else (False, [], 0))
