"""While a step is shown, the panels that its text speaks of are there."""

from collections.abc import Callable

import pytest
from covering import others_slow
from pytestqt.logging import _QtMessageCapture
from pytestqt.qtbot import QtBot

from lmviz.app.panels.table import PANELS, shown_perspectives
from lmviz.app.widgets.diagrams.tree_view import TreeView
from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.lesson import Step
from lmviz.lessons.reading import open_lesson
from lmviz.lessons.shipped import shipped_files

LESSONS = {path.stem: path for path in shipped_files()}
PERSPECTIVES = {row.title for row in shown_perspectives()}
"""A text that has one of these titles may mean all of its panels."""


def words_of(step: Step) -> str:
    """All that can be read in a step."""
    words = [step.sentences, *(task.words for task in step.tasks)]
    if step.question is not None:
        replies = (reply.words for reply in step.question.replies)
        words += [step.question.words, step.question.hint, step.question.explanation, *replies]
    return " ".join(words)


@pytest.mark.parametrize("name", others_slow(LESSONS, "00-tour"))
def test_a_panel_that_a_step_speaks_of_is_left_in_sight(name: str, window: MainWindow) -> None:
    lesson, missing = open_lesson(LESSONS[name], perspective_names()), []
    for number, step in enumerate(lesson.steps):
        perspective, words = lesson.perspective_at(number), words_of(step)
        if not perspective or not step.needs:
            continue
        window.show_perspective(perspective)
        left = window.perspective.holding(step.needs)
        named = [
            row
            for row in PANELS
            if row.perspective == perspective
            and row.title not in PERSPECTIVES
            and (f"*{row.title}*" in words or f"“{row.title}”" in words)
        ]
        missing += [f"{step.title}: {row.title}" for row in named if left and row.name not in left]
    assert missing == []


@pytest.mark.slow
def test_in_the_lecture_hall_the_tour_shows_rows_of_tokens_whole_and_the_stage_beside_the_picture(
    window: MainWindow, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window.set_projector(True)
    window.resize(1280, 720)
    lesson = open_lesson(LESSONS["00-tour"], perspective_names())
    window.lessons.open(lesson, 0)
    qtbot.waitUntil(lambda: len(window.prefix_bar.strip.tokens) > 10)
    titles = [step.title for step in lesson.steps]
    for number in (titles.index("One position"), titles.index("From top to bottom")):
        window.session.lesson.open(lesson, number)
        drawn()
        strip, position = window.prefix_bar.strip, window.session.focus.position
        token = strip.token_rectangle(position).toAlignedRect()
        qtbot.waitUntil(lambda strip=strip, token=token: strip.visibleRegion().boundingRect().contains(token))
    stage = next(panel for panel in window.perspective.panels if panel.objectName() == "stage_view")
    picture = next(panel for panel in window.perspective.panels if panel.objectName() == "picture_view")
    qtbot.waitUntil(lambda: stage.is_in_sight and picture.is_in_sight)


@pytest.mark.slow
def test_before_a_class_a_question_is_there_before_its_room_is(
    window: MainWindow, drawn: Callable[[], None], qtbot: QtBot, qtlog: _QtMessageCapture
) -> None:
    lesson = open_lesson(next(LESSONS[name] for name in LESSONS if "counting" in name), perspective_names())
    window.lessons.open(lesson, 0)
    qtbot.waitUntil(lambda: window.session.lesson.step is lesson.steps[0])
    drawn()
    window.set_projector(True)
    drawn()
    assert [each.message for each in qtlog.records if "Negative sizes" in each.message] == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (1280, 720)])
def test_the_offers_of_a_beam_that_one_is_asked_to_count_are_all_drawn(
    size: tuple[int, int], window: MainWindow, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    lesson = open_lesson(LESSONS["14-scale"], perspective_names())
    window.resize(*size)
    window.lessons.open(lesson, [step.title for step in lesson.steps].index("A beam"))
    beam, reading = window.session.beam, window.session.reading
    qtbot.waitUntil(lambda: reading.current is not None and reading.prefix.endswith(" found a"))
    qtbot.waitUntil(lambda: not reading.is_late and not reading.is_busy)
    beam.set_options(width=2, continuations=4)
    for depth in (1, 2):
        beam.grow()
        qtbot.waitUntil(lambda depth=depth: beam.tree is not None and beam.tree.depth == depth)
    drawn()
    tree = window.perspective.findChild(TreeView, "beam_tree")
    offered = [node.index for node in beam.tree.nodes if node.depth == 2]
    assert len(offered) == 8
    assert tree.left_out == 0
    for index in offered:
        place = tree.node_rectangle(index).toAlignedRect()
        assert tree.visibleRegion().boundingRect().contains(place), beam.tree.nodes[index].token
