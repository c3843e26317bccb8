"""The commands that check lessons and lectures."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import click

from lmviz.base.faults import FaultyText
from lmviz.cli.options import as_json
from lmviz.cli.terminal import print_json


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
