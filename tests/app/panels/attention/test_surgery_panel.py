"""The Surgery panel on attention: its buttons, painted rows, and undo."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from covering import others_slow
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.surgery import SurgeryPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.scrolling import QuietScrollArea
from lmviz.app.widgets.controls.change_list import ChangeList
from lmviz.app.widgets.controls.switch import Switch
from lmviz.app.window.main_window import MainWindow
from lmviz.families import open_run_model
from lmviz.inspection.interventions import scale_head
from lmviz.inspection.tracing import trace
from lmviz.training.run import Run

ONLY_PANELS = ("surgery", "attention")


@pytest.fixture(scope="module")
def blind_run(make_run: Callable[..., Path]) -> Path:
    """A Transformer without any position embedding, two layers of two heads."""
    return make_run("transformer", 3, width=8, heads=2, layers=2, context=16, positions="none")


@pytest.mark.slow
@pytest.mark.parametrize("size", others_slow([(1000, 640), (1280, 720), (1920, 1080)], (1000, 640)))
def test_surgery_keeps_its_buttons_in_the_panel_and_counts_from_one(
    panels: dict[str, Panel], window: MainWindow, session: Session, size: tuple[int, int], qtbot: QtBot
) -> None:
    window.resize(*size)
    surgery = panels["surgery_view"]
    session.focus.choose_cell(("layers/1/attention/weights", (0, 4, 2)))
    pinned = window.findChild(QLabel, "pinned_cell")
    qtbot.waitUntil(pinned.isVisible)
    assert pinned.text() == "Pinned: layer 2, attention weights, head 1, query 5 “grass”, key 3 “cows”"
    area = surgery.findChild(QuietScrollArea)
    qtbot.waitUntil(lambda: area.widget().width() <= area.viewport().width())
    for button in area.findChildren(QPushButton):
        assert "[" not in button.text()
        assert button.mapTo(area.viewport(), button.rect().topRight()).x() < area.viewport().width()


@pytest.mark.slow
def test_positions_are_taken_from_the_model_that_was_shown_at_the_click(
    panels: dict[str, Panel],
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    gate: threading.Event,
    qtbot: QtBot,
    answered: Callable[[], None],
) -> None:
    shown = session.library.model
    session.library.open(make_run("transformer", 3, width=8, heads=2, layers=2, context=16))
    qtbot.waitUntil(lambda: len(session.library.models) == 2)
    session.library.choose(shown)
    qtbot.waitUntil(lambda: session.reading.current.model == shown and not session.reading.is_busy)
    button = window.findChild(QPushButton, "no_positions_button")
    qtbot.waitUntil(lambda: panels["surgery_view"].is_up_to_date and button.isEnabled())
    session.work.ask("held", gate.wait, lambda _: None, pytest.fail)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    other = next(model for model in session.library.models if model != shown)
    session.library.choose(other)
    gate.set()
    answered()
    assert session.surgery.interventions == ()
    qtbot.waitUntil(lambda: panels["surgery_view"].is_up_to_date and button.isEnabled())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    answered()
    assert session.surgery.interventions


@pytest.mark.slow
def test_the_two_words_of_a_pinned_weight_change_places(
    panels: dict[str, Panel],
    window: MainWindow,
    session: Session,
    qtbot: QtBot,
    reread: Callable[[Callable[[], object]], None],
) -> None:
    tokens = list(session.reading.current.trace.tokens)
    session.focus.choose_cell(("layers/1/attention/weights", (0, 5, 1)))
    panels["surgery_view"].refresh()
    swap = window.findChild(QPushButton, "swap_words_button")
    reread(lambda: qtbot.mouseClick(swap, Qt.MouseButton.LeftButton))
    tokens[1], tokens[5] = tokens[5], tokens[1]
    assert list(session.reading.current.trace.tokens) == tokens


def test_surgery_is_the_cores_and_every_step_can_be_undone(
    panels: dict[str, Panel],
    window: MainWindow,
    session: Session,
    run: Path,
    qtbot: QtBot,
    reread: Callable[[Callable[[], object]], None],
) -> None:
    model = open_run_model(Run.open(run)).eval()
    before = session.reading.current.trace["logits"].array
    session.attention.choose_head(1, 0)
    surgery = panels["surgery_view"].findChild(ChangeList)
    panels["surgery_view"].refresh()
    zero = window.findChild(QPushButton, "zero_head_button")
    reread(lambda: qtbot.mouseClick(zero, Qt.MouseButton.LeftButton))
    expected = trace(model, session.reading.prefix, interventions=[scale_head(1, 0, 0.0)])["logits"].array
    np.testing.assert_allclose(session.reading.current.trace["logits"].array, expected, atol=1e-5)
    np.testing.assert_allclose(session.reading.current.baseline["logits"].array, before, atol=1e-6)
    assert not np.allclose(expected, before)

    qtbot.waitUntil(lambda: surgery.findChild(Switch) is not None)
    assert surgery.findChild(Switch).accessibleName() == "head 2·1 off: on or off"
    reread(surgery.findChild(Switch).click)
    np.testing.assert_allclose(session.reading.current.trace["logits"].array, before, atol=1e-6)

    session.focus.choose_cell(("layers/0/feedforward/activation", (2, 3)))
    panels["surgery_view"].refresh()
    unit = window.findChild(QPushButton, "zero_unit_button")
    reread(lambda: qtbot.mouseClick(unit, Qt.MouseButton.LeftButton))
    activation = session.reading.current.trace["layers/0/feedforward/activation"].array
    assert (activation[:, 3] == 0).all()
    for _ in range(3):
        reread(session.surgery.undo)
    assert session.surgery.interventions == ()
    np.testing.assert_allclose(session.reading.current.trace["logits"].array, before, atol=1e-6)


def test_a_painted_row_still_sums_to_one(
    panels: dict[str, Panel], session: Session, reread: Callable[[Callable[[], object]], None]
) -> None:
    matrix = panels["attention_view"].matrix
    reread(lambda: matrix.cell_dragged.emit(4, 1, 0.8))
    row = session.reading.current.trace["layers/0/attention/weights"].array[0, 4]
    assert row[1] == pytest.approx(0.8)
    assert row.sum() == pytest.approx(1.0)
    reread(lambda: matrix.cell_dragged.emit(4, 1, 0.3))
    matrix.drag_finished.emit()
    reread(session.surgery.undo)
    assert session.surgery.interventions == ()


@pytest.mark.slow
def test_without_positions_swapped_words_leave_the_last_attention_output_as_it_was(
    window: MainWindow,
    session: Session,
    blind_run: Path,
    qtbot: QtBot,
    reread: Callable[[Callable[[], object]], None],
    show_text: Callable[[Path], dict[str, Panel]],
) -> None:
    show_text(blind_run)
    address = "layers/0/attention/output"
    before = session.reading.current.trace[address].array[-1]
    panel = next(p for p in window.perspective.panels if p.objectName() == "surgery_view")
    session.focus.choose_position(2)
    panel.refresh()
    swap = window.findChild(QPushButton, "swap_words_button")
    reread(lambda: qtbot.mouseClick(swap, Qt.MouseButton.LeftButton))
    ids, plain = session.reading.current.trace.ids, session.reading.current.baseline.ids
    assert (ids[1], ids[2]) == (plain[2], plain[1])
    np.testing.assert_allclose(session.reading.current.trace[address].array[-1], before, atol=1e-6)
    assert not np.allclose(
        session.reading.current.trace[address].array[1], session.reading.current.baseline[address].array[1]
    )


def test_it_asks_for_no_more_room_than_it_asked_for_before_it_was_wide(
    session: Session, qtbot: QtBot
) -> None:
    """Or a column that a person has made narrow would be wider the next time."""
    panel = SurgeryPanel(session)
    qtbot.addWidget(panel)
    panel.show()
    least = []
    for width in (260, 700):
        panel.resize(width, 300)
        QApplication.processEvents()
        least.append(panel.findChild(QuietScrollArea).minimumSizeHint().width())
    assert least[0] == least[1] <= 260
