"""`lmviz lesson check`: what is wrong stands behind the file and its line, as compilers say it."""

import json
from pathlib import Path

import pytest

from lmviz.cli import run
from lmviz.lessons.shipped import shipped_files
from tests.lessons.test_reading import BROKEN, WHOLE


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    """A lesson with which nothing is wrong, as its only file."""
    path = tmp_path / "counting.md"
    path.write_text(WHOLE, encoding="utf-8")
    return path


def test_a_sound_lesson_is_said_to_be_sound(lesson: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lesson", "check", str(lesson)]) == 0
    assert capsys.readouterr().out == "Counting: 2 steps, 2 questions. Nothing is wrong with it.\n"
    assert run(["lesson", "check", str(lesson), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"sound": True, "title": "Counting", "steps": 2, "faults": []}


@pytest.mark.parametrize("what", BROKEN)
def test_a_fault_of_each_kind_is_said_at_its_line(
    lesson: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after, line, words = BROKEN[what]
    lesson.write_text(WHOLE.replace(before, after), encoding="utf-8")
    assert run(["lesson", "check", str(lesson)]) == 1
    told = capsys.readouterr().out.splitlines()
    assert any(said.startswith(f"{lesson}:{line}: ") and words in said for said in told), told
    assert run(["lesson", "check", str(lesson), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert not said["sound"]
    assert line in [fault["line"] for fault in said["faults"]]


def test_a_folder_is_checked_with_what_lies_beside_its_lesson(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "lesson.md").write_text(WHOLE.replace("text farm", "text ./mine.txt"), encoding="utf-8")
    assert run(["lesson", "check", str(folder)]) == 1
    assert f"{folder}:8: " in capsys.readouterr().out
    (folder / "mine.txt").write_text("one two", encoding="utf-8")
    assert run(["lesson", "check", str(folder)]) == 0
    assert "Nothing is wrong" in capsys.readouterr().out


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_what_is_no_text_or_not_there_gets_one_sentence(
    tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "any.md"
    if content is not None:
        path.write_bytes(content)
    assert run(["lesson", "check", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert run(["lesson", "check", str(tmp_path)]) == 2
    assert "holds no lesson" in capsys.readouterr().err


def test_every_lesson_of_the_course_is_sound(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(shipped_files()) == 19
    assert [path.name for path in shipped_files() if run(["lesson", "check", str(path)])] == []
