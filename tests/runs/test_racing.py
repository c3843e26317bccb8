"""A race: trainings in turn, each as if alone, in a folder that is opened and gone on with whole."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from patience import patience
from small_models import small_settings
from small_trainings import assert_equal_states

import lmviz
from lmviz.api.races import plan_lanes
from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES
from lmviz.runs.race_folder import open_race
from lmviz.runs.race_table import bands, has_diverged, lane_results
from lmviz.runs.racing import needed_memory
from lmviz.runs.run_list import list_runs
from lmviz.text.corpus import Corpus
from lmviz.training.description import RunDescription
from lmviz.training.options import TrainingOptions
from lmviz.training.progress import Progress
from lmviz.training.race import Lane, Race
from lmviz.training.run import HoldsRun, Run

TINY = {"device": "cpu", "steps": 8, "batch": 3, "length": 6, "validate_every": 4, "snapshots": 9}
RATES = {"family": "gru", "width": 8, **TINY, "learning_rate": [0.001, 0.03]}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def corpus(small_text: Path) -> Corpus:
    return lmviz.load_corpus(small_text)


def run_to_the_end(race: Race) -> list[tuple[str, int]]:
    return [(lane.name, progress.step) for lane, progress in race]


def assert_same_run(one: Run, other: Run) -> None:
    assert one.snapshots() == other.snapshots()
    for step in one.snapshots():
        assert_equal_states(one.load_snapshot(step), other.load_snapshot(step))
    told = [[(line["step"], line.get("loss"), line.get("validation_loss")) for line in run.metrics()]
            for run in (one, other)]  # fmt: skip
    assert told[0] == told[1]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_lane_is_the_same_run_trained_alone(family: str, corpus: Corpus, tmp_path: Path) -> None:
    tiny = {name: TINY[name] for name in ("steps", "snapshots")} if FAMILIES[family].counts else TINY
    settings = {**tiny, **small_settings(family)}
    if "dropout" in FAMILIES[family].configuration.names():
        settings["dropout"] = 0.2
    run_to_the_end(lmviz.race(corpus, {"family": family, "seed": [3, 4], **settings}, out=tmp_path / "race"))
    for seed in (4, 3):
        alone = lmviz.train(family, corpus, tmp_path / str(seed), seed=seed, **settings)
        assert_same_run(Run.open(tmp_path / "race" / f"seed={seed}"), alone)


def test_lanes_make_a_step_each(corpus: Corpus, tmp_path: Path) -> None:
    told = run_to_the_end(lmviz.race(corpus, RATES, out=tmp_path))
    names = ["learning_rate=0.001", "learning_rate=0.03"]
    assert told == [(name, step) for step in range(9) for name in names]
    assert json.loads((tmp_path / "race.json").read_text(encoding="utf-8"))["lanes"] == [
        {"name": name, "folder": name} for name in names
    ]


def test_or_have_equal_time(corpus: Corpus, tmp_path: Path) -> None:
    settings = {**TINY, "family": "transformer", "layers": 1, "heads": 1, "width": [8, 256], "steps": 60}
    race = lmviz.race(corpus, settings, out=tmp_path, turns="seconds")
    narrow, wide = race.lanes
    for lane, progress in race:
        if lane is narrow and progress.finished:
            assert wide.last.step < 50
            break
    assert open_race(tmp_path).turns == "seconds"


def test_a_loss_that_is_not_finite_stops_its_lane_alone(corpus: Corpus, tmp_path: Path) -> None:
    race = lmviz.race(corpus, {**RATES, "weight_decay": 10.0, "steps": 30}, out=tmp_path)
    bad, good = race.lanes
    bad.controls.learning_rate = 100.0  # which makes each weight 999 times as large as it was
    run_to_the_end(race)
    assert "was not a finite number" in bad.trouble
    assert (good.trouble, good.last.step) == ("", 30)
    stopped, finished = lane_results(open_race(tmp_path).lanes)
    assert stopped.state == f"diverged at step {stopped.step}"
    assert 0 < stopped.step < 30
    assert finished.state == "finished"


def test_one_lane_or_all_pause_stop_and_change_their_rate(corpus: Corpus, tmp_path: Path) -> None:
    race = lmviz.race(corpus, RATES, out=tmp_path)
    one, other = race.lanes
    one.is_paused = True
    assert [race.advance()[0] for _ in range(3)] == [other] * 3
    race.pause()
    assert race.advance() is None
    race.pause(False)
    assert [race.advance()[0] for _ in range(3)] == [one] * 3
    race.set_learning_rate(0.5)
    race.advance()
    assert race.advance()[1].learning_rate == 0.5
    other.controls.stop = True
    other.is_paused = True
    while not race.is_over:
        race.advance()
    assert "stopped after step" in other.trouble
    assert one.last.finished
    with pytest.raises(StopIteration):
        next(iter(race))


def test_a_last_step_in_which_nothing_counted_is_no_divergence() -> None:
    description = RunDescription("it", "gru", {}, 7, TrainingOptions().to_values())
    before = {"step": 2, "loss": 1.0, "seconds": 0.5}
    assert not has_diverged(description, [before, {"step": 3, "tokens_per_second": 9.0, "seconds": 1.0}])
    assert has_diverged(description, [before, {"step": 3}])


class Resting(Race):
    """A race that another thread pauses after its third step, and lets go on once it has rested twice."""

    advances = rests = 0

    def advance(self) -> tuple[Lane, Progress] | None:
        self.advances += 1
        if self.advances == 3:
            self.pause()
        moved = super().advance()
        self.rests += moved is None
        if self.rests == 2:
            self.pause(False)
        return moved


def test_a_loop_waits_while_all_lanes_are_paused(corpus: Corpus, tmp_path: Path) -> None:
    race = Resting(lmviz.race(corpus, RATES, out=tmp_path).lanes)
    told = run_to_the_end(race)
    assert race.rests == 2
    assert [step for _, step in told] == [step for step in range(9) for _ in race.lanes]


def test_a_loop_that_is_left_saves_every_lane_and_all_go_on(corpus: Corpus, tmp_path: Path) -> None:
    run_to_the_end(lmviz.race(corpus, RATES, out=tmp_path / "straight"))
    for _, progress in lmviz.race(corpus, RATES, out=tmp_path / "race"):
        if progress.step == 5:
            break
    run_to_the_end(lmviz.race(out=tmp_path / "race", resume=True))
    for name in ("learning_rate=0.001", "learning_rate=0.03"):
        straight, resumed = (Run.open(tmp_path / each / name) for each in ("straight", "race"))
        assert_equal_states(straight.load_snapshot(8), resumed.load_snapshot(8))
        assert [line["step"] for line in resumed.metrics()] == list(range(9))


VICTIM = """
import sys
import torch
import lmviz
from lmviz.training import recorder
torch.set_num_threads(1)
recorder.SAVE_SECONDS = recorder.FLUSH_SECONDS = 0.05
for lane in lmviz.race(lmviz.load_corpus(sys.argv[1]), {settings}, out=sys.argv[2]):
    pass
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like this here")
def test_killed_in_the_middle_every_lane_goes_on_undisturbed(
    small_text: Path, corpus: Corpus, tmp_path: Path
) -> None:
    settings = {
        **RATES, "steps": 150, "snapshots": 40, "dropout": 0.1, "sampling": "streams", "resume_seconds": 1
    }  # fmt: skip
    code = VICTIM.replace("{settings}", repr(settings))
    victim = subprocess.Popen([sys.executable, "-c", code, str(small_text), str(tmp_path / "race")])
    slower = tmp_path / "race" / "learning_rate=0.03"
    try:
        deadline = time.monotonic() + 90 * patience()
        while len(list((slower / "snapshots").glob("*.safetensors"))) < 12:
            assert victim.poll() is None, "it ended by itself"
            assert time.monotonic() < deadline, "it never got going"
            time.sleep(0.01)
    finally:
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
    assert Run.open(slower).snapshots()[-1] < 150
    run_to_the_end(lmviz.race(corpus, out=tmp_path / "race", resume=True))
    run_to_the_end(lmviz.race(corpus, settings, out=tmp_path / "straight"))
    for name in ("learning_rate=0.001", "learning_rate=0.03"):
        killed, straight = (Run.open(tmp_path / each / name) for each in ("race", "straight"))
        assert_equal_states(killed.load_snapshot(150), straight.load_snapshot(150))
        assert [line["loss"] for line in killed.metrics()[1:]] == [
            line["loss"] for line in straight.metrics()[1:]
        ]


def test_what_is_written_into_its_folder_joins_the_race(corpus: Corpus, tmp_path: Path) -> None:
    run_to_the_end(lmviz.race(corpus, RATES, out=tmp_path / "race"))
    first = tmp_path / "race" / "learning_rate=0.03"
    lmviz.fork(first, 4, out=tmp_path / "race" / "half", corpus=corpus, learning_rate=0.015, steps=10)
    (tmp_path / "race" / "race.json").unlink()
    race = open_race(tmp_path / "race")
    assert list(race.lanes) == ["half", "learning_rate=0.001", "learning_rate=0.03"]
    half, _, rate = lane_results(race.lanes)
    assert half.settings == {"learning_rate": 0.015, "steps": 10, "forked from": "learning_rate=0.03@4"}
    assert rate.settings == {"learning_rate": 0.03, "steps": 8, "forked from": None}
    assert (half.state, half.step) == ("finished", 10)
    assert half.best == min(line["validation_loss"] for line in Run.open(race.lanes["half"]).metrics()
                            if "validation_loss" in line)  # fmt: skip


def test_a_lane_that_is_gone_or_held_says_so_and_the_others_go_on(corpus: Corpus, tmp_path: Path) -> None:
    race = lmviz.race(corpus, {**RATES, "learning_rate": [0.001, 0.01, 0.03]}, out=tmp_path)
    for _, progress in race:
        if progress.step == 3:
            break
    shutil.rmtree(tmp_path / "learning_rate=0.01")
    again = lmviz.race(corpus, out=tmp_path, resume=True)
    gone = again.lanes[1]
    assert "holds no run" in gone.trouble
    from lmviz.training.lock import holding

    with holding(tmp_path / "learning_rate=0.001"):
        run_to_the_end(again)
    held, _, good = again.lanes
    assert "is being trained already" in held.trouble
    assert good.last.finished
    assert lane_results(open_race(tmp_path).lanes)[1].state == "cannot be read"


def test_values_make_lanes_grids_and_bands(corpus: Corpus, tmp_path: Path) -> None:
    settings = {"family": ["gru", "lstm"], "width": 8, **TINY, "seed": [0, 1, 2]}
    lanes = plan_lanes(settings)
    assert [lane.name for lane in lanes][:2] == ["family=gru, seed=0", "family=gru, seed=1"]
    run_to_the_end(lmviz.race(corpus, {**settings, "steps": 2}, out=tmp_path))
    found = bands(lane_results(open_race(tmp_path).lanes))
    assert [band.settings["family"] for band in found] == ["gru", "lstm"]
    assert all(len(band.lanes) == 3 and band.lowest < band.mean < band.highest for band in found)


def test_nothing_is_begun_where_a_lane_cannot_be(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [0.001 * each for each in range(1, 8)]
    for words, changed in (
        ("1 to 6 lanes, and not 7", {"learning_rate": many}),
        ("are missing, or two are equal", {"learning_rate": [0.1, 0.1]}),
        ("did you mean learning_rate", {"learning_rat": [0.1, 0.2]}),
        ("name no family", {"family": None} | {"learning_rate": [0.1]}),
    ):
        settings = {key: value for key, value in (RATES | changed).items() if value is not None}
        with pytest.raises(LmvizError, match=words):
            lmviz.race(corpus, settings, out=tmp_path / "race")
    needed = needed_memory(plan_lanes(RATES), corpus)
    assert needed == 2 * needed_memory(plan_lanes(RATES)[:1], corpus)
    monkeypatch.setattr("lmviz.training.cost.machine_memory", lambda: needed - 1)
    with pytest.raises(LmvizError, match="These 2 trainings need about"):
        lmviz.race(corpus, RATES, out=tmp_path / "race")
    assert not (tmp_path / "race").exists()
    monkeypatch.undo()
    run_to_the_end(lmviz.race(corpus, {**RATES, "steps": 1}, out=tmp_path / "race"))
    with pytest.raises(HoldsRun):
        lmviz.race(corpus, RATES, out=tmp_path / "race")
    with pytest.raises(LmvizError, match="another model"):
        lmviz.race(corpus, {**RATES, "width": 9}, out=tmp_path / "race", resume=True)


def test_taggers_that_began_with_the_causal_mask_go_on_with_it_where_nothing_else_is_said(
    tmp_path: Path,
) -> None:
    tagged = lmviz.load_corpus("four-sentences")
    settings = {"family": "transformer", **small_settings("transformer"), **TINY, "steps": [1, 2]}
    said = {key: value for key, value in settings.items() if key != "causal"}
    run_to_the_end(lmviz.race(tagged, {**said, "causal": True}, out=tmp_path))
    for place in open_race(tmp_path).lanes.values():  # as it was written before there was such a setting
        described = json.loads((place / "run.json").read_text("utf-8"))
        del described["configuration"]["causal"]
        (place / "run.json").write_text(json.dumps(described), "utf-8")
    race = lmviz.race(tagged, {**said, "learning_rate": 0.01}, out=tmp_path, resume=True)
    assert not any(lane.trouble for lane in race.lanes)
    with pytest.raises(LmvizError, match="another model"):
        lmviz.race(tagged, {**said, "causal": False}, out=tmp_path, resume=True)


@pytest.mark.parametrize("folder", ["../run", "/tmp/run", "a/b", "C:\\run", "..", ".", ""])
def test_a_lane_lies_in_the_folder_of_its_race(folder: str, tmp_path: Path) -> None:
    lanes = [{"name": "first", "folder": folder}]
    values = {"format": "lmviz race", "format_version": 1, "turns": "steps", "lanes": lanes}
    (tmp_path / "race.json").write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(LmvizError, match=r"describes no race .*outside"):
        open_race(tmp_path)


def test_its_lanes_are_listed_among_the_runs_and_named_where_it_is_opened_as_one(
    corpus: Corpus, tmp_path: Path
) -> None:
    run_to_the_end(lmviz.race(corpus, {**RATES, "steps": 1}, out=tmp_path / "rates"))
    lmviz.train("gru", corpus, tmp_path / "alone", steps=1, width=8)
    titles = sorted(entry.title for entry in list_runs(tmp_path))
    assert titles == ["alone", "rates", "rates: learning_rate=0.001", "rates: learning_rate=0.03"]
    assert [entry.folder.name for entry in list_runs(tmp_path) if entry.has_lanes] == ["rates"]
    with pytest.raises(LmvizError, match=r"is a race, a folder of runs \(learning_rate="):
        lmviz.open_model(tmp_path / "rates")


def test_a_folder_without_runs_is_no_race(tmp_path: Path) -> None:
    with pytest.raises(LmvizError, match="holds no race"):
        open_race(tmp_path)


def test_a_race_of_which_one_lane_cannot_begin_leaves_the_runs_of_the_one_before(
    corpus: Corpus, tmp_path: Path
) -> None:
    settings = {**TINY, **small_settings("transformer"), "family": "transformer", "length": 6}
    run_to_the_end(lmviz.race(corpus, {**settings, "context": [6, 8]}, out=tmp_path))
    kept = Run.open(tmp_path / "context=8").metrics()
    with pytest.raises(LmvizError, match="at most 4 positions"):
        lmviz.race(corpus, {**settings, "context": [8, 4]}, out=tmp_path, overwrite=True)
    assert Run.open(tmp_path / "context=8").metrics() == kept
