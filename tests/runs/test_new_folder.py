"""The folders of runs that are begun: named after the moment, and never one that is there."""

from datetime import datetime
from pathlib import Path

import pytest

from lmviz.runs import new_folder as module
from lmviz.runs.new_folder import new_folder


class Noon(datetime):
    @classmethod
    def now(cls, tz: object = None) -> datetime:
        return datetime(2026, 1, 1, 12)


def test_no_two_runs_of_one_second_get_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock may tell the time in steps as large as a microsecond, and a small model is trained in 0.3 s."""
    monkeypatch.setattr(module, "datetime", Noon)
    made = []
    for _ in range(200):
        made.append(new_folder(tmp_path, "lstm a text"))
        made[-1].mkdir()
    assert made[0].name == "2026-01-01-120000-lstm-a-text"
    assert len({folder.name for folder in made}) == 200


@pytest.mark.parametrize("letter", ["a", "語", "𠀀", "é"])
def test_a_text_of_a_long_name_gives_a_folder_that_can_be_made(tmp_path: Path, letter: str) -> None:
    for _ in range(2):
        folder = new_folder(tmp_path, f"lstm {letter * 200}")
        folder.mkdir()
        assert len(folder.name.encode()) < 180
        assert set(folder.name.partition("-lstm-")[2]) <= {letter, "-", "2"}
