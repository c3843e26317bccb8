"""Writes docs/course.md, the table of the course: `python docs/write_course.py`."""

from __future__ import annotations

import re
from pathlib import Path

from lmviz.app.panels.table import shown_perspectives
from lmviz.lessons.lesson import Lesson, Step
from lmviz.lessons.shipped import TOUR, shipped_lessons

PAGE = Path(__file__).with_name("course.md")
TOP = """# The table of the course

`python docs/write_course.py` writes this page from the files of the lessons. Each step has what it claims,
how that is seen, and what is said to the usual wrong answers. [The lessons](guide/lessons.md) are done in the
window.
"""


def page() -> str:
    """All lessons but the tour, a row for each step."""
    lessons = shipped_lessons([row.name for row in shown_perspectives()])
    return "\n".join([TOP, *(_table(lesson) for lesson in lessons if lesson.name != TOUR)])


def _table(lesson: Lesson) -> str:
    rows = [_row(step, lesson.perspective_at(number)) for number, step in enumerate(lesson.steps)]
    head = "| step | what is claimed | how it is seen | what is answered wrongly |\n|---|---|---|---|"
    return "\n".join([f"## {lesson.number} · {lesson.title}\n", f"{lesson.about}\n", head, *rows, ""])


def _row(step: Step, place: str) -> str:
    question = step.question
    done = "; ".join(task.words for task in step.tasks)
    asked = "" if question is None else f" **{question.words}**"
    replies = () if question is None else question.replies
    wrong = "; ".join(
        f"“{reply.words}”" if reply.chosen is None else f"*{question.choices[reply.chosen]}*: “{reply.words}”"
        for reply in replies
        if question is not None
    )
    claimed = "" if question is None else question.explanation
    cells = (step.title, claimed, f"*{place.capitalize()}*: {done}.{asked}", wrong)
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(words: str) -> str:
    """Words in one cell of a table."""
    return re.sub(r"\s+", " ", words).replace("|", "\\|").strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"Wrote {PAGE}.")
