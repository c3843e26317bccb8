"""A race of the session: lanes from the plan, begun, paused, forked, opened again and gone on with."""

import shutil
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES
from lmviz.runs.race_folder import open_race
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

FEW = 40  # steps
SETTINGS = {"batch": 2, "length": 8, "snapshots": 50, "validate_every": 10, "schedule": "constant"}


@pytest.fixture
def ready(session: Session, text_file: Path, qtbot: QtBot) -> Session:
    """A session with a text to learn from, and a small GRU planned."""
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    plan(session, FEW)
    qtbot.waitUntil(lambda: session.work.is_ready)
    return session


def plan(session: Session, steps: int, **settings: float) -> None:
    options = TrainingOptions(steps=steps, **{**SETTINGS, **settings})
    session.plan.set("gru", FAMILIES["gru"].configuration(width=8), options)


def rates(session: Session, *values: float) -> None:
    session.race.add({"learning_rate": values})


def train(session: Session, qtbot: QtBot) -> None:
    session.race.go_on()
    qtbot.waitUntil(lambda: not session.race.is_active)


def train_and_stop(session: Session, qtbot: QtBot, steps: int) -> None:
    """Two lanes that have made some of so many steps."""
    plan(session, steps)
    rates(session, 0.001, 0.01)
    session.race.go_on()
    qtbot.waitUntil(lambda: all(lane.step > 4 for lane in session.race.lanes))
    session.race.stop()
    qtbot.waitUntil(lambda: not session.race.is_active)


@pytest.mark.slow
def test_values_make_lanes_that_are_trained_in_turn_and_opened(ready: Session, qtbot: QtBot) -> None:
    rates(ready, 0.001, 0.01)
    assert [lane.label for lane in ready.race.lanes] == ["0.001", "0.01"]
    assert ready.race.needed_memory > 0
    assert ready.race.folder is None, "nothing is written before they begin"
    train(ready, qtbot)
    first, second = ready.race.lanes
    assert [lane.state for lane in ready.race.lanes] == ["finished · 40"] * 2
    assert list(first.history.loss.steps) == list(range(1, FEW + 1))
    assert list(second.history.seconds.steps) == list(range(FEW + 1))
    assert list(open_race(ready.race.folder).lanes) == ["learning_rate=0.001", "learning_rate=0.01"]
    qtbot.waitUntil(lambda: len(ready.library.models) == 2)
    colors = {model.folder: model.color_index for model in ready.library.models}
    assert colors == {lane.folder: lane.color for lane in ready.race.lanes}
    assert first.color != second.color


def test_without_lanes_there_is_nothing_to_begin(ready: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(ready.race.failed, check_params_cb=lambda said: "no lanes" in said):
        ready.race.go_on()
    assert not ready.race.is_active


def test_families_race_with_the_settings_that_each_has(ready: Session) -> None:
    ready.race.add({"family": ["gru", "transformer"], "seed": [0, 1]})
    assert [lane.label for lane in ready.race.lanes] == [
        "gru · 0",
        "gru · 1",
        "transformer · 0",
        "transformer · 1",
    ]
    assert ready.race.lanes[3].name == "family=transformer, seed=1"
    assert ready.race.lanes[3].settings["width"] == 8
    ready.race.remove("family=gru, seed=1")
    assert len(ready.race.lanes) == 3


@pytest.mark.slow
def test_the_slider_takes_all_lanes_to_the_same_step(ready: Session, qtbot: QtBot) -> None:
    rates(ready, 0.001, 0.01, 0.02)
    train(ready, qtbot)
    qtbot.waitUntil(lambda: len(ready.comparison.chosen) == 2)
    ready.library.choose_step(7)
    assert {step for _, step in ready.comparison.moments} == {7}
    assert len(ready.comparison.moments) == 3
    hidden = next(lane for lane in ready.race.lanes if ready.library.model != ready.race.opened(lane))
    ready.race.hide([hidden.name])
    ready.library.choose_step(9)
    assert [step for _, step in ready.comparison.moments] == [9, 9]
    ready.race.hide([])
    assert len(ready.comparison.moments) == 3
    ready.comparison.choose(ready.comparison.chosen[:1])
    ready.library.choose_step(11)
    assert [step for _, step in ready.comparison.moments] == [11, 11], "who was taken out stays out"


def test_all_pause_make_a_step_each_and_stop(ready: Session, qtbot: QtBot) -> None:
    plan(ready, 5000)
    rates(ready, 0.001, 0.01)
    ready.race.go_on()
    qtbot.waitUntil(lambda: all(lane.step > 2 for lane in ready.race.lanes))
    ready.race.pause()
    assert {lane.phase for lane in ready.race.lanes} == {"paused"}
    held = [make_a_round(ready, qtbot), make_a_round(ready, qtbot)]
    assert held[1] == held[0] + 1
    ready.race.pause("learning_rate=0.001")
    ready.race.go_on()
    qtbot.waitUntil(lambda: ready.race.lanes[1].step > held[1] + 5)
    assert [lane.phase for lane in ready.race.lanes] == ["paused", "running"]
    ready.race.set_learning_rate(0.5, "learning_rate=0.01")
    qtbot.waitUntil(lambda: ready.race.lanes[1].progress.learning_rate == 0.5)
    ready.race.stop("learning_rate=0.01")
    qtbot.waitUntil(lambda: ready.race.lanes[1].phase == "stopped")
    assert ready.race.is_active
    ready.race.stop()
    qtbot.waitUntil(lambda: not ready.race.is_active)
    assert [lane.phase for lane in ready.race.lanes] == ["stopped", "stopped"]
    assert all(Run.open(lane.folder).is_resumable for lane in ready.race.lanes)


@pytest.mark.slow
def test_a_lane_says_which_rate_it_is_trained_with_also_when_it_is_resumed(
    ready: Session, qtbot: QtBot
) -> None:
    plan(ready, 5000)
    rates(ready, 0.001, 0.01)
    ready.race.go_on()
    qtbot.waitUntil(lambda: all(lane.step > 2 for lane in ready.race.lanes))
    with pytest.raises(LmvizError, match="finite"):
        ready.race.set_learning_rate(float("nan"))
    ready.race.set_learning_rate(0.5, "learning_rate=0.01")
    assert [lane.rate for lane in ready.race.lanes] == [None, 0.5]
    qtbot.waitUntil(lambda: ready.race.lanes[1].progress.learning_rate == 0.5)
    ready.race.stop()
    qtbot.waitUntil(lambda: not ready.race.is_active)
    folder = ready.race.folder
    ready.race.clear()
    ready.race.open(folder)
    qtbot.waitUntil(lambda: len(ready.race.lanes) == 2)
    ready.race.go_on()
    qtbot.waitUntil(lambda: all(lane.progress is not None for lane in ready.race.lanes))
    assert [lane.rate for lane in ready.race.lanes] == [None, 0.5]
    ready.race.set_learning_rate(None, "learning_rate=0.01")
    qtbot.waitUntil(lambda: ready.race.lanes[1].progress.learning_rate == 0.01)
    assert ready.race.lanes[1].rate is None
    ready.race.stop()
    qtbot.waitUntil(lambda: not ready.race.is_active)


def make_a_round(session: Session, qtbot: QtBot) -> int:
    """One step each: the step at which all lanes then are, wherever a pause has caught them."""
    qtbot.waitUntil(lambda: is_at_rest(session))  # a pause does not wait for the step under way
    before = max(lane.step for lane in session.race.lanes)
    session.race.step()
    qtbot.waitUntil(lambda: is_at_rest(session))
    [step] = {lane.step for lane in session.race.lanes}
    assert step > before
    return step


def is_at_rest(session: Session) -> bool:
    """Whether the thread waits to be told something, and all that it has said is known."""
    worker = session.race._worker
    assert worker is not None
    with worker._condition:
        rests = bool(worker._condition._waiters) and not worker._woken
    session.race._empty_mailbox()
    return rests


@pytest.mark.slow
def test_a_lane_that_diverges_stops_alone(ready: Session, qtbot: QtBot) -> None:
    plan(ready, FEW, weight_decay=10.0)
    rates(ready, 0.001, 0.01)
    ready.race.go_on()
    ready.race.pause()  # or a lane may have finished before it was seen to run
    qtbot.waitUntil(lambda: {lane.phase for lane in ready.race.lanes} <= {"paused", "finished"})
    ready.race.set_learning_rate(100.0, "learning_rate=0.01")  # weights become 999 times as large each step
    ready.race.go_on()
    qtbot.waitUntil(lambda: not ready.race.is_active)
    good, bad = ready.race.lanes
    assert good.phase == "finished"
    if bad.phase != "finished":  # it may have come to its end before the rate reached it
        assert bad.phase == "diverged"
        assert "was not a finite number" in bad.sentence


@pytest.mark.slow
def test_a_fork_joins_with_the_colour_of_its_parent(ready: Session, qtbot: QtBot) -> None:
    rates(ready, 0.001, 0.01)
    train(ready, qtbot)
    parent = ready.race.lanes[1]
    ready.race.fork(parent.folder, 10, {"learning_rate": "0.005"})
    qtbot.waitUntil(lambda: not ready.race.is_active)
    fork = ready.race.lanes[2]
    assert (fork.label, fork.color, fork.parent, fork.left_at) == (
        "0.01 → 0.005", parent.color, parent.name, 10,
    )  # fmt: skip
    assert fork.phase == "finished", fork.sentence
    assert list(fork.history.loss.values[:10]) == pytest.approx(list(parent.history.loss.values[:10]))
    assert fork.history.loss.values[20] != pytest.approx(parent.history.loss.values[20])
    assert list(open_race(ready.race.folder).lanes)[2] == fork.name


@pytest.mark.slow
def test_a_race_is_opened_again_and_resumed_whole(ready: Session, qtbot: QtBot) -> None:
    train_and_stop(ready, qtbot, 400)
    ready.race.fork(ready.race.lanes[0].folder, 2, {"learning_rate": "0.005", "steps": "5"})
    qtbot.waitUntil(lambda: not ready.race.is_active)
    before, folder = ready.race.lanes, ready.race.folder
    ready.race.clear()
    assert ready.race.lanes == ()
    with qtbot.waitSignal(ready.race.offered):
        ready.race.open(folder)
    again = ready.race.lanes
    assert [(lane.label, lane.phase, lane.step) for lane in again] == [
        (lane.label, lane.phase, lane.step) for lane in before
    ]
    assert again[2].color == again[0].color
    assert list(again[1].history.loss.values) == list(before[1].history.loss.values)
    train(ready, qtbot)
    assert [lane.state for lane in ready.race.lanes] == ["finished · 400"] * 2 + ["finished · 5"]


@pytest.mark.slow
@pytest.mark.parametrize("gone", ["one", "all"])
def test_a_lane_whose_folder_was_deleted_is_said_and_the_others_go_on(
    ready: Session, qtbot: QtBot, gone: str
) -> None:
    said: list[str] = []
    ready.race.failed.connect(said.append)
    train_and_stop(ready, qtbot, 5000)
    before = ready.race.lanes[1].step
    for lane in ready.race.lanes[: 1 if gone == "one" else 2]:
        shutil.rmtree(lane.folder)
    ready.race.go_on()
    qtbot.waitUntil(lambda: any("holds no run" in sentence for sentence in said))
    if gone == "one":
        qtbot.waitUntil(lambda: ready.race.lanes[1].step > before)
        assert [lane.phase for lane in ready.race.lanes] == ["failed", "running"]
        ready.race.stop()
    qtbot.waitUntil(lambda: not ready.race.is_active)


def test_what_cannot_be_is_said(ready: Session, qtbot: QtBot, tmp_path: Path) -> None:
    said: list[str] = []
    ready.race.failed.connect(said.append)
    rates(ready, *(0.001 * number for number in range(1, 8)))
    assert "1 to 6 lanes" in said.pop()
    ready.race.add({"family": ["gru", "parrot"]})
    assert "no family" in said.pop().lower()
    ready.race.add({"learning_rate": ["fast"]})
    assert "must be a number" in said.pop()
    assert ready.race.lanes == ()
    ready.race.open(tmp_path)
    qtbot.waitUntil(lambda: bool(said))
    assert "holds no race" in said.pop()
    plan(ready, 5000)
    rates(ready, 0.001, 0.01)
    ready.race.go_on()
    ready.training.start()
    ready.training.failed.connect(said.append)
    ready.training.start()
    assert "A race is under way" in said.pop()
    assert ready.experiment.obstacle
    ready.race.clear()
    assert "A race is under way" in said.pop()
    ready.race.stop()
    qtbot.waitUntil(lambda: not ready.race.is_active)
