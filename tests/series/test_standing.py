"""How the training of a series stands."""

import json
import os

import pytest

from lmviz.series.standing import Standing, ago, planned_steps, standing_of, written_at

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("standing", "said"),
    [
        (Standing(850, NOW - 40, apart=30.0, planned=1000), "watching · newest 40 s ago"),
        (Standing(1000, NOW - 40, apart=30.0, planned=1000), "trained by another program"),
        (Standing(850, NOW - 300, apart=90.0), "no new checkpoint · newest 5 min ago"),
        (Standing(850, NOW - 300, apart=150.0), "watching · newest 5 min ago"),
        (Standing(850, NOW - 50), "watching · newest 50 s ago"),
        (Standing(850, NOW - 200_000, apart=100_000.0), "trained by another program"),
        (Standing(850, NOW + 5, apart=1.0), "watching · newest 0 s ago"),
    ],
)
def test_a_training_is_watched_until_its_end_or_until_nothing_comes(standing, said):
    assert standing.in_words(NOW) == said


def test_the_newest_and_the_longest_wait_are_read_off_the_files(tmp_path):
    steps = {}
    for step, moment in ((10, 1000), (20, 1100), (30, 1130)):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"\0")
        os.utime(folder / "model.safetensors", (moment, moment))
        steps[step] = folder
    (steps[30] / "trainer_state.json").write_text(json.dumps({"max_steps": 50}))
    assert standing_of(steps) == Standing(30, 1130.0, apart=100.0, planned=50)
    (steps[30] / "trainer_state.json").write_text('{"max_st')  # as it is being written
    assert standing_of(steps) == Standing(30, 1130.0, apart=100.0)
    assert planned_steps(steps[10]) is None
    assert written_at(tmp_path / "nothing") is None
    assert standing_of({}) is None


def test_times_in_words():
    assert [ago(seconds) for seconds in (0, 99, 100, 5999, 7200, 200_000)] == [
        *("0 s ago", "99 s ago", "2 min ago", "100 min ago", "2 h ago", "2 days ago")
    ]
