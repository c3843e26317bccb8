"""The arrow keys step from wherever the focus is, unless what has it needs them."""

from pathlib import Path

import pytest
from covering import parametrize_few
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QDoubleSpinBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.text.equation import EquationView
from lmviz.app.window.main_window import MainWindow

LONG = 30_000


@pytest.fixture
def inside(window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot) -> MainWindow:
    """The window at its third stage and second position."""
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(
        lambda: (
            session.reading.current is not None
            and session.reading.current.trace.text == session.reading.prefix
        ),
        timeout=LONG,
    )
    window.show_perspective("inside")
    session.focus.choose_position(1)
    session.focus.choose_stage(2)
    return window


def press(widget: QWidget, key: Qt.Key, qtbot: QtBot) -> None:
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus, timeout=LONG)
    qtbot.keyClick(widget, key)


@parametrize_few("kind", [QPushButton, EquationView])
def test_a_click_into_a_panel_does_not_cost_the_arrow_keys(
    inside: MainWindow, session: Session, kind: type[QWidget], qtbot: QtBot
) -> None:
    name = "stage_next" if kind is QPushButton else ""
    widget = inside.perspective.findChild(kind, name)
    press(widget, Qt.Key.Key_Right, qtbot)
    assert (session.focus.position, session.focus.stage) == (1, 3)
    press(widget, Qt.Key.Key_Down, qtbot)
    assert (session.focus.position, session.focus.stage) == (2, 3)
    press(widget, Qt.Key.Key_Left, qtbot)
    press(widget, Qt.Key.Key_Up, qtbot)
    assert (session.focus.position, session.focus.stage) == (1, 2)


def test_in_inside_the_keys_do_what_the_buttons_with_their_signs_do_wherever_one_has_clicked(
    inside: MainWindow, session: Session, qtbot: QtBot
) -> None:
    panels = {panel.objectName(): panel for panel in inside.perspective.panels}
    heatmap, stages = panels["state_view"].findChild(HeatmapView), panels["stage_view"]
    inside.activateWindow()
    qtbot.waitUntil(lambda: panels["state_view"].view is not None and bool(stages.views), timeout=LONG)
    for widget in (heatmap, stages.strips, stages.operation, stages):
        inside.prefix_bar.edit.setFocus()
        qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)
        focused = QApplication.focusWidget()
        assert focused is not inside.prefix_bar.edit
        for name, key in (("stage_next", Qt.Key.Key_Right), ("stage_previous", Qt.Key.Key_Left)):
            before, position = session.focus.stage, session.focus.position
            inside.perspective.findChild(QPushButton, name).click()
            clicked = session.focus.stage
            session.focus.choose_stage(before)
            qtbot.keyClick(focused or inside, key)
            assert (session.focus.stage, session.focus.position) == (clicked, position), widget
            assert clicked != before


@pytest.mark.slow
def test_a_click_into_the_unrolled_picture_leaves_the_keys_to_the_stages(
    inside: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    session.library.open(lstm_run)
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.family == "lstm",
        timeout=LONG,
    )
    panels = {panel.objectName(): panel for panel in inside.perspective.panels}
    view = panels["picture_view"].unrolled

    def place() -> QPoint:
        return view.cell_rectangle(1, 0).center().toPoint()

    qtbot.waitUntil(lambda: view.isVisible() and view.visibleRegion().contains(place()), timeout=LONG)
    inside.prefix_bar.edit.clearFocus()
    inside.activateWindow()
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place())
    assert not view.hasFocus()
    stage, position = session.focus.stage, session.focus.position
    qtbot.keyClick(QApplication.focusWidget() or inside, Qt.Key.Key_Right)
    assert (session.focus.stage, session.focus.position) == (stage + 1, position)


def test_elsewhere_the_keys_across_step_through_the_words(
    inside: MainWindow, session: Session, qtbot: QtBot
) -> None:
    inside.show_perspective("attention")
    inside.setFocus()
    for key, place in ((Qt.Key.Key_Right, (2, 2)), (Qt.Key.Key_Down, (2, 3)), (Qt.Key.Key_Left, (1, 3))):
        qtbot.keyClick(inside, key)
        assert (session.focus.position, session.focus.stage) == place


@pytest.mark.slow
def test_a_number_field_keeps_its_arrow_keys(inside: MainWindow, session: Session, qtbot: QtBot) -> None:
    inside.show_perspective("attention")
    field = inside.perspective.findChild(QDoubleSpinBox)
    before = field.value()
    press(field, Qt.Key.Key_Up, qtbot)
    assert field.value() > before
    assert session.focus.stage == 2
