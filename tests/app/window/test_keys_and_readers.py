"""Without a mouse, and without a screen: focus is seen, and everything that gets it says what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from covering import others_slow, walk_through
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QKeySequence
from PySide6.QtWidgets import QApplication, QComboBox, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.diagrams.tree_view import TreeView
from lmviz.app.widgets.text.equation import EquationView
from lmviz.app.window.main_window import MainWindow
from lmviz.training.options import TrainingOptions
from tests.app.conftest import wait_for_reading

NAMES = [row.name for row in shown_perspectives()]
SMALL = TrainingOptions(steps=10_000, batch=2, length=8, validate_every=0)  # and more than a test waits for
MAY_BE_EMPTY = (TreeView, EquationView)  # as long as nothing has been written, or chosen


def focusable(window: MainWindow) -> Iterator[QWidget]:
    """What the Tab key leads to now, without the parts of Qt's own widgets."""
    for widget in window.findChildren(QWidget):
        takes = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        is_part = widget.objectName().startswith("qt_") or isinstance(widget.parentWidget(), QComboBox)
        if takes and not is_part and widget.isEnabled() and not widget.visibleRegion().isEmpty():
            yield widget


def in_words(widget: QWidget) -> str:
    return f"{type(widget).__name__} {widget.objectName()} {widget.accessibleName()!r}"


@pytest.fixture
def through(
    window: MainWindow,
    session: Session,
    drawn: Callable[[], None],
    answered: Callable[[], None],
    qtbot: QtBot,
) -> Callable[[str], Iterator[str]]:
    """Call it with a perspective to see every panel of it in turn."""

    def go(name: str) -> Iterator[str]:
        window.show_perspective(name)
        drawn()
        answered()
        yield name
        for panel in window.perspective.panels:
            if not panel.is_in_sight:
                window.perspective.bring_forward(panel.objectName())
                qtbot.waitUntil(lambda panel=panel: panel.is_in_sight)
                drawn()
                answered()
                drawn()
                yield panel.objectName()

    return go


@pytest.fixture
def reading(
    window: MainWindow, session: Session, transformer_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    """A Transformer, its text and a prefix."""
    window.resize(1440, 900)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    session.text.open(text_file, documents="line")
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None and session.text.corpus is not None)
    session.reading.set_prefix("the cows eat")
    wait_for_reading(session, qtbot)


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("perspective", others_slow(NAMES, "inside"))
def test_whatever_gets_the_keys_shows_it_and_says_what_it_is(
    window: MainWindow, through: Callable[[str], Iterator[str]], perspective: str
) -> None:
    wrong: set[str] = set()
    for _ in through(perspective):
        for widget in list(focusable(window)):
            if not Shiboken.isValid(widget):  # what was focused before has let it go
                continue
            said = QAccessible.queryAccessibleInterface(widget)
            if not said.text(QAccessible.Text.Name) or said.role() == QAccessible.Role.NoRole:
                wrong.add(f"{in_words(widget)} has no name or no role")
            describes = said.text(QAccessible.Text.Description) or isinstance(widget, MAY_BE_EMPTY)
            if isinstance(widget, Canvas) and not describes:
                wrong.add(f"{in_words(widget)} does not say what it shows")
            before = widget.grab().toImage()
            widget.setFocus(Qt.FocusReason.TabFocusReason)
            QApplication.processEvents()
            if not Shiboken.isValid(widget):  # an answer came meanwhile, and it was of the one before
                continue
            if widget.hasFocus() and widget.grab().toImage() == before:
                wrong.add(f"the focus of {in_words(widget)} is not seen")
    assert not wrong, "\n".join(sorted(wrong))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("reading")
@walk_through("train", "inside", "circuits")
def test_every_widget_says_what_it_is_to_a_screen_reader(
    window: MainWindow, through: Callable[[str], Iterator[str]], perspectives: tuple[str, ...]
) -> None:
    wrong: set[str] = set()
    for name in perspectives:
        for _ in through(name):
            for widget in window.findChildren(QWidget):
                if widget.visibleRegion().isEmpty() or widget.objectName().startswith("qt_"):
                    continue
                said = QAccessible.queryAccessibleInterface(widget)
                if said.role() in (QAccessible.Role.Client, QAccessible.Role.NoRole):
                    wrong.add(f"{name}: {in_words(widget)} is {said.role().name}")
                is_picture = said.role() in (QAccessible.Role.Graphic, QAccessible.Role.Chart)
                if is_picture and not said.text(QAccessible.Text.Name):
                    wrong.add(f"{name}: {in_words(widget)} is a picture without a name")
    assert not wrong, "\n".join(sorted(wrong))


@pytest.fixture
def go_to(window: MainWindow, qtbot: QtBot) -> Callable[[str], QWidget]:
    """Call it with the name of a control to reach it by the Tab key alone."""

    def go(name: str) -> QWidget:
        for _ in range(150):
            focused = QApplication.focusWidget() or window
            if name in (focused.objectName(), focused.accessibleName()):
                return focused
            qtbot.keyClick(focused, Qt.Key.Key_Tab)
        raise AssertionError(f"no Tab leads to {name}")

    return go


def press(qtbot: QtBot, widget: QWidget, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(widget, key)


UP, DOWN, LEFT, RIGHT = Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right
ENTER, SPACE = Qt.Key.Key_Return, Qt.Key.Key_Space
SELECT_ALL = QKeySequence.StandardKey.SelectAll
JOBS = {
    "corpus": (("concordance_edit", ("cows",), lambda s, w: bool(found(w, "concordance_view").found)),),
    "train": (
        ("family_picker", (LEFT,), lambda s, w: s.plan.current.family != "transformer"),
        ("train_button", (SPACE,), lambda s, w: s.training.state.folder is not None),
    ),
    "race": (
        ("race_values_edit", (SELECT_ALL, "0.01 0.1", ENTER), lambda s, w: len(s.race.lanes) == 2),
        ("race_start_button", (SPACE,), lambda s, w: all(lane.step for lane in s.race.lanes)),
        ("race_table", (DOWN, DOWN), lambda s, w: all(lane.step > 60 for lane in s.race.lanes)),
        ("race_table", (ENTER,), lambda s, w: s.race.chosen is s.race.lanes[1]),
    ),
    "inside": (("heatmap", (DOWN, ENTER), lambda s, w: s.focus.cell is not None),),
    "attention": (("all heads", (RIGHT, ENTER), lambda s, w: s.attention.head == (0, 1)),),
    "sample": (("sample_step_button", (SPACE,), lambda s, w: len(s.writing.branches.nodes) > 1),),
    "compare": (("guess_play_button", (SPACE,), lambda s, w: found(w, "guess_view").round is not None),),
    "circuits": (
        ("changed_edit", ("the hens eat",), lambda s, w: found(w, "patching_view").is_whole),
        (
            "measure_picker",
            (SELECT_ALL, "probability:grass", ENTER),
            lambda s, w: "grass" in s.contrast.measure,
        ),
        ("patching_grid", (), lambda s, w: "strongest" in said(w, "patching_grid")),
        ("patching_grid", (RIGHT, ENTER), lambda s, w: "⟨start⟩" in found(w, "patching_sentence").text()),
    ),
    "autodiff": (("take_step_button", (SPACE,), lambda s, w: len(s.descent.path) == 2),),
    "scale": (("scale_layers", (UP,), lambda s, w: s.scale.name == ""),),
    "polls": (("poll_choices", ("a",), lambda s, w: sum(s.polls.counts.values()) == 1),),
}
"""The main job of each perspective: control after control, what is pressed and typed there, and its end."""


def said(window: MainWindow, name: str) -> str:
    """What a screen reader says of something, after its name."""
    return QAccessible.queryAccessibleInterface(found(window, name)).text(QAccessible.Text.Description)


def found(window: MainWindow, name: str) -> QWidget:
    return next(each for each in window.perspective.findChildren(QWidget, name))


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("perspective", others_slow(JOBS, "inside"))
def test_the_main_job_of_every_perspective_is_done_by_keys(
    window: MainWindow,
    session: Session,
    drawn: Callable[[], None],
    go_to: Callable[[str], QWidget],
    qtbot: QtBot,
    perspective: str,
) -> None:
    session.plan.set("transformer", session.plan.current.configuration, SMALL)
    if perspective == "race":
        session.plan.choose_family("gru")
    qtbot.keySequence(window, next(row.keys for row in shown_perspectives() if row.name == perspective))
    assert window.perspective_name == perspective
    for control, typed, is_done in JOBS[perspective]:
        if not session.race.is_active:  # which is drawn again and again
            drawn()
        reached = go_to(control)
        for each in typed:
            if isinstance(each, str):
                qtbot.keyClicks(reached, each)
            elif isinstance(each, QKeySequence.StandardKey):
                qtbot.keySequence(reached, QKeySequence(each))
            else:
                press(qtbot, reached, each)
        qtbot.waitUntil(lambda is_done=is_done: is_done(session, window))


PICTURES = [
    ("circuits", "ablation_view", "ablation_map", lambda s, w: s.attention.head),
    ("circuits", "circuit_view", "circuit_picture", lambda s, w: found(w, "circuit_picture").current),
    ("scale", "", "size_plot", lambda s, w: s.scale.name),
]
"""Of a perspective: a panel, a picture in it, and what a click there changes."""


@pytest.mark.slow
@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("case", PICTURES, ids=lambda case: case[2])
def test_a_part_of_a_picture_is_chosen_by_keys(
    window: MainWindow,
    session: Session,
    drawn: Callable[[], None],
    go_to: Callable[[str], QWidget],
    qtbot: QtBot,
    case: tuple[str, str, str, Callable[[Session, MainWindow], object]],
) -> None:
    perspective, panel, picture, chosen = case
    session.contrast.set_other("the hens eat")
    window.show_perspective(perspective)
    if panel:
        window.perspective.bring_forward(panel)
    drawn()
    [owner] = [each for each in window.perspective.panels if each.isAncestorOf(found(window, picture))]
    qtbot.waitUntil(lambda: owner.is_in_sight and not owner.is_behind)
    before = chosen(session, window)
    press(qtbot, go_to(picture), RIGHT, RIGHT, ENTER)
    qtbot.waitUntil(lambda: chosen(session, window) != before)


@pytest.mark.slow
@pytest.mark.usefixtures("reading")
def test_panels_behind_others_are_reached_by_keys(
    window: MainWindow, go_to: Callable[[str], QWidget], qtbot: QtBot
) -> None:
    window.show_perspective("sample")
    tabs = go_to("panels that share this place")
    press(qtbot, tabs, RIGHT)
    assert [panel.objectName() for panel in window.perspective.panels if panel.is_in_sight].count("beam_view")
    assert window.focusWidget() is tabs


LESSON = """# What cows eat

## Look

Look at the cows.

## Think
question: What do cows eat?
choice: corn
choice: grass
answer: grass

Think of the cows.
"""


def test_a_lesson_is_opened_gone_through_answered_and_left_by_keys(
    window: MainWindow,
    session: Session,
    go_to: Callable[[str], QWidget],
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    (tmp_path / "cows.md").write_text(LESSON, encoding="utf-8")
    window.settings.keep("own_lessons", [str(tmp_path / "cows.md")])
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    side = window.lessons.side
    qtbot.keyClick(window, Qt.Key.Key_F8)
    assert side.isAncestorOf(QApplication.focusWidget())
    press(qtbot, go_to("What cows eat, 0 of 2 steps done"), ENTER)
    assert session.lesson.lesson.title == "What cows eat"
    qtbot.waitUntil(lambda: QApplication.focusWidget().objectName() == "lesson_next")
    press(qtbot, QApplication.focusWidget(), SPACE)
    qtbot.waitUntil(lambda: window.find_control("lesson_back").isEnabled())
    press(qtbot, go_to("lesson_back"), SPACE)
    qtbot.waitUntil(lambda: not side.isAncestorOf(QApplication.focusWidget()))  # what had the keys has gone
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert side.isAncestorOf(QApplication.focusWidget()), "Tab goes on where it was"
    press(qtbot, go_to("lesson_next"), SPACE)
    qtbot.waitUntil(lambda: window.find_control("lesson_choice_1") is not None)
    rows = [window.find_control(f"lesson_choice_{number}").parentWidget() for number in range(2)]
    qtbot.waitUntil(lambda: rows[0].y() < rows[1].y())
    press(qtbot, go_to("corn"), DOWN)
    press(qtbot, go_to("grass"), SPACE)
    press(qtbot, go_to("lesson_check"), SPACE)
    assert session.lesson.answered.verdict
    press(qtbot, go_to("lesson_next"), SPACE)
    assert session.lesson.lesson is None
    qtbot.waitUntil(lambda: side.isAncestorOf(QApplication.focusWidget()))
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_F8)
    assert not window.lessons.is_shown
