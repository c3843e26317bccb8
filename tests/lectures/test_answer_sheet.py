"""The answers to what a lecture asks, on a sheet for the one who gives it."""

import pytest

from lmviz.app.panels.table import shown_perspectives
from lmviz.lectures.answer_sheet import answer_sheet
from lmviz.lectures.lecture import LectureItem, ShownPoll, steps_of
from lmviz.lessons.shipped import shipped_lessons
from lmviz.polls.poll import Poll, PollChoice

LESSONS = shipped_lessons([row.name for row in shown_perspectives()])
CHOICES = (PollChoice("A", "4"), PollChoice("B", "8"))


def sheet_of(lesson):
    return answer_sheet(steps_of(lesson))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_question_has_a_line_with_its_answer_or_why_it_is_so(lesson):
    asked = [step for step in lesson.steps if step.question is not None]
    sheet = sheet_of(lesson)
    assert [answer.title for answer in sheet] == [step.title for step in asked]
    for answer, step in zip(sheet, asked, strict=True):
        assert answer.answer
        if step.question.right is not None:
            assert answer.answer == step.question.choices[step.question.right]
        assert answer.is_stated or answer.explanation, answer.title


def test_what_depends_on_what_is_open_is_not_invented():
    [lesson] = [each for each in LESSONS if each.number == 6]
    first, second, *_ = sheet_of(lesson)
    assert not first.is_stated
    assert second.answer.startswith("at the first word where")


def test_the_right_choice_of_a_poll_is_computed():
    poll = Poll("Twice", "What is y?", CHOICES, network="x = 4\ny = multiply(2, x)", value="y")
    likeliest = Poll("Next", "What comes?", CHOICES, likeliest_after="the cows")
    items = [LectureItem(each.title, ShownPoll(each)) for each in (poll, likeliest)]
    first, second = answer_sheet(items)
    assert first.answer == "B: 8"
    assert first.is_stated
    assert not second.is_stated
