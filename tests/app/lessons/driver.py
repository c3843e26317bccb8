"""Drives a lesson from beginning to end through the window, as a person who does what it says.

`acts.py` says how each condition is brought about.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from PySide6.QtWidgets import (
    QAbstractButton,
)
from pytestqt.exceptions import TimeoutError
from pytestqt.qtbot import QtBot

from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.answers import right_answer, wrong_answer
from lmviz.lessons.condition import Condition
from lmviz.lessons.expression import Result
from lmviz.lessons.faults import NotKnown
from lmviz.lessons.lesson import Lesson, LessonQuestion, LessonTask
from lmviz.lessons.values import names_values
from tests.app.lessons.acts import act
from tests.app.lessons.person import Driver

SOON = 5_000  # milliseconds in which a task that is done is seen to be done


def drive(window: MainWindow, qtbot: QtBot, lesson: Lesson) -> int:
    """Go through a whole lesson; how many questions were answered.

    Every task is done, every answer is given wrongly first, where that is refused, and then rightly.
    """
    driver, current, questions = Driver(window, qtbot), window.session.lesson, 0
    if not window.lessons.is_shown:
        driver.press("lessons_button")
    current.open(lesson, 0)
    for number, step in enumerate(lesson.steps):
        assert current.number == number
        driver.wait(driver.is_quiet, f"step {number + 1} is not set up")
        driver.wait(lambda step=step: _is_open(driver, step.openings), f"step {number + 1} opens nothing")
        if step.perspective:
            assert window.perspective_name == step.perspective
        if outlined := step.control_at(current.tasks_done):
            driver.wait(lambda name=outlined: window.lessons.control is driver.control(name))
        assert not current.tasks_done, f"done before anything is done in {step.title}: {step.tasks[0].words}"
        for place, task in enumerate(step.tasks):
            if task.control and current.tasks_done == place:
                driver.wait(
                    lambda task=task: window.lessons.control is driver.control(task.control),
                    f"{task.control} is not outlined in {step.title}",
                )
            for _ in range(5):  # what is read meanwhile may take back what was done
                bring_about(driver, task, place)
                with suppress(TimeoutError):
                    qtbot.waitUntil(lambda place=place: current.tasks_done > place, timeout=SOON)
                    break
            told = [condition.text for condition in task.until]
            assert current.tasks_done > place, f"not done: {told}"
        if step.control:
            driver.wait(
                lambda step=step: window.lessons.control is driver.control(step.control),
                f"{step.control} is not outlined in {step.title}",
            )
            assert window.lessons.control.isEnabled(), f"{step.control} is outlined and dead in {step.title}"
        if step.question is not None:
            driver.wait(driver.is_quiet)
            answer(driver, step.question)
            questions += 1
        driver.wait(lambda: current.is_step_done, f"step {number + 1} is not done")
        driver.press("lesson_next")
    assert current.lesson is None
    assert current.progress[lesson.name].done == frozenset(range(len(lesson.steps)))
    return questions


def bring_about(driver: Driver, task: LessonTask, place: int) -> None:
    """Do what a task asks for, one condition after the other."""
    current = driver.session.lesson

    def is_so(condition: Condition, before: Result | None) -> bool:
        return current.tasks_done > place or condition.holds(current.value, before)

    for condition in task.until:
        if current.tasks_done <= place and not _holds_already(condition, current.value):
            before = condition.state(current.value)
            act(driver, condition)
            driver.wait(
                lambda condition=condition, before=before: is_so(condition, before),
                f"not brought about: {condition.text}",
            )


def answer(driver: Driver, question: LessonQuestion) -> None:
    """Give wrong answers, which are refused, each with the lesson's own reply to it; and the right one."""
    current = driver.session.lesson
    assert current.may_answer
    stated = question.choices or names_values(question.answer) or question.check is not None
    assert stated, f"nothing of the program says that the answer is true: {question.words}"
    driver.wait(lambda: _is_known(driver, question), f"no answer is known: {question.words}")
    right = right_answer(question, current.value)
    if question.choices:
        wrong = next(choice for choice in question.choices if choice != right)
    else:
        wrong = "wrong" if isinstance(right, str) else f"{right + max(1.0, abs(right)):.12g}"
    give(driver, question, wrong)
    assert current.answered.verdict is False, (
        f"{wrong} is taken for {right}: {question.words} {current.answered}"
    )
    for reply in question.replies:
        wrong = wrong_answer(question, reply, current.value)
        give(driver, question, wrong if isinstance(wrong, str) else f"{wrong:.12g}")
        assert (current.answered.verdict, current.answered.sentence) == (False, reply.words), (
            f"{wrong} beside {right}: {question.words} {current.answered}"
        )
    assert not current.is_step_done
    give(driver, question, right if isinstance(right, str) else f"{right:.12g}")
    assert current.answered.verdict is True, (
        f"{right} is refused: {question.words} {current.answered.sentence}"
    )


def give(driver: Driver, question: LessonQuestion, words: str) -> None:
    """Answer as a person does, and once more where a model that is still being trained came in between."""
    for _ in range(3):
        driver.wait(lambda: _is_known(driver, question), f"no answer is known: {question.words}")
        if question.choices:
            driver.press(f"lesson_choice_{question.choices.index(words)}")
        else:
            driver.type("lesson_answer", words)
        driver.press("lesson_check")
        if driver.session.lesson.answered.verdict is not None:
            return


def _is_known(driver: Driver, question: LessonQuestion) -> bool:
    """Whether everything is read, and the program has an answer to the question."""
    try:
        right_answer(question, driver.session.lesson.value)
    except NotKnown:
        return False
    old = driver.window.findChildren(QAbstractButton, "lesson_choice_0")
    return driver.is_quiet() and len(old) == bool(question.choices)


def _holds_already(condition: Condition, value: Callable) -> bool:
    """Whether an act before has brought it about as well."""
    return condition.relation != "changes" and condition.holds(value)


def _is_open(driver: Driver, openings) -> bool:
    """Whether what a step opens is there."""
    session = driver.session
    state = {
        "text": lambda: session.text.corpus and session.text.corpus.name,
        "model": lambda: session.library.model and session.library.model.folder.name,
        "prefix": lambda: session.reading.prefix,
        "source": lambda: session.reading.source,
        "changed": lambda: session.contrast.other,
        "measure": lambda: session.contrast.measure,
        "plan": lambda: session.plan.current.family,
        "features": lambda: _open_dictionary(session),
        "feature": lambda: str(session.features.chosen),
    }
    return all(
        state[each.kind]() == each.words.removeprefix("./")
        for each in openings
        if each.kind in state and not (each.kind == "text" and each.words.startswith("./"))
    )


def _open_dictionary(session) -> str:
    """The open dictionary by its model and its name, as lessons name it."""
    opened = session.features.opened
    return "" if opened is None else f"{opened.file.parents[1].name}/{opened.file.stem}"
