"""The Attention perspective: what is drawn is the trace; hover, pin, solo, badges; surgery and its undo."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox, QListWidget, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.main_window import MainWindow
from lmviz.app.session import Session
from lmviz.families import open_run_model
from lmviz.inspection.attention import combine_heads
from lmviz.inspection.head_badges import head_badges
from lmviz.inspection.interventions import scale_head
from lmviz.inspection.trace import trace
from lmviz.training.run import Run

LONG = 30_000
TEXT = "the cows eat grass the cows"


@pytest.fixture(scope="module")
def blind_run(make_run: Callable[..., Path]) -> Path:
    """A Transformer without any position embedding, two layers of two heads."""
    return make_run("transformer", 3, width=8, heads=2, layers=2, context=16, positions="none")


@pytest.fixture(scope="module")
def run(make_run: Callable[..., Path]) -> Path:
    """A Transformer with learned positions, two layers of two heads."""
    return make_run("transformer", 3, width=8, heads=2, layers=2, context=16)


def is_drawn(panels: dict[str, object]) -> bool:
    return panels["attention_view"].shown.size > 0 and len(panels["heads_view"].badges) > 0


def show(window: MainWindow, session: Session, folder: Path, qtbot: QtBot) -> dict[str, object]:
    session.open_model(folder)
    qtbot.waitUntil(lambda: session.model is not None, timeout=LONG)
    session.set_prefix(TEXT)
    qtbot.waitUntil(lambda: session.reading is not None and session.reading.trace.text == TEXT, timeout=LONG)
    window.show_perspective("attention")
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    qtbot.waitUntil(lambda: is_drawn(panels), timeout=LONG)
    return panels


@pytest.fixture
def panels(window: MainWindow, session: Session, run: Path, qtbot: QtBot) -> dict[str, object]:
    """The panels of the Attention perspective on a small Transformer."""
    return show(window, session, run, qtbot)


def reread(session: Session, qtbot: QtBot, act: Callable[[], None]) -> None:
    with qtbot.waitSignal(session.reading_changed, timeout=LONG):
        act()


def test_every_step_of_every_head_is_drawn_as_the_trace_has_it(
    panels: dict[str, object], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    picker, panel = window.findChild(QComboBox, "attention_step_picker"), panels["attention_view"]
    for step in range(picker.count()):
        picker.setCurrentIndex(step)
        for layer in range(2):
            for head in range(2):
                session.choose_head(layer, head)
                panel.refresh()
                address = f"layers/{layer}/attention/{picker.itemData(step)}"
                expected = session.reading.trace[address].array[head]
                np.testing.assert_array_equal(panel.shown, expected)


def test_several_heads_are_combined(panels: dict[str, object], session: Session, qtbot: QtBot) -> None:
    panel = panels["attention_view"]
    panels["heads_view"].mosaic.head_toggled.emit(1, 1)
    assert session.heads == ((0, 0), (1, 1))
    panel.refresh()
    np.testing.assert_allclose(panel.shown, combine_heads(session.reading.trace, [(0, 0), (1, 1)], "mean"))
    panels["heads_view"].mosaic.head_double_clicked.emit(0, 1)
    assert (session.head, session.heads) == ((0, 1), ())


def test_hovering_a_cell_shows_its_position_everywhere_and_explains_it(
    panels: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    matrix = panels["attention_view"].matrix
    place = matrix.cell_rectangle(4, 2).center()
    qtbot.mouseMove(matrix, QPoint(2, 2))
    qtbot.mouseMove(matrix, place.toPoint() if hasattr(place, "toPoint") else place)
    qtbot.waitUntil(lambda: session.hovered_position == 4, timeout=LONG)
    assert session.hovered_cell == ("layers/0/attention/weights", (0, 4, 2))
    why = panels["why_view"]
    qtbot.waitUntil(lambda: why.shown is not None and why.shown.index == (0, 4, 2), timeout=LONG)
    weight = session.reading.trace["layers/0/attention/weights"].array[0, 4, 2]
    assert why.shown.value == pytest.approx(float(weight), rel=1e-5)
    assert why.shown.evaluate() == pytest.approx(float(weight), rel=1e-4)


def test_badges_are_those_of_the_text_and_follow_it(
    panels: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    heads = panels["heads_view"]
    assert heads.badges == head_badges(session.reading.trace)
    reread(session, qtbot, lambda: session.set_prefix(TEXT + " eat"))
    qtbot.waitUntil(lambda: heads.badges == head_badges(session.reading.trace), timeout=LONG)


def test_surgery_is_the_cores_and_every_step_can_be_undone(
    panels: dict[str, object], window: MainWindow, session: Session, run: Path, qtbot: QtBot
) -> None:
    model = open_run_model(Run.open(run)).eval()
    before = session.reading.trace["logits"].array
    session.choose_head(1, 0)
    surgery = window.findChild(QListWidget)
    panels["surgery_view"].refresh()
    zero = window.findChild(QPushButton, "zero_head_button")
    reread(session, qtbot, lambda: qtbot.mouseClick(zero, Qt.MouseButton.LeftButton))
    expected = trace(model, TEXT, interventions=[scale_head(1, 0, 0.0)])["logits"].array
    np.testing.assert_allclose(session.reading.trace["logits"].array, expected, atol=1e-5)
    np.testing.assert_allclose(session.reading.baseline["logits"].array, before, atol=1e-6)
    assert not np.allclose(expected, before)

    qtbot.waitUntil(lambda: surgery.count() == 1, timeout=LONG)
    reread(session, qtbot, lambda: surgery.item(0).setCheckState(Qt.CheckState.Unchecked))
    np.testing.assert_allclose(session.reading.trace["logits"].array, before, atol=1e-6)

    session.choose_cell(("layers/0/feedforward/activation", (2, 3)))
    panels["surgery_view"].refresh()
    unit = window.findChild(QPushButton, "zero_unit_button")
    reread(session, qtbot, lambda: qtbot.mouseClick(unit, Qt.MouseButton.LeftButton))
    activation = session.reading.trace["layers/0/feedforward/activation"].array
    assert (activation[:, 3] == 0).all()
    for _ in range(3):
        reread(session, qtbot, session.undo_intervention)
    assert session.interventions == ()
    np.testing.assert_allclose(session.reading.trace["logits"].array, before, atol=1e-6)


def test_a_painted_row_still_sums_to_one(panels: dict[str, object], session: Session, qtbot: QtBot) -> None:
    matrix = panels["attention_view"].matrix
    reread(session, qtbot, lambda: matrix.cell_dragged.emit(4, 1, 0.8))
    row = session.reading.trace["layers/0/attention/weights"].array[0, 4]
    assert row[1] == pytest.approx(0.8)
    assert row.sum() == pytest.approx(1.0)
    reread(session, qtbot, lambda: matrix.cell_dragged.emit(4, 1, 0.3))
    matrix.drag_finished.emit()
    reread(session, qtbot, session.undo_intervention)
    assert session.interventions == ()


def test_without_positions_swapped_words_leave_the_last_attention_output_as_it_was(
    window: MainWindow, session: Session, blind_run: Path, qtbot: QtBot
) -> None:
    show(window, session, blind_run, qtbot)
    address = "layers/0/attention/output"
    before = session.reading.trace[address].array[-1]
    panel = next(p for p in window.perspective.panels if p.objectName() == "surgery_view")
    session.choose_position(2)
    panel.refresh()
    swap = window.findChild(QPushButton, "swap_words_button")
    reread(session, qtbot, lambda: qtbot.mouseClick(swap, Qt.MouseButton.LeftButton))
    ids, plain = session.reading.trace.ids, session.reading.baseline.ids
    assert (ids[1], ids[2]) == (plain[2], plain[1])
    np.testing.assert_allclose(session.reading.trace[address].array[-1], before, atol=1e-6)
    assert not np.allclose(
        session.reading.trace[address].array[1], session.reading.baseline[address].array[1]
    )


def test_a_text_grows_arcs_only_for_the_chosen_head(panels: dict[str, object], session: Session) -> None:
    text = panels["attention_text_view"]
    session.choose_head(1, 1)
    text.refresh()
    expected = session.reading.trace["layers/1/attention/weights"].array[1]
    np.testing.assert_allclose(text.weights, expected)


def test_shift_over_a_word_of_the_prefix_shows_who_looks_at_it(
    panels: dict[str, object], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    drawn = panels["attention_text_view"]
    qtbot.keyPress(window.prefix_bar.edit, Qt.Key.Key_Shift)
    assert not session.looked_at  # a capital letter is being typed
    qtbot.keyRelease(window.prefix_bar.edit, Qt.Key.Key_Shift)
    session.hover_position(1)
    looks = drawn.grab().toImage()
    qtbot.keyPress(window.prefix_bar.edit, Qt.Key.Key_Shift)
    assert session.looked_at
    assert drawn.grab().toImage() != looks
    qtbot.keyRelease(window.prefix_bar.edit, Qt.Key.Key_Shift)
    assert not session.looked_at
    assert drawn.grab().toImage() == looks
