"""Two series of another program stand in a race beside each other."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from trained_series import transformers_series

from lmviz.app.session.session import Session
from lmviz.runs.race_folder import is_race
from lmviz.runs.race_table import lane_results

LONG = 30_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("two series")
    transformers_series(place / "narrow", steps=4)
    transformers_series(place / "llama", kind="llama", steps=8)
    return place


def test_series_in_one_folder_are_the_lanes_of_a_race(session: Session, folder: Path, qtbot: QtBot) -> None:
    assert is_race(folder)
    session.race.open(folder)
    qtbot.waitUntil(lambda: len(session.library.models) == 2, timeout=LONG)
    lanes = {lane.name: lane for lane in session.race.lanes}
    assert {name: lane.step for name, lane in lanes.items()} == {"llama": 8, "narrow": 4}
    assert not any(lane.can_go_on for lane in lanes.values())
    assert "learning_rate" not in lanes["llama"].settings, "nobody has said which it was"
    assert lanes["llama"].tokens_a_step is None
    by_name = {model.folder.name: model for model in session.library.models}
    session.library.choose(by_name["llama"])
    session.library.choose_step(2)
    qtbot.waitUntil(
        lambda: [(model.folder.name, step) for model, step in session.comparison.chosen] == [("narrow", 2)]
    )


def test_what_lanes_of_other_programs_came_to_is_told_and_no_more(folder: Path) -> None:
    results = lane_results({"narrow": folder / "narrow", "llama": folder / "llama"})
    assert [(result.step, result.trouble) for result in results] == [(4, ""), (8, "")]
    assert "learning_rate" not in results[0].settings
    assert results[0].settings["norm_kind"] == "layer"
