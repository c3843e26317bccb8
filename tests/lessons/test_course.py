"""The course as a whole, and the page of the guide about it."""

import re
import runpy
from pathlib import Path

import pytest

from lmviz.app.panels.table import shown_perspectives
from lmviz.lessons.lesson import Lesson
from lmviz.lessons.shipped import TOUR, shipped_lessons

LESSONS = shipped_lessons([row.name for row in shown_perspectives()])
COURSE = [lesson for lesson in LESSONS if lesson.name != TOUR]
PAGES = Path(__file__).parents[2] / "docs"
PAGE = (PAGES / "guide" / "lessons.md").read_text(encoding="utf-8")


def test_the_tour_comes_first_and_the_course_counts_on() -> None:
    assert LESSONS[0].name == TOUR
    assert [lesson.number for lesson in COURSE] == list(range(1, 19))
    assert len({lesson.name for lesson in LESSONS}) == len(LESSONS)


def test_the_guide_says_how_many_lessons_there_are() -> None:
    said = {16: "sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty"}[len(COURSE)]
    assert f"A course of {said} lessons" in PAGE


@pytest.mark.parametrize("lesson", COURSE, ids=lambda lesson: lesson.name)
def test_a_lesson_is_short_asks_in_every_step_but_few_and_says_why(lesson: Lesson) -> None:
    assert 4 <= len(lesson.steps) <= 8
    questions = [step.question for step in lesson.steps if step.question is not None]
    assert len(questions) >= len(lesson.steps) - 1
    assert lesson.steps[-1].question is not None, "the last step asks once more"
    assert all(question.explanation for question in questions)
    assert lesson.about
    assert lesson.steps[0].perspective, "a lesson may be begun from anywhere"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_question_has_a_task_of_its_own_step(lesson: Lesson) -> None:
    """docs/writing-a-lesson.md: something is done in the window before it is asked about."""
    idle = [step.title for step in lesson.steps if step.question is not None and not step.tasks]
    assert idle == []


@pytest.mark.parametrize("lesson", COURSE, ids=lambda lesson: lesson.name)
def test_every_question_says_something_of_its_own_to_a_usual_wrong_answer(lesson: Lesson) -> None:
    """That each reply is given to its answer, and to that alone, is seen where lessons are driven."""
    silent = [step.title for step in lesson.steps if step.question is not None and not step.question.replies]
    assert silent == []


@pytest.mark.parametrize("lesson", COURSE, ids=lambda lesson: lesson.name)
def test_a_step_tells_a_story_before_it_asks(lesson: Lesson) -> None:
    told = {step.title: len(re.findall(r"[.?!:](?=\s|$)", step.sentences)) for step in lesson.steps}
    assert [title for title, sentences in told.items() if sentences < 2] == []


def test_the_rule_is_written_down() -> None:
    page = (Path(__file__).parents[2] / "docs" / "writing-a-lesson.md").read_text(encoding="utf-8")
    assert "Every question has a task in its own step" in page


@pytest.mark.parametrize("lesson", COURSE[1:], ids=lambda lesson: lesson.name)
def test_the_last_question_is_from_an_earlier_lesson(lesson: Lesson) -> None:
    last = lesson.steps[-1]
    earlier = [int(number) for number in re.findall(r"lesson (\d+)", last.title)]
    assert (earlier and earlier[0] < lesson.number) or "the lesson before" in last.question.words


@pytest.mark.parametrize(
    ("name", "slip"),
    [
        ("chain-rule", "5-gram by maximum likelihood"),
        ("autodiff", "starts every gradient at 1"),
        ("scale", "gives 50 petaflop/s-days"),
    ],
)
def test_the_slips_of_the_slides_are_to_be_found(name: str, slip: str) -> None:
    lesson = next(lesson for lesson in COURSE if lesson.name == name)
    step = next(step for step in lesson.steps if step.title == "Find the mistake")
    assert "A slide" in step.question.words
    assert slip in step.question.words


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_the_guide_shows_every_lesson(lesson: Lesson) -> None:
    title = f"{lesson.number} · {lesson.title}" if lesson.number else lesson.title
    assert f"## {title}\n\n{lesson.about}\n" in PAGE
    assert f"(../pictures/lesson-{lesson.name}-light.png)" in PAGE


def test_the_table_of_the_course_is_up_to_date() -> None:
    script = PAGES / "write_course.py"
    written = runpy.run_path(str(script))["page"]()
    assert (PAGES / "course.md").read_text("utf-8") == written, "write it again: python docs/write_course.py"
