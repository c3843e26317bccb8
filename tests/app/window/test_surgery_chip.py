"""Changes in force are seen in every perspective, switched off together, and taken away one by one."""

from pathlib import Path

import numpy as np
import pytest
from covering import walk_through
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.change_list import ChangeList
from lmviz.app.widgets.controls.switch import Switch
from lmviz.app.widgets.plots.before_after_bars import BeforeAfterBars
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.distribution import next_distribution
from lmviz.inspection.interventions import scale_head
from lmviz.inspection.tracing import trace

LONG = 30_000
TEXT = "the cows eat"


@pytest.fixture
def changed(window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot) -> MainWindow:
    """A window that shows a Transformer with two heads changed, and what that did."""
    window.resize(1280, 800)
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    window.show_perspective("attention")
    session.reading.set_prefix(TEXT)
    session.surgery.add(scale_head(0, 0, 9.0))
    session.surgery.add(scale_head(0, 1, -9.0))
    wait_for_changes(session, 2, qtbot)
    return window


def wait_for_changes(session: Session, count: int, qtbot: QtBot) -> None:
    def are_read() -> bool:
        reading = session.reading.current
        return reading is not None and len(reading.trace.interventions) == count

    qtbot.waitUntil(are_read, timeout=LONG)


def press(widget: QWidget, qtbot: QtBot) -> None:
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


@pytest.mark.slow
@walk_through("inside", "scale")
def test_the_chip_is_there_in_every_perspective_as_long_as_there_are_changes(
    changed: MainWindow, session: Session, qtbot: QtBot, perspectives: tuple[str, ...]
) -> None:
    chip, count = changed.header.chip, changed.findChild(QPushButton, "surgery_list_button")
    for name in perspectives:
        changed.show_perspective(name)
        assert chip.isVisible(), name
        assert count.text() == "2 changes"
        assert changed.header.rect().contains(chip.geometry())
    press(changed.findChild(QPushButton, "remove_changes_button"), qtbot)
    assert session.surgery.interventions == ()
    assert not chip.isVisible()
    session.surgery.undo()
    assert chip.isVisible()


@pytest.mark.slow
def test_off_keeps_the_changes_and_puts_none_of_them_in_force(
    changed: MainWindow, session: Session, qtbot: QtBot
) -> None:
    switch = changed.findChild(Switch, "surgery_switch")
    with_changes = session.reading.current.trace["logits"].array
    press(switch, qtbot)
    wait_for_changes(session, 0, qtbot)
    assert len(session.surgery.interventions) == 2
    assert changed.findChild(QPushButton, "surgery_list_button").text() == "2 changes, off"
    assert not np.allclose(session.reading.current.trace["logits"].array, with_changes)
    press(switch, qtbot)
    wait_for_changes(session, 2, qtbot)
    np.testing.assert_allclose(session.reading.current.trace["logits"].array, with_changes, atol=1e-6)


@pytest.mark.slow
def test_a_new_change_switches_all_on_again(changed: MainWindow, session: Session) -> None:
    session.surgery.set_off(True)
    assert session.surgery.in_force == ()
    session.surgery.add(scale_head(0, 0, 2.0))
    assert len(session.surgery.in_force) == 2
    assert changed.findChild(Switch, "surgery_switch").isChecked()


def listed_in(changes: ChangeList) -> list[str]:
    """The changes that have a switch, as they are called."""
    names = [switch.accessibleName() for switch in changes.findChildren(Switch) if switch.isVisible()]
    return [name.removesuffix(": on or off") for name in names]


def test_the_list_below_the_chip_switches_and_removes_each(
    changed: MainWindow, session: Session, qtbot: QtBot
) -> None:
    press(changed.findChild(QPushButton, "surgery_list_button"), qtbot)
    popup = changed.header.chip.popup
    qtbot.waitUntil(popup.isVisible)
    changes = popup.findChild(ChangeList)
    assert listed_in(changes) == ["head 1·1 × 9", "head 1·2 × -9"]
    press(changes.findChildren(Switch)[0], qtbot)
    assert [item.enabled for item in session.surgery.interventions] == [False, True]
    press(changes.findChildren(QToolButton)[1], qtbot)
    assert listed_in(changes) == ["head 1·1 × 9"]
    press(changes.findChildren(QToolButton)[0], qtbot)
    assert not popup.isVisible()


@pytest.mark.slow
def test_what_lost_most_stands_first_with_both_numbers(
    changed: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    model = open_model(transformer_run)
    changes = session.surgery.interventions
    before, after = (
        next_distribution(trace(model, TEXT, interventions=items)["logits"].array[-1]).probabilities
        for items in ((), changes)
    )
    lost = int(np.argmin(after - before))

    def shown_bars() -> list[BeforeAfterBars]:
        return [found for found in changed.findChildren(BeforeAfterBars) if found.isVisible()]

    qtbot.waitUntil(lambda: bool(shown_bars()))  # they are made for the first change
    [bars] = shown_bars()
    token = model.tokenizer.token(lost)
    expected = f"{token} {100 * before[lost]:.1f} → {100 * after[lost]:.1f} %"
    qtbot.waitUntil(lambda: bars.accessibleDescription().startswith(expected), timeout=LONG)

    panel = next(panel for panel in changed.perspective.panels if panel.objectName() == "surgery_view")
    listed = panel.findChild(ChangeList)
    qtbot.waitUntil(lambda: None not in listed.effects, timeout=LONG)
    alone = [
        next_distribution(trace(model, TEXT, interventions=[item])["logits"].array[-1]).probabilities[lost]
        for item in changes
    ]
    assert listed.effects == pytest.approx((*alone, after[lost]), abs=1e-5)
