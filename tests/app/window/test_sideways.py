"""Nothing scrolls sideways at 1280 × 720 in projector mode, nor from 1000 × 640 on without it."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from covering import others_slow, walk_through
from PySide6.QtWidgets import QAbstractScrollArea
from pytestqt.exceptions import TimeoutError
from pytestqt.qtbot import QtBot

from lmviz.app.board.page import PanelPage
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.table import projected_rows, shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.lesson_list import LessonList
from lmviz.app.widgets.text.network_editor import NetworkEditor
from lmviz.app.window.frame import ScrolledView
from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.reading import open_lesson
from lmviz.lessons.shipped import shipped_files
from tests.app.conftest import wait_for_reading

LECTURE_HALL = (1280, 720)
SMALL_WINDOW = (1000, 640)
AS_LONG_AS_THE_TEXT = ("QuietScrollArea in picture_view",)  # a recurrence over it
SMALL = {"width": 8}
LANGUAGE = {
    "ngram": {"order": 3},
    "window": SMALL,
    "rnn": SMALL,
    "gru": SMALL,
    "lstm": SMALL,
    "transformer": {**SMALL, "heads": 2, "layers": 2, "context": 32},
}
LABELS = {
    "tagger": "time flies like an arrow with their wings",
    "classifier": "the film is not bad the film is good",
    "translator": "rouge voiture bleue maison",
    "captioner": "3 dots in a line 3 dots in a line 3 dots in a line",
}
LONG_TEXT = "the cows eat grass the hens eat corn the dog sees the cows the hens see the dog eat"
SOURCES = {
    "translator": " ".join(["blue car red house"] * 6),
    "captioner": "#....../.#...../..#..../...#.../....#../.....#./......#",
}


@pytest.fixture
def open_model(
    session: Session,
    make_run: Callable[..., Path],
    label_runs: dict[str, Path],
    text_file: Path,
    qtbot: QtBot,
) -> Callable[[str], None]:
    """Call it with the name of a family or task to read a long text with a small model of it."""

    def open_named(name: str) -> None:
        run = label_runs[name] if name in label_runs else make_run(name, 3, **LANGUAGE[name])
        session.library.open(run)
        qtbot.waitUntil(lambda: session.library.model is not None and session.library.model.folder == run)
        session.text.open(session.library.model.description.corpus["sources"][0])
        qtbot.waitUntil(lambda: session.text.corpus is not None)
        session.reading.set_source(SOURCES.get(name, ""))
        session.reading.set_prefix(LABELS.get(name, LONG_TEXT))
        wait_for_reading(session, qtbot)

    return open_named


def seen_panels(window: MainWindow, drawn: Callable[[], None], qtbot: QtBot) -> Iterator[Panel]:
    """The panels that projector mode leaves, each in front of those that share its place."""
    drawn()
    for panel in window.perspective.panels:
        panel.parentWidget().raise_()
        qtbot.waitUntil(lambda panel=panel: panel.is_in_sight)
        drawn()
        yield panel


def sideways(window: MainWindow) -> list[str]:
    """The areas with a visible bar below them, named by what they stand in."""
    areas = window.findChildren(QAbstractScrollArea)
    return [_place(area) for area in areas if area.isVisible() and area.horizontalScrollBar().isVisible()]


def sideways_for_good(window: MainWindow, qtbot: QtBot) -> list[str]:
    """The same, once what was just drawn has its room, which on a busy machine takes longer."""
    with suppress(TimeoutError):
        qtbot.waitUntil(lambda: not sideways(window), timeout=1500)
    return sideways(window)


def _place(area: QAbstractScrollArea) -> str:
    widget = area
    while widget is not None and not widget.objectName():
        widget = widget.parentWidget()
    return f"{type(area).__name__} in {widget.objectName() if widget is not None else 'the window'}"


@pytest.mark.slow
@pytest.mark.parametrize("name", [*LANGUAGE, *LABELS])
def test_nothing_scrolls_sideways_in_the_lecture_hall(
    window: MainWindow,
    open_model: Callable[[str], None],
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
    name: str,
) -> None:
    window.set_projector(True)
    window.resize(*LECTURE_HALL)
    open_model(name)
    found: list[tuple[str, str, list[str]]] = []
    for perspective in shown_perspectives():
        window.show_perspective(perspective.name)
        for panel in seen_panels(window, drawn, qtbot):
            answered()
            drawn()
            if wide := sideways_for_good(window, qtbot):
                found.append((perspective.name, panel.objectName(), wide))
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size"),
    [
        *((name, SMALL_WINDOW) for name in (*LANGUAGE, *LABELS)),
        *(
            (name, size)
            for name in ("transformer", "tagger", "translator")
            for size in ((1280, 720), (1440, 900))
        ),
    ],
)
def test_nothing_scrolls_sideways_in_a_small_window(
    window: MainWindow,
    open_model: Callable[[str], None],
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
    name: str,
    size: tuple[int, int],
) -> None:
    window.resize(*size)
    open_model(name)
    found: list[tuple[str, str, str]] = []
    for perspective in shown_perspectives():
        window.show_perspective(perspective.name)
        for panel in seen_panels(window, drawn, qtbot):
            answered()
            drawn()
            view = window.perspective
            qtbot.waitUntil(lambda view=view: view.width() <= view.parentWidget().width())
            wide = [area for area in sideways_for_good(window, qtbot) if area not in AS_LONG_AS_THE_TEXT]
            found += [(perspective.name, panel.objectName(), area) for area in wide]
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("first_perspective", ["autodiff"])
def test_a_network_is_wrapped_in_a_small_window(
    window: MainWindow, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window.resize(*SMALL_WINDOW)
    for panel in seen_panels(window, drawn, qtbot):
        assert sideways_for_good(window, qtbot) == [], panel.objectName()
    editor = window.findChild(NetworkEditor)
    window.bring_forward(editor.objectName())
    editor.appendPlainText("# " + "a remark that is longer than its line has room " * 2)
    drawn()
    assert sideways(window) == []
    last = editor.document().lastBlock()
    assert editor.document().size().height() > last.blockNumber() + 1, "a line takes two rows"


@pytest.mark.slow
@pytest.mark.parametrize("first_perspective", ["inside"])
def test_a_perspective_out_of_sight_is_as_narrow_as_before_when_the_projector_is_off_again(
    window: MainWindow, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window.resize(*SMALL_WINDOW)
    window.set_projector(True)
    drawn()
    window.show_perspective("corpus")
    window.set_projector(False)
    drawn()
    window.show_perspective("inside")
    view = window.perspective
    qtbot.waitUntil(lambda: view.width() <= view.parentWidget().width())


@pytest.mark.parametrize("name", others_slow(["00-tour", "03-memory"]))
def test_no_perspective_scrolls_sideways_beside_a_lesson(
    window: MainWindow, session: Session, drawn: Callable[[], None], qtbot: QtBot, name: str
) -> None:
    """Of the panels that projector mode leaves, those stay that fit beside what a step outlines."""
    window.set_projector(True)
    window.resize(*LECTURE_HALL)
    window.show_perspective("attention")
    window.lessons.toggle()
    area = window.findChild(LessonList).parentWidget()
    qtbot.waitUntil(lambda: window.findChild(LessonList).width() <= area.width())
    lesson = open_lesson(next(path for path in shipped_files() if path.stem == name), perspective_names())
    session.lesson.open(lesson, 0)
    for step in lesson.steps:
        qtbot.waitUntil(lambda step=step: session.lesson.step is step)
        control = step.control
        qtbot.waitUntil(lambda control=control: not control or window.find_control(control) is not None)
        drawn()
        view = window.perspective
        qtbot.waitUntil(lambda view=view: view.width() <= view.parentWidget().width())
        if control == "tape_forward":  # whose numbers stand in the graph
            assert {panel.objectName() for panel in view.panels} == {"graph_view", "tape_view"}
        session.lesson.go_on()
    window.lessons.close()
    window.show_perspective("attention")
    left = {"attention_view", "alignment_view", "next_word_view"}
    qtbot.waitUntil(lambda: {panel.objectName() for panel in window.perspective.panels} == left)


@pytest.mark.parametrize("projector", others_slow([False, True], True), ids=["light", "projector"])
@walk_through("train", "inside")
def test_every_perspective_fits_beside_the_panel_of_lessons(
    window: MainWindow,
    drawn: Callable[[], None],
    projector: bool,
    qtbot: QtBot,
    perspectives: tuple[str, ...],
) -> None:
    """In projector mode panels that do not fit side by side share a place, and come apart again."""
    window.set_projector(projector)
    window.resize(*LECTURE_HALL)
    for name in perspectives:
        window.show_perspective(name)
        drawn()
        view = window.perspective
        alone = {panel.objectName() for panel in view.panels if panel.is_in_sight}
        window.lessons.toggle()
        qtbot.waitUntil(lambda view=view: view.width() <= view.parentWidget().width())
        drawn()
        assert view.width() <= view.parentWidget().width()
        window.lessons.toggle()
        drawn()
        beside = lambda view=view: {panel.objectName() for panel in view.panels if panel.is_in_sight}  # noqa: E731
        qtbot.waitUntil(lambda alone=alone, beside=beside: beside() == alone)


@pytest.mark.slow
def test_panels_that_do_not_fit_side_by_side_stand_behind_one_another(
    window: MainWindow, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window.set_projector(True)
    window.resize(*LECTURE_HALL)
    window.show_perspective("scale")
    window.lessons.toggle()
    models, calculator = ("models_by_size_view", "calculator_view")

    def in_sight() -> set[str]:
        return {panel.objectName() for panel in window.perspective.panels if panel.is_in_sight}

    qtbot.waitUntil(lambda: in_sight() == {models})
    window.bring_forward(calculator)
    qtbot.waitUntil(lambda: in_sight() == {calculator})
    window.lessons.toggle()
    qtbot.waitUntil(lambda: in_sight() == {models, calculator})


@pytest.mark.slow
@walk_through("attention", "train", "scale", "circuits", "sample", "difference", "compare")
@pytest.mark.parametrize("percent", [150, *(pytest.param(n, marks=pytest.mark.slow) for n in (125, 200))])
def test_in_large_type_nothing_scrolls_sideways_and_the_picture_keeps_half_the_room(
    window: MainWindow,
    open_model: Callable[[str], None],
    drawn: Callable[[], None],
    qtbot: QtBot,
    percent: int,
    perspectives: tuple[str, ...],
) -> None:
    window.resize(*LECTURE_HALL)
    window.set_type_size(percent)
    open_model("transformer")
    for name in perspectives:
        window.show_perspective(name)
        drawn()
        area = window.perspective.parentWidget().parentWidget()
        assert isinstance(area, ScrolledView)
        qtbot.waitUntil(lambda area=area: area.horizontalScrollBar().maximum() == 0)
        rows = {row.name: row for row in projected_rows(name)}
        pages = [page for page in window.perspective.findChildren(PanelPage) if page.row.name in rows]
        largest = max((page.size() for page in pages if page.isVisible()), key=lambda size: size.width())
        room = area.viewport().size()
        assert largest.width() >= room.width() / 2, name
        assert largest.height() >= room.height() / 2, name
