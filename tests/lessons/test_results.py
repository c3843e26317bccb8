"""Results: what is kept of a lesson, read back whatever a file holds, and counted over many."""

import csv
import io
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.cli import run
from lmviz.lectures.bundle import bundle_key, pack, unpack
from lmviz.lectures.reading import open_lecture
from lmviz.lessons.expression import Literal
from lmviz.lessons.lesson import Lesson, LessonQuestion, Step
from lmviz.lessons.reading import open_lesson, read_lesson
from lmviz.lessons.results import (
    MOST,
    GivenAnswer,
    LessonResult,
    Results,
    StepResult,
    count_questions,
    evidence_hash,
    key_beside,
    lesson_hash,
    open_results,
    results_as_csv,
)

WORDS = st.text(max_size=20)
ANSWERS = st.builds(GivenAnswer, WORDS, st.booleans())
STEPS = st.builds(
    StepResult,
    WORDS,
    WORDS,
    st.integers(0, 9),
    st.integers(0, 9),
    st.booleans(),
    st.lists(ANSWERS, max_size=4).map(tuple),
)
LESSONS = st.builds(LessonResult, WORDS, WORDS, st.lists(STEPS, max_size=4).map(tuple))
RESULTS = st.builds(Results, st.lists(LESSONS, max_size=3).map(tuple))


def asked(*titles: str) -> Lesson:
    question = LessonQuestion("How many?", Literal("11"))
    return Lesson("cows", "Cows", 1, "", tuple(Step(title, "Say.", 1, question=question) for title in titles))


def answered(*words: str) -> StepResult:
    """The first step, answered so; 11 is right."""
    answers = tuple(GivenAnswer(each, each == "11") for each in words)
    return StepResult("One", "How many?", 0, 0, False, answers)


@given(RESULTS)
def test_results_are_read_as_they_were_written(results: Results) -> None:
    assert Results.from_bytes(results.to_bytes(), "mine.json") == results


@given(RESULTS, st.data())
def test_a_damaged_file_is_read_or_refused_in_words(results: Results, data: st.DataObject) -> None:
    content = bytearray(results.to_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    with suppress(LmvizError):
        Results.from_bytes(bytes(content), "mine.json").to_bytes()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["lessons", "steps", "name", "title", "answers", "words", "right"]), inner
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["lessons", "format_version", "format"]), VALUES))
def test_any_json_is_read_or_refused_in_words(values: dict[str, object]) -> None:
    with suppress(LmvizError):
        Results.from_bytes(
            json.dumps({"format": "lmviz results", "format_version": 1} | values).encode(), "x"
        )


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[1]", b"[" * 100_000, b'{"format": "lmviz scene"}'])
def test_what_is_no_results_is_refused_in_words(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mine.json").write_bytes(content)
    with pytest.raises(LmvizError, match=r"mine\.json holds no results"):
        open_results(tmp_path / "mine.json")
    with pytest.raises(LmvizError, match="cannot be read"):
        open_results(tmp_path)


def test_what_was_done_stays_and_is_not_taken_back() -> None:
    result = LessonResult.of(asked("One", "Two"))
    assert not result.is_begun
    result = result.at(0, 2, True, GivenAnswer("12", False)).at(0, 1, False, GivenAnswer("11", True))
    assert result.steps[0] == StepResult(
        "One", "How many?", 0, 2, True, (GivenAnswer("12", False), GivenAnswer("11", True))
    )
    assert (result.steps[0].is_right, result.steps[0].is_right_at_once) == (True, False)
    for _ in range(2 * MOST):
        result = result.at(1, 0, False, GivenAnswer("1", False))
    assert len(result.steps[1].answers) == MOST
    later = LessonResult.of(asked("One", "Two, changed", "Three"), result)
    assert later.steps[0] == result.steps[0]
    assert [step.answers for step in later.steps[1:]] == [(), ()], "they ask something else now"


def test_many_are_counted_by_question() -> None:
    given_by = [("11",), ("12", "11"), (" 12 ", "13"), ()]
    many = [Results((LessonResult("cows", "Cows", (answered(*words),)),)) for words in given_by]
    [count] = count_questions(many)
    assert (count.answered, count.right_at_once, count.right) == (3, 1, 2)
    assert dict(count.wrong) == {"12": 2}


def test_the_command_prints_a_table_of_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, words in {"a": ("11",), "b": ("12", "11")}.items():
        results = Results((LessonResult("cows", "Cows\u202e", (answered(*words),)),))
        (tmp_path / f"{name}.json").write_bytes(results.to_bytes())
    (tmp_path / "notes.txt").write_text("no results, and none of its business")
    assert run(["lesson", "results", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "“12” ×1" in printed
    assert "\u202e" not in printed
    (tmp_path / "c.json").write_text("{}")
    assert run(["lesson", "results", str(tmp_path), "--json"]) == 1
    captured = capsys.readouterr()
    assert "c.json holds no results" in captured.err
    said = json.loads(captured.out)
    assert [(each["file"], each["right_at_once"], each["right"]) for each in said["people"]] == [
        ("a", 1, 1),
        ("b", 0, 1),
    ]
    assert said["questions"][0]["wrong"] == {"12": 1}


def test_each_may_lie_in_a_folder_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a platform hands them out: all files have the name that lmviz proposes."""
    for name in ("ann", "ben"):
        (tmp_path / name).mkdir()
        results = Results((LessonResult("cows", "Cows", (answered("11"),)),))
        (tmp_path / name / "results.json").write_bytes(results.to_bytes())
    assert run(["lesson", "results", str(tmp_path), "--json"]) == 0
    people = json.loads(capsys.readouterr().out)["people"]
    assert [each["file"] for each in people] == ["ann/results", "ben/results"]


def test_files_and_patterns_are_counted_each_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for file in ("one", "two"):
            results = Results((LessonResult("cows", "Cows", (answered("11"),)),))
            (tmp_path / name / f"{file}.json").write_bytes(results.to_bytes())
    monkeypatch.chdir(tmp_path)

    def counted(*named: str) -> list[str]:
        assert run(["lesson", "results", *named, "--json"]) == 0
        return [each["file"] for each in json.loads(capsys.readouterr().out)["people"]]

    assert counted("a/one.json") == ["one"]
    assert counted("a/*.json", "a/one.json") == ["one", "two"]
    assert counted("*/one.json") == ["one", "b/one"]
    assert counted("a", "b/two.json") == ["one", "two", "b/two"]


def test_a_folder_without_results_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lesson", "results", str(tmp_path)]) == 2
    assert "holds no results" in capsys.readouterr().err
    assert run(["lesson", "results", str(tmp_path / "gone")]) == 2
    assert "There is no file or folder" in capsys.readouterr().err


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle of a lesson of one's own."""
    (tmp_path / "own.md").write_text(
        "# Own\n\n## Add\nquestion: 1 + 1?\nanswer: 2\n\nAdd.\n", encoding="utf-8"
    )
    return pack(tmp_path / "own.md", tmp_path / "own.lmvizbundle", ())


def handed_in(lesson: Lesson, student: str, *answers: str, key: str | None) -> Results:
    """The results of a student who answered the first question so."""
    found = LessonResult.of(lesson)
    for words in answers:
        found = found.at(0, 0, False, GivenAnswer(words, words == "2", evidence_hash(2.0)))
    return Results((found,)).signed(student, "2026-11-29", "1.0", lambda _: key)


def test_four_results_are_counted_and_the_one_that_was_changed_is_seen(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = unpack(bundle, tmp_path / "unpacked")
    lesson, key = open_lesson(opened, ()), bundle_key(bundle)
    assert key == key_beside(opened.parent)
    folder = tmp_path / "sent"
    folder.mkdir()
    given = {"ann": ("2",), "ben": ("3", "2"), "cleo": ("3",), "dan": ("4", "2")}
    for student, answers in given.items():
        (folder / f"{student}.json").write_bytes(handed_in(lesson, student, *answers, key=key).to_bytes())
    changed = (folder / "cleo.json").read_text("utf-8").replace('"right": false', '"right": true')
    (folder / "cleo.json").write_text(changed, encoding="utf-8")
    table = tmp_path / "table.csv"
    assert (
        run(["lesson", "results", str(folder), "--bundle", str(bundle), "--csv", str(table), "--json"]) == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert {each["student"]: each["checksum"] for each in told["people"]} == {
        "ann": "sound",
        "ben": "sound",
        "cleo": "changed",
        "dan": "sound",
    }
    assert told["questions"][0]["answered"] == 4
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert [rows[name]["right_at_once"] for name in given] == ["yes", "no", "yes", "no"]
    assert (rows["dan"]["first_wrong"], rows["dan"]["right"], rows["dan"]["tries"]) == ("4", "yes", "2")
    assert rows["cleo"]["checksum"] == "changed"
    assert run(["lesson", "results", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {each["checksum"] for each in told["people"]} == {"of an unknown bundle"}


@pytest.mark.parametrize("field", ["student", "date", "version"])
def test_whoever_takes_anothers_results_is_seen(field: str) -> None:
    lesson = read_lesson("# Own\n\n## Add\nquestion: 1 + 1?\nanswer: 2\n\nAdd.\n", (), "own")
    results = handed_in(lesson, "ann", "2", key="")
    assert results.verdict_on(results.lessons[0]) == "sound"
    taken = Results.from_bytes(replace(results, **{field: "other"}).to_bytes(), "x.json")
    assert taken.verdict_on(taken.lessons[0]) == "changed"


def test_results_of_the_first_version_are_read_and_have_no_checksum() -> None:
    values = {"format": "lmviz results", "format_version": 1}
    lesson = {"name": "cows", "title": "Cows", "steps": []}
    found = Results.from_bytes(json.dumps({**values, "lessons": [lesson]}).encode(), "old.json")
    assert found.verdict_on(found.lessons[0]) == "without a checksum"
    assert found.student == ""


def test_no_cell_of_the_table_is_a_formula() -> None:
    lesson = read_lesson("# Own\n\n## Add\nquestion: 1 + 1?\nanswer: 2\n\nAdd.\n", (), "own")
    results = handed_in(lesson, "=cmd", "-0.5", "+SUM(A1)", key="")
    [row] = csv.DictReader(io.StringIO(results_as_csv({"@mine": results})))
    assert (row["file"], row["student"], row["first_answer"]) == ("'@mine", "'=cmd", "-0.5")


def test_another_lesson_has_another_hash_and_the_same_one_elsewhere_has_not() -> None:
    text = "# Own\n\n## Add\nquestion: 1 + 1?\nanswer: 2\n\nAdd.\n"
    one = read_lesson(text, (), "own")
    assert lesson_hash(one) == lesson_hash(replace(one, folder=Path("elsewhere")))
    assert lesson_hash(one) != lesson_hash(read_lesson(text.replace("1 + 1", "2 - 0"), (), "own"))


def test_a_bundle_without_notes_has_none(tmp_path: Path) -> None:
    path = tmp_path / "my.lecture"
    first = "## First\nstep: counting 1\nminutes: 5\n\nA **secret**.\n\n"
    text = f"# Mine\nabout: One\n  thing.\n\n{first}## Second\npoll: order\n"
    path.write_text(text, encoding="utf-8")
    names = ("corpus", "train", "sample")
    for notes in (True, False):
        out = pack(path, tmp_path / f"{notes}.lmvizbundle", names, notes=notes)
        content = unpack(out, tmp_path / "unpacked").read_text("utf-8")
        assert ("secret" in content) is notes
        assert ("minutes" in content) is notes
        lecture = open_lecture(unpack(out, tmp_path / "unpacked"), names)
        assert [item.title for item in lecture.items] == ["First", "Second"]
        assert lecture.about == "One thing."
