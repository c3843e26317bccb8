"""Runs are called by what they are, and by the time only where nobody has named them."""

from datetime import datetime
from pathlib import Path

import pytest

from lmviz.runs.run_list import list_runs
from lmviz.runs.run_title import run_title, title_of
from lmviz.training.description import RunDescription
from lmviz.training.run import Run

NOW = datetime(2026, 11, 22, 12)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("2026-11-22-033511-gru-shakes", "GRU on shakes, 03:35"),
        ("2026-11-21-233511-gru-shakes", "GRU on shakes, 21 Nov 23:35"),
        ("2025-01-02-033511-gru-shakes", "GRU on shakes, 2 Jan 2025, 03:35"),
        ("2026-99-22-033511-gru-shakes", "2026-99-22-033511-gru-shakes"),
        ("my best model", "my best model"),
    ],
)
def test_a_run_is_called_by_its_family_its_text_and_its_time(name: str, title: str) -> None:
    assert run_title(name, "gru", "shakes", NOW) == title


def make(folder: Path, text: str = "shakes", **values: object) -> Run:
    description = RunDescription(folder.name, "gru", {}, 9, corpus={"name": text}, **values)
    return Run.create(folder, description)


def test_a_run_can_be_renamed_and_its_folder_stays(tmp_path: Path) -> None:
    run = make(tmp_path / "2026-11-22-033511-gru-shakes")
    run.rename("  my best model ")
    again = Run.open(run.folder)
    assert again.folder.name == "2026-11-22-033511-gru-shakes"
    assert again.description.name == run.description.name == title_of(again.description) == "my best model"
    run.rename("")
    assert title_of(Run.open(run.folder).description).startswith("GRU on shakes, ")


def test_renaming_keeps_what_another_program_has_written_meanwhile(tmp_path: Path) -> None:
    stale = make(tmp_path / "run")
    Run.open(stale.folder).change_training({**stale.description.training, "steps": 77})
    stale.rename("mine")
    assert Run.open(stale.folder).description.options.steps == 77


def test_runs_are_listed_newest_first_and_what_is_none_is_left_out(tmp_path: Path) -> None:
    make(tmp_path / "older", created="2026-11-20T01:00:00+00:00")
    make(tmp_path / "newer", created="2026-11-21T01:00:00+00:00")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("no run")
    (tmp_path / "empty").mkdir()
    listed = list_runs(tmp_path)
    assert [entry.folder.name for entry in listed] == ["newer", "older"]
    assert (listed[0].family, listed[0].text, listed[0].steps) == ("GRU", "shakes", 2000)
    assert list_runs(tmp_path / "missing") == ()
