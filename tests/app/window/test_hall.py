"""The window in front of a room: what leaves, how large type is, and that a step's question is in sight."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.look.roles import PROJECTOR_SCALE
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.session.session import Session
from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.reading import open_lesson
from lmviz.lessons.shipped import shipped_files

LECTURE = """# Small
## Ask
step: counting 1
## Train it
step: tour 6
## The room
poll: order
"""


@pytest.mark.parametrize(
    ("size", "growth"), [((1280, 720), 1.0), ((1920, 1080), 1.5), ((1024, 768), 1.0), ((2560, 1080), 1.5)]
)
def test_the_projectors_type_grows_with_the_window(
    size: tuple[int, int], growth: float, qtbot: QtBot
) -> None:
    theme_switch().set_projector(True, QSize(*size))
    assert current_theme().scale == pytest.approx(PROJECTOR_SCALE * growth)
    theme_switch().fit_projector(QSize(1280, 720))
    assert current_theme().scale == PROJECTOR_SCALE
    theme_switch().set_projector(False)
    theme_switch().fit_projector(QSize(*size))
    assert current_theme().scale == 1


@pytest.mark.slow
def test_type_follows_a_window_that_grows(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1280, 720)
    window.set_projector(True)
    assert current_theme().scale == PROJECTOR_SCALE
    window.resize(1920, 1080)
    qtbot.waitUntil(lambda: current_theme().scale == pytest.approx(1.5 * PROJECTOR_SCALE))


def test_what_an_item_does_not_need_leaves_and_its_place_is_said(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "small.lecture"
    path.write_text(LECTURE, encoding="utf-8")
    window.open_lecture(path)
    qtbot.waitUntil(lambda: window.lectures.lecture is not None)
    around = {"header": window.header, "rail": window.rail, "transport": window.transport}

    def seen() -> set[str]:
        return {name for name, part in around.items() if part.isVisible()}

    assert seen() == set(around)
    window.lectures.give()
    assert seen() == set()
    said = [window.findChild(QLabel, f"lecture_edge_{name}").text() for name in ("title", "place")]
    assert said == ["Ask", "1 of 3"]
    window.lectures.go_to(1)
    assert session.lesson.step.control == "snapshot_slider"
    assert "transport" in seen()
    window.lectures.go_to(2)
    assert seen() == set()
    window.lectures.toggle_given()
    assert seen() == set(around)
    assert not window.findChild(QWidget, "lecture_edge").isVisible()


@pytest.fixture
def in_sight(window: MainWindow, qtbot: QtBot) -> Callable[[], bool]:
    """Whether the words of the question can be seen whole."""

    def is_so() -> bool:
        words = window.find_control("lesson_question_words")
        return words is not None and words.visibleRegion().boundingRect().contains(
            QRect(0, 0, words.width(), min(words.height(), 60))
        )

    return is_so


@pytest.mark.slow
@pytest.mark.parametrize("path", shipped_files(), ids=lambda path: path.stem)
def test_the_question_of_each_step_is_above_the_fold_on_a_projector(
    path: Path, window: MainWindow, session: Session, in_sight: Callable[[], bool], qtbot: QtBot
) -> None:
    window.resize(1280, 720)
    window.set_projector(True)
    for part in (window.header, window.rail, window.transport):
        part.hide()
    lesson = open_lesson(path, perspective_names())
    for number, step in enumerate(lesson.steps):
        if step.question is not None:
            window.lessons.open(lesson, number)
            qtbot.waitUntil(in_sight)
