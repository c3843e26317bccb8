"""Panels that share a place can all be reached: each has its tab."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDoubleSpinBox, QPushButton, QTabBar, QWidget

from lmviz.app.panels.table import rows_of


@pytest.mark.parametrize("perspective", ["inside", "compare"])
def test_every_tabbed_panel_has_a_tab_that_can_be_seen(window, qtbot, perspective):
    def shown() -> set[str]:
        bars = [bar for bar in window.perspective.findChildren(QTabBar) if bar.isVisible()]
        return {bar.tabText(index) for bar in bars for index in range(bar.count())}

    window.show_perspective(perspective)
    titles = {row.title for row in rows_of(perspective) if row.tabbed}
    qtbot.waitUntil(lambda: titles <= shown(), timeout=5000)
    window.reset_arrangement()
    qtbot.waitUntil(lambda: titles <= shown(), timeout=5000)


def test_the_keyboard_brings_the_panel_it_reaches_in_front(window, qtbot):
    window.show_perspective("inside")
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    behind = panels["surgery_view"]
    qtbot.waitUntil(lambda: panels["why_view"].is_in_sight and not behind.is_in_sight, timeout=5000)
    window.activateWindow()
    behind.findChild(QDoubleSpinBox).setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: behind.is_in_sight and not panels["why_view"].is_in_sight, timeout=5000)


@pytest.mark.parametrize("lose", ["disable", "hide"])
def test_a_control_that_can_no_longer_have_the_keyboard_raises_no_other_tab(window, qtbot, lose):
    """Qt hands the keyboard on to the next control, which may stand behind another tab."""
    window.show_perspective("inside")
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    behind = panels["surgery_view"].findChild(QDoubleSpinBox)
    qtbot.waitUntil(lambda: panels["why_view"].is_in_sight and not panels["surgery_view"].is_in_sight)
    window.activateWindow()
    button = QPushButton("go", panels["why_view"])
    button.show()
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    QWidget.setTabOrder(button, behind)
    button.setEnabled(False) if lose == "disable" else button.hide()
    QApplication.processEvents()
    assert not button.hasFocus()
    assert panels["why_view"].is_in_sight
    assert not panels["surgery_view"].is_in_sight


def test_a_panel_is_brought_forward_in_a_perspective_that_has_just_been_shown(window, qtbot, drawn):
    window.show_perspective("compare")
    window.perspective.bring_forward("quality_by_length_view")
    qtbot.waitUntil(
        lambda: (
            [panel.objectName() for panel in seen(window)][-2:] == ["quality_by_length_view", "guess_view"]
        )
    )
    drawn()
    drawn()
    assert "quality_by_length_view" in [panel.objectName() for panel in seen(window)]


def seen(window):
    return [panel for panel in window.perspective.panels if panel.is_in_sight]
