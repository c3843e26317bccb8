"""What a training leaves behind, and how it goes on from there."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from lmviz.errors import LmvizError
from lmviz.models.model import Model
from lmviz.training.controls import Controls
from lmviz.training.distributed import Team
from lmviz.training.gradient_training import learn
from lmviz.training.learner import GradientLearner
from lmviz.training.options import TrainingOptions
from lmviz.training.progress import Progress
from lmviz.training.recorder import SAVE_SECONDS, Recorder
from lmviz.training.run import Run

resource = pytest.importorskip("resource")

Make = Callable[..., Model]
NewRun = Callable[..., Run]
SMALL = {"steps": 40, "batch": 4, "length": 8, "learning_rate": 0.03, "validate_every": 15, "snapshots": 8}


def start(model: Model, ids: np.ndarray, options: TrainingOptions, run: Run, **rest: object):
    return learn(model, ids[:500], ids[500:], options, run, ignored_target=None, **rest)


def assert_equal_states(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


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


@pytest.mark.parametrize("how", ["closed", "stopped"])
@pytest.mark.parametrize("sampling", ["random", "streams"])
@pytest.mark.parametrize("optimizer", ["momentum", "adamw"])
def test_a_resumed_training_is_an_undisturbed_one(
    lstm: Make, new_run: NewRun, ids: np.ndarray, how: str, sampling: str, optimizer: str
) -> None:
    options = TrainingOptions(**SMALL | {"sampling": sampling, "optimizer": optimizer})
    undisturbed = lstm(dropout=0.2, layers=2)
    straight = new_run(undisturbed, options, "straight")
    list(start(undisturbed, ids, options, straight))

    model, controls = lstm(dropout=0.2, layers=2), Controls()
    run = new_run(model, options, "interrupted")
    steps = start(model, ids, options, run, controls=controls)
    for progress in steps:
        if progress.step == 17:
            if how == "closed":
                steps.close()
            controls.stop = True
    assert run.is_resumable
    assert 17 in run.snapshots()

    torch.rand(3)
    fresh = lstm(dropout=0.2, layers=2)
    told = list(start(fresh, ids, options, Run.open(run.folder), resume=True))
    assert [progress.step for progress in told] == list(range(17, 41))
    assert_equal_states(fresh.state(), undisturbed.state())
    assert [line.get("loss") for line in run.metrics()] == [line.get("loss") for line in straight.metrics()]
    assert [line["step"] for line in run.metrics()] == list(range(41))


def test_stopping_says_so(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options, model, controls = TrainingOptions(**SMALL), lstm(), Controls()
    steps = start(model, ids, options, new_run(model, options), controls=controls)
    told = [next(steps) for _ in range(4)]
    controls.stop = True
    told += steps
    assert [progress.step for progress in told] == [0, 1, 2, 3, 3]
    assert told[-1].trouble == "The training was stopped after step 3; it can be resumed."


def test_a_learning_rate_set_by_hand_outlives_a_break(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options, model, controls = TrainingOptions(**SMALL), lstm(), Controls()
    run = new_run(model, options)
    steps = start(model, ids, options, run, controls=controls)
    next(steps)
    controls.learning_rate = 0.002
    next(steps)
    steps.close()
    again = Controls()
    steps = start(lstm(), ids, options, run, controls=again, resume=True)
    assert next(steps).learning_rate == 0.002
    assert next(steps).learning_rate == 0.002
    assert again.learning_rate == 0.002


def test_a_finished_training_can_be_made_longer(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options, model = TrainingOptions(**SMALL), lstm()
    run = new_run(model, options)
    list(start(model, ids, options, run))
    [told] = start(lstm(), ids, options, run, resume=True)
    assert (told.step, told.finished) == (40, True)
    longer = TrainingOptions(**SMALL | {"steps": 50})
    told = list(start(lstm(), ids, longer, run, resume=True))
    assert [progress.step for progress in told] == list(range(40, 51))
    assert len(run.snapshots()) <= 8
    assert {0, 50} <= set(run.snapshots())
    assert Run.open(run.folder).description.options.steps == 50


def test_seconds_go_on_counting(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options, model = TrainingOptions(**SMALL), lstm()
    run = new_run(model, options)
    steps = start(model, ids, options, run)
    told = [next(steps) for _ in range(5)]
    steps.close()
    assert next(start(lstm(), ids, options, run, resume=True)).seconds >= told[-1].seconds > 0


def test_a_run_is_not_begun_twice(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options, model = TrainingOptions(**SMALL), lstm()
    run = new_run(model, options)
    list(start(model, ids, options, run))
    with pytest.raises(LmvizError, match="already holds a training"):
        next(start(lstm(), ids, options, run))


def test_a_run_without_a_saved_state_keeps_its_snapshots(
    lstm: Make, new_run: NewRun, ids: np.ndarray
) -> None:
    options, model = TrainingOptions(**SMALL), lstm()
    run = new_run(model, options)
    list(start(model, ids, options, run))
    (run.folder / "resume" / "state.safetensors").unlink()
    with pytest.raises(LmvizError, match="no state to resume from"):
        next(start(lstm(), ids, options, run, resume=True))
    assert len(run.snapshots()) == 8


def test_a_run_that_died_before_anything_was_saved_begins_anew(
    lstm: Make, new_run: NewRun, ids: np.ndarray
) -> None:
    options, model = TrainingOptions(**SMALL), lstm()
    run = new_run(model, options)
    run.save_snapshot(0, model.state())
    run.append_metrics([{"step": 0, "validation_loss": 2.0}])
    told = list(start(model, ids, options, run, resume=True))
    assert told[0].step == 0
    assert [line["step"] for line in run.metrics()] == list(range(41))


@pytest.mark.parametrize(("name", "value"), [("batch", 5), ("optimizer", "adam"), ("sampling", "streams")])
def test_what_would_make_it_another_training_cannot_change(
    lstm: Make, new_run: NewRun, ids: np.ndarray, name: str, value: object
) -> None:
    options, model = TrainingOptions(**SMALL), lstm()
    run = new_run(model, options)
    start_and_close = start(model, ids, options, run)
    next(start_and_close)
    start_and_close.close()
    with pytest.raises(LmvizError, match=f"^{name} cannot change"):
        next(start(lstm(), ids, TrainingOptions(**SMALL | {name: value}), run, resume=True))


def test_a_run_of_another_model_cannot_be_resumed(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options, model = TrainingOptions(**SMALL), lstm()
    run = new_run(model, options)
    list(start(model, ids, options, run))
    with pytest.raises(LmvizError, match="another model"):
        next(start(lstm(width=9), ids, options, run, resume=True))


# What goes wrong


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


def test_as_many_processes_resume_a_training_as_began_it(
    lstm: Make, new_run: NewRun, ids: np.ndarray
) -> None:
    options = TrainingOptions(**SMALL)
    run = new_run(lstm(), options)
    steps = start(lstm(), ids, options, run)
    next(steps)
    steps.close()
    tensors, values = run.load_resume()
    run.save_resume(tensors, values | {"processes": 2})
    with pytest.raises(LmvizError, match="ran in 2 processes and cannot be resumed by 1"):
        next(start(lstm(), ids, options, run, resume=True))


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


def test_seconds_go_on_from_what_was_saved_or_from_nought(
    lstm: Make, new_run: NewRun, ids: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = TrainingOptions(**SMALL)
    run = new_run(lstm(), options)
    steps = start(lstm(), ids, options, run)
    next(steps)
    steps.close()
    tensors, values = run.load_resume()
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)  # no time passes
    for saved, expected in ((None, 0), (-5.0, 0), (0.25, 0.25), (1000.0, 1000)):
        run.save_resume(tensors, values | {"seconds": saved})
        resumed = start(lstm(), ids, options, run, resume=True)
        assert next(resumed).seconds == expected
        resumed.close()


def test_a_damaged_resume_state_is_told(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options, model = TrainingOptions(**SMALL), lstm()
    run = new_run(model, options)
    list(start(model, ids, options, run))
    tensors, values = run.load_resume()
    for changed in ({"step": "x"}, {"step": -1}, {"carried": 99}, {"carried": {}}, {"processes": 2}):
        run.save_resume(tensors, values | changed)
        with pytest.raises(LmvizError):
            next(start(lstm(), ids, options, run, resume=True))


def test_progress_is_a_plain_value() -> None:
    progress = Progress(step=1, steps=2, loss=1.0)
    with pytest.raises(AttributeError):
        progress.loss = 2.0  # type: ignore[misc]
    assert hash(progress.trouble) == hash("")
