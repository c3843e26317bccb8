"""The command that checks lessons."""

from __future__ import annotations

import click

from lmviz.cli.options import as_json
from lmviz.cli.terminal import print_json


@click.group()
def lesson() -> None:
    """Lessons of one's own: see docs/writing-a-lesson.md."""


@lesson.command("check")
@click.argument("file")
@as_json
def check(file: str, as_json: bool) -> int:
    """Say what is wrong with a lesson, line by line. FILE is its file, or the folder that holds lesson.md.
    Exit code 1 when something is."""
    from lmviz.app.panels.table import shown_perspectives
    from lmviz.lessons.faults import LessonFault
    from lmviz.lessons.reading import open_lesson

    try:
        found = open_lesson(file, [row.name for row in shown_perspectives()])
    except LessonFault as fault:
        faults = [{"line": each.line, "sentence": each.sentence} for each in fault.faults]
        if as_json:
            print_json({"sound": False, "faults": faults})
        else:
            for each in fault.faults:
                print(f"{file}:{each.line}: {each.sentence}")
        return 1
    if as_json:
        print_json({"sound": True, "title": found.title, "steps": len(found.steps), "faults": []})
    else:
        questions = sum(step.question is not None for step in found.steps)
        print(f"{found.title}: {len(found.steps)} steps, {questions} questions. Nothing is wrong with it.")
    return 0
