"""How a training goes on from what it has left behind."""

import numpy as np
import pytest
import torch
from covering import in_turn
from small_trainings import SMALL, Make, NewRun, assert_equal_states, start

from lmviz.base.errors import LmvizError
from lmviz.training.controls import Controls
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run


@pytest.mark.parametrize("how", ["closed", "stopped"])
@pytest.mark.parametrize(("sampling", "optimizer"), in_turn(["random", "streams"], ["momentum", "adamw"]))
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
    assert told[0].validation_loss is None  # measured at the first step and by plan, not again at a break
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
    assert next(steps).learning_rate is None, "no update has been made since"
    assert next(steps).learning_rate == 0.002
    assert again.learning_rate == 0.002


def test_a_saved_rate_that_no_training_can_have_is_left_to_the_schedule(
    lstm: Make, new_run: NewRun, ids: np.ndarray
) -> None:
    options, model = TrainingOptions(**SMALL), lstm()
    run = new_run(model, options)
    steps = start(model, ids, options, run)
    next(steps)
    steps.close()
    tensors, values = run.load_resume()
    run.save_resume(tensors, values | {"learning_rate": 1e9})
    again = Controls()
    next(start(lstm(), ids, options, run, controls=again, resume=True))
    assert again.learning_rate is None


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
