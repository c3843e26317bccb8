"""The commands that check lessons and lectures, and count what was answered."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lmviz.base.errors import LmvizError
from lmviz.base.faults import FaultyText
from lmviz.base.plain_text import on_one_line
from lmviz.cli.options import as_json
from lmviz.cli.terminal import print_json, print_table, say, share_bar

if TYPE_CHECKING:
    from lmviz.lectures.course_page import CourseFolder
    from lmviz.lessons.results import LessonResult, QuestionCount, Results

MOST_WRONG = 3  # answers that are named
LONGEST_WORDS = 40  # characters in a table


@click.group()
def lesson() -> None:
    """Lessons of one's own: see docs/writing-a-lesson.md."""


@click.group()
def lecture() -> None:
    """Lectures of one's own: see docs/guide/lecture.md."""


@lesson.command("check")
@click.argument("file")
@as_json
def check(file: str, as_json: bool) -> int:
    """Say what is wrong with a lesson, line by line. FILE is its file, or the folder that holds lesson.md.
    Exit code 1 when something is."""
    from lmviz.lessons.reading import open_lesson

    def describe(perspectives: Collection[str]) -> tuple[str, dict[str, Any]]:
        found = open_lesson(file, perspectives)
        questions = sum(step.question is not None for step in found.steps)
        holds = f"{len(found.steps)} steps, {questions} questions"
        return f"{found.title}: {holds}", {"title": found.title, "steps": len(found.steps)}

    return _report(file, describe, as_json)


@lecture.command("check")
@click.argument("file")
@as_json
def check_lecture(file: str, as_json: bool) -> int:
    """Say what is wrong with a lecture, line by line, and with the scenes, lessons and polls that it names.
    Exit code 1 when something is."""
    from lmviz.lectures.reading import open_lecture

    def describe(perspectives: Collection[str]) -> tuple[str, dict[str, Any]]:
        found = open_lecture(file, perspectives)
        count = len(found.items)
        return f"{found.title}: {count} item{'' if count == 1 else 's'}", {
            "title": found.title,
            "items": count,
        }

    return _report(file, describe, as_json)


@lecture.command("page")
@click.argument("file")
@click.option("--out", required=True, metavar="FOLDER", help="The folder to write, for a web server.")
@as_json
def page_of_lecture(file: str, out: str, as_json: bool) -> None:
    """Write a lecture as web pages that answer the pointer, one for each item, with a list of them and the
    bundle to download. FILE is the lecture's."""
    from lmviz.app.panels.table import shown_perspectives
    from lmviz.lectures.course_page import write_course

    with share_bar("pages") as progress:
        made = write_course(file, out, [row.name for row in shown_perspectives()], progress)
    _tell_written(made, as_json)


@lesson.command("page")
@click.argument("lesson")
@click.option("--out", required=True, metavar="FOLDER", help="The folder to write, for a web server.")
@as_json
def page_of_lesson(lesson: str, out: str, as_json: bool) -> None:
    """Write a lesson as web pages that answer the pointer, one for each step, with a list of them. LESSON is
    its file, the folder that holds lesson.md, or the name or number of one that comes with lmviz."""
    from lmviz.app.panels.table import shown_perspectives
    from lmviz.lectures.course_page import write_lesson
    from lmviz.lessons.reading import open_lesson
    from lmviz.lessons.shipped import find_shipped

    perspectives = [row.name for row in shown_perspectives()]
    shipped = None if os.path.exists(lesson) else find_shipped(lesson, perspectives)
    found = shipped or open_lesson(lesson, perspectives)
    with share_bar("pages") as progress:
        made = write_lesson(found, out, perspectives, progress)
    _tell_written(made, as_json)


def _tell_written(made: CourseFolder, as_json: bool) -> None:
    """The files of a folder of pages, with their sizes."""
    files = [*made.pages, *([] if made.bundle is None else [made.bundle])]
    sizes = {file.name: file.stat().st_size for file in files}
    if as_json:
        print_json({"out": str(made.folder), "bytes": sizes})
        return
    print_table(("file", "bytes"), [(name, f"{size:,}") for name, size in sizes.items()])


@lesson.command("results")
@click.argument("files", nargs=-1, required=True)
@click.option("--csv", "table", metavar="FILE", help="write a table with a row for each step that was begun")
@click.option(
    "--bundle",
    "bundles",
    multiple=True,
    metavar="FILE",
    help="a bundle that was given out: the checksums of results of its lessons are checked with its key",
)
@as_json
def results(files: tuple[str, ...], table: str | None, bundles: tuple[str, ...], as_json: bool) -> int:
    """Count what many did and answered. FILES are the files of results that they saved and sent, folders that
    hold them, together or each in a folder of its own, or patterns such as "week-3/*.json". Exit code 1 when
    a JSON file holds none."""
    from lmviz.base.files import write_atomically
    from lmviz.lectures.bundle import bundle_key
    from lmviz.lessons.results import ENDING, count_questions, open_results, results_as_csv

    found, refused = {}, 0
    for name, path in _result_files(files, ENDING).items():
        try:
            found[name] = open_results(path)
        except LmvizError as sentence:  # one that is damaged does not hide the others
            refused += 1
            say(str(sentence))
    if not found:
        named = ", ".join(files)
        raise LmvizError(f"{named} holds no results: name the files that were sent (*{ENDING}).")
    keys = [bundle_key(Path(bundle)) for bundle in bundles]
    if table is not None:
        write_atomically(Path(table), results_as_csv(found, keys).encode("utf-8-sig"))
    people = [
        _described(name, results, lesson, keys)
        for name, results in found.items()
        for lesson in results.lessons
    ]
    questions = count_questions([*found.values()])
    if as_json:
        counted = [vars(count) | {"wrong": dict(count.wrong.most_common())} for count in questions]
        print_json({"people": people, "questions": counted})
    elif people:
        rows = [[_short(each) if isinstance(each, str) else each for each in row.values()] for row in people]
        print_table([name.replace("_", " ") for name in people[0]], rows)
        headings = ("lesson", "step", "answered", "right at once", "right", "hints", "wrong at first")
        print_table(headings, [_counted(count) for count in questions])
    return 1 if refused else 0


def _result_files(named: Sequence[str], ending: str) -> dict[str, Path]:
    """The files that are named, those in folders, and those that patterns match, each by a short name."""
    found: dict[str, Path] = {}
    for name in named:
        places = [name] if os.path.exists(name) else sorted(glob(name, recursive=True))
        if not places:
            raise LmvizError(f"There is no file or folder {name!r}: name those that hold results.")
        for place in map(Path, places):
            if os.path.isdir(place):
                inner = {
                    each.relative_to(place).with_suffix("").as_posix(): each
                    for each in sorted(place.rglob(f"*{ending}"))
                }
            else:
                inner = {place.stem: place}
            for short, path in inner.items():  # of two files of one name the second is called as it was named
                known = found.get(short)
                if known is None or known.resolve() != path.resolve():
                    found[short if known is None else path.with_suffix("").as_posix()] = path
    return found


def _described(file: str, results: Results, lesson: LessonResult, keys: Sequence[str]) -> dict[str, Any]:
    """How far one person came in a lesson."""
    return {
        "file": file,
        "student": results.student,
        "date": results.date,
        "checksum": results.verdict_on(lesson, keys),
        "lesson": lesson.title,
        "steps": len(lesson.steps),
        "done": sum(step.is_done for step in lesson.steps),
        "answered": sum(bool(step.answers) for step in lesson.steps),
        "right_at_once": sum(step.is_right_at_once for step in lesson.steps),
        "right": sum(step.is_right for step in lesson.steps),
    }


def _counted(count: QuestionCount) -> list[object]:
    """A row of the table of questions."""
    wrong = ", ".join(f"“{_short(words)}” ×{number}" for words, number in count.wrong.most_common(MOST_WRONG))
    numbers = (count.answered, count.right_at_once, count.right, count.hints)
    return [_short(count.lesson), _short(count.step), *numbers, wrong]


def _short(words: str) -> str:
    """Words of a stranger on one line, cut where they are long."""
    line = on_one_line(words)
    return line if len(line) <= LONGEST_WORDS else f"{line[: LONGEST_WORDS - 1]}…"


def _report(
    file: str, describe: Callable[[Collection[str]], tuple[str, dict[str, Any]]], as_json: bool
) -> int:
    """Print what a file holds, in words or in JSON, or every fault behind its line; the exit code."""
    from lmviz.app.panels.table import shown_perspectives

    try:
        words, values = describe([row.name for row in shown_perspectives()])
    except FaultyText as fault:
        faults = [{"line": each.line, "sentence": each.sentence} for each in fault.faults]
        if as_json:
            print_json({"sound": False, "faults": faults})
        else:
            for each in fault.faults:
                print(f"{file}:{each.line}: {each.sentence}")
        return 1
    if as_json:
        print_json({"sound": True, **values, "faults": []})
    else:
        print(f"{words}. Nothing is wrong with it.")
    return 0
