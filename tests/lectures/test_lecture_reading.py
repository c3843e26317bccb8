"""Lectures as text: what is read, what is refused at its line, and what saving adds."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.app.panels.table import shown_perspectives
from lmviz.base.errors import LmvizError
from lmviz.cli import run
from lmviz.desktop.scene import Scene, open_scene, save_scene
from lmviz.lectures.lecture import ShownPoll, ShownScene, ShownStep
from lmviz.lectures.reading import LectureFault, add_scene, is_lecture, open_lecture, read_lecture

PERSPECTIVES = [row.name for row in shown_perspectives()]
WHOLE = """# Counting
about: One sentence.

## First
scene: ./first.lmviz

Say **this**.

## Second
step: counting 2

## Third
poll: order
## Fourth
step: ./own.md 1
## Fifth
poll: ./own.poll
"""
LESSON = "# Own\n\n## A step\nperspective: corpus\n\nSay.\n"
POLL = "question: Which?\nA: a\nB: b\nright: A\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all that the lecture names."""
    save_scene(Scene("attention", prefix="the cows"), tmp_path / "first.lmviz")
    (tmp_path / "own.md").write_text(LESSON, encoding="utf-8")
    (tmp_path / "own.poll").write_text(POLL, encoding="utf-8")
    return tmp_path


def faults(text: str, folder: Path) -> list[tuple[int, str]]:
    with pytest.raises(LectureFault) as refused:
        read_lecture(text, PERSPECTIVES, folder / "my.lecture")
    return [(fault.line, fault.sentence) for fault in refused.value.faults]


def test_a_lecture_is_read_in_its_order(folder: Path) -> None:
    found = read_lecture(WHOLE, PERSPECTIVES, folder / "my.lecture")
    assert (found.title, found.about) == ("Counting", "One sentence.")
    assert [item.title for item in found.items] == ["First", "Second", "Third", "Fourth", "Fifth"]
    assert [item.line for item in found.items] == [4, 9, 12, 14, 16]
    assert [item.notes for item in found.items] == ["Say **this**.", "", "", "", ""]
    first, second, third, fourth, fifth = (item.shown for item in found.items)
    assert isinstance(first, ShownScene)
    assert (first.path, first.scene.prefix) == (folder / "first.lmviz", "the cows")
    assert isinstance(second, ShownStep)
    assert (second.lesson.name, second.number, second.step) == ("counting", 1, second.lesson.steps[1])
    assert isinstance(fourth, ShownStep)
    assert fourth.step.title == "A step"
    assert isinstance(third, ShownPoll)
    assert third.poll.title == "Order"
    assert isinstance(fifth, ShownPoll)
    assert fifth.poll.question == "Which?"


def test_a_lecture_names_its_language_and_is_english_without(folder: Path) -> None:
    path = folder / "my.lecture"
    assert read_lecture(WHOLE, PERSPECTIVES, path).language == "en"
    german = WHOLE.replace("about: One sentence.", "about: Ein Satz.\nlanguage: de")
    assert read_lecture(german, PERSPECTIVES, path).language == "de"


def test_a_step_or_a_poll_may_stand_on_a_scene_and_say_its_minutes(folder: Path) -> None:
    text = WHOLE.replace("poll: order", "scene: ./first.lmviz\npoll: order\nminutes: 2.5")
    text = text.replace("step: counting 2", "step: counting 2\nscene: ./first.lmviz")
    first, second, third, *others = read_lecture(text, PERSPECTIVES, folder / "my.lecture").items
    assert isinstance(first.shown, ShownScene)
    assert (first.scene, first.minutes) == (None, None)
    assert isinstance(second.shown, ShownStep)
    assert isinstance(third.shown, ShownPoll)
    assert third.minutes == 2.5
    for item in (second, third):
        assert item.scene is not None
        assert item.scene.path == folder / "first.lmviz"
        assert item.scene.pins == {"prefix"}, "the step opens its text and its network, and not its prefix"
    assert not any(item.scene for item in others)


BROKEN = {
    "a language that is none": ("about: One sentence.", "language: deutsch", 2, "not a tag of a language"),
    "no title": ("# Counting\n", "", 1, "begins with its title"),
    "no items": (WHOLE[WHOLE.index("## First") :], "", 1, "at least one part"),
    "an unknown entry": ("poll: order", "pol: order", 13, "did you mean poll?"),
    "an item that shows nothing": ("poll: order\n", "Only words.\n", 12, "shows nothing"),
    "an item that shows two things": (
        "poll: order",
        "poll: order\nstep: counting 1",
        14,
        "shows one step or one poll",
    ),
    "minutes that are none": ("poll: order", "poll: order\nminutes: ten", 14, "are not minutes"),
    "minutes without what is shown": ("poll: order", "minutes: 5", 12, "shows nothing"),
    "nothing after the colon": ("poll: order", "poll:", 13, "nothing stands after"),
    "a scene of no folder": ("scene: ./first.lmviz", "scene: first.lmviz", 5, "begin with ./"),
    "a scene elsewhere": ("./first.lmviz", "./../first.lmviz", 5, "is not beside the lecture"),
    "a scene that is not there": ("./first.lmviz", "./none.lmviz", 5, "there is no './none.lmviz'"),
    "a scene that is none": ("./first.lmviz", "./own.md", 5, "own.md is not a scene"),
    "an unknown poll": ("poll: order", "poll: ordre", 13, "did you mean order?"),
    "a poll with a fault": ("./own.poll", "./own.md", 17, "./own.md: "),
    "an unknown lesson": ("counting 2", "countin 2", 10, "did you mean counting?"),
    "a step without its number": ("counting 2", "counting", 10, "is not a step"),
    "a step of no number": ("counting 2", "counting ²", 10, "is not a step"),
    "a step beyond the last": ("counting 2", "counting 99", 10, "has steps 1 to"),
    "a lesson that is none": ("./own.md 1", "./own.poll 1", 15, "./own.poll 1: Line 1"),
    "too many items": ("poll: order\n", "poll: order\n" + "## More\npoll: order\n" * 100, 208, "at most 100"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_is_said_at_its_line(folder: Path, what: str) -> None:
    before, after, line, words = BROKEN[what]
    text = WHOLE.replace(before, after)
    assert text != WHOLE
    said = [sentence for at, sentence in faults(text, folder) if at == line]
    assert any(words in sentence for sentence in said), faults(text, folder)


@pytest.mark.parametrize(
    "line", ["word: what a token is", "do: say it slowly", "question: Why?", "step\\: one"]
)
def test_notes_may_begin_with_any_word_that_is_no_entry_of_a_lecture(folder: Path, line: str) -> None:
    found = read_lecture(
        WHOLE.replace("Say **this**.", f"{line}\n  more"), PERSPECTIVES, folder / "my.lecture"
    )
    assert found.items[0].notes == f"{line}\n  more"


@pytest.mark.parametrize("line", ["stop: let them guess", "about: ten minutes", "Poll: hands up"])
def test_who_means_notes_by_what_looks_like_an_entry_is_told_how_to_write_it(folder: Path, line: str) -> None:
    at, said = faults(WHOLE.replace("Say **this**.", line), folder)[0]
    assert at == 7
    assert f"write “{line.partition(':')[0]}\\:”." in said


def test_a_link_out_of_the_folder_is_not_followed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "other.lmviz"
    save_scene(Scene("attention"), outside)
    (folder / "first.lmviz").unlink()
    os.symlink(outside, folder / "first.lmviz")
    assert (5, "'./first.lmviz' is not beside the lecture: put it there, and begin with ./") in faults(
        WHOLE, folder
    )


PIECES = st.sampled_from([*WHOLE.split("\n"), "# ", "##", "scene: ./\0", "step: ./. 1", "poll: ./", "  more"])


@given(st.lists(PIECES | st.text(max_size=30), max_size=20).map("\n".join))
def test_any_text_is_a_lecture_or_has_faults(folder: Path, text: str) -> None:
    try:
        items, told = read_lecture(text, PERSPECTIVES, folder / "my.lecture").items, ()
    except LectureFault as refused:
        items, told = (), refused.faults
    assert items or told
    assert all(0 < fault.line <= text.count("\n") + 1 for fault in told)


@given(st.binary(max_size=200))
def test_any_file_is_a_lecture_or_is_refused_in_words(folder: Path, content: bytes) -> None:
    path = folder / "any.lecture"
    path.write_bytes(content)
    with pytest.raises(LmvizError):
        open_lecture(path, PERSPECTIVES)


def test_saving_begins_a_lecture_and_adds_to_it(tmp_path: Path) -> None:
    path = tmp_path / "new.lecture"
    assert is_lecture(path)
    first = add_scene(path, "One", Scene("attention", prefix="the cows"))
    path.write_text(path.read_text("utf-8") + "\nA note that was written by hand.\n\n\n", encoding="utf-8")
    second = add_scene(path, "Two", Scene("corpus", prefix="the hens"))
    assert [first.name, second.name] == ["new-1.lmviz", "new-2.lmviz"]
    found = open_lecture(path, PERSPECTIVES)
    assert found.title == "new"
    assert [(item.title, item.notes) for item in found.items] == [
        ("One", "A note that was written by hand."),
        ("Two", ""),
    ]
    assert open_scene(second).prefix == "the hens"
    first.unlink()
    assert add_scene(path, "Three", Scene("corpus")).name == "new-1.lmviz"


def test_the_command_says_what_is_wrong_or_that_nothing_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "my.lecture"
    path.write_text(WHOLE, encoding="utf-8")
    assert run(["lecture", "check", str(path)]) == 0
    assert capsys.readouterr().out == "Counting: 5 items. Nothing is wrong with it.\n"
    assert run(["lecture", "check", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "sound": True,
        "title": "Counting",
        "items": 5,
        "faults": [],
    }
    path.write_text(WHOLE.replace("counting 2", "counting 99"), encoding="utf-8")
    assert run(["lecture", "check", str(path)]) == 1
    assert capsys.readouterr().out.startswith(f"{path}:10: ")
    assert run(["lecture", "check", str(folder / "none.lecture")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
