"""Races and their tables from the command line."""

import os
import signal
import time
from pathlib import Path

import pytest
from command_line import said, start, train_words, wait_for
from patience import patience

from lmviz.cli import run
from lmviz.runs.race_folder import open_race
from lmviz.training.run import Run

RATES = ("--race", "learning_rate=0.0003,0.002,0.01", "--steps", "4", "--set", "validate_every=2")


def test_a_race_prints_what_differs_and_what_each_lane_came_to(small_text, tmp_path, capsys):
    assert run(train_words("gru", small_text, tmp_path / "race", *RATES)) == 0
    printed = capsys.readouterr()
    assert "3 trainings in turn, which take about" in printed.err
    assert "learning_rate=0.002: step 4/4" in printed.err
    head, *rows = [line.split() for line in printed.out.splitlines() if line.strip()]
    assert head == ["learning_rate", "loss", "validation", "best", "tokens/s", "state"]
    assert [row[0] for row in rows if row[-1] == "finished"] == ["0.0003", "0.002", "0.01"]
    assert next(iter(open_race(tmp_path / "race").lanes)) == "learning_rate=0.0003"


@pytest.mark.slow
def test_a_race_goes_on_from_its_folder_alone_and_further(small_text, tmp_path, capsys):
    out = tmp_path / "race"
    run(train_words("gru", small_text, out, *RATES))
    capsys.readouterr()
    assert run(["train", "--resume", "--out", str(out), "--steps", "6", "--json"]) == 0
    printed = said(capsys)[0]
    assert [lane["settings"] for lane in printed["lanes"]] == [
        {"learning_rate": rate} for rate in (0.0003, 0.002, 0.01)
    ]
    assert {(lane["step"], lane["stopped"]) for lane in printed["lanes"]} == {(6, "finished")}


def test_two_settings_make_a_grid_and_seeds_a_band(small_text, tmp_path, capsys):
    words = ["train", "--corpus", str(small_text), "--race", "family=gru,lstm", "--race", "seed=0,1"]
    more = ["--set", "width=4", "--steps", "2", "--out", str(tmp_path / "race")]
    assert run([*words, *more]) == 0
    printed = capsys.readouterr().out
    assert printed.count("finished") == 4
    assert "family=gru: best " in printed
    assert "on average over 2 seeds" in printed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--race", "learning_rate=0.1"), "has one value"),
        (("--race", "width=8,nine"), "must be a whole number"),
        (("--race", "widht=8,9"), "did you mean width?"),
        (("--race", "seed=0,1", "--fork", "run"), "A fork is one training"),
        (("--race", "seed=0,1,2,3,4,5,6"), "1 to 6 lanes"),
    ],
)
def test_what_makes_no_race_is_one_sentence(words, told, small_text, tmp_path, capsys):
    assert run(train_words("gru", small_text, tmp_path / "race", *words)) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "race").exists()


@pytest.mark.slow
def test_a_race_is_not_begun_over_another(small_text, tmp_path, capsys):
    words = train_words("gru", small_text, tmp_path / "race", *RATES)
    assert run(words) == 0
    assert run(words) == 2
    assert "continue with --resume, replace it with --overwrite" in capsys.readouterr().err
    assert run([*words, "--overwrite"]) == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signal")
def test_an_interrupt_saves_every_lane(small_text: Path, tmp_path: Path) -> None:
    out = tmp_path / "race"
    more = ("--race", "seed=0,1", "--steps", "5000", "--set", "snapshots=5000")
    process = start(*train_words("rnn", small_text, out, *more))
    wait_for((out / "seed=1" / "snapshots" / "000003.safetensors").exists, process)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=60 * patience())
    assert process.returncode == 128 + signal.SIGINT
    assert "Continue with: lmviz train --resume --out" in printed
    assert all(Run.open(folder).is_resumable for folder in open_race(out).lanes.values())
