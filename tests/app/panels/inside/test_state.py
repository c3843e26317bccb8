"""The State panel: sorted rows keep their names, and a value that is dragged changes the reading."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benches.compare import bring_to_front
from covering import in_families
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.training import train
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.inside.stage import StagePanel
from lmviz.app.panels.inside.state import StatePanel
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.position_curve import PositionCurve
from lmviz.app.window.main_window import MainWindow
from lmviz.text.corpus import load_corpus

ONLY_PANELS = ("state", "unit", "stage")


@in_families("lstm")
def test_sorting_by_similarity_moves_rows_but_keeps_their_names(
    inside: dict[str, Panel], session: Session, qtbot: QtBot
) -> None:
    state = inside["state_view"]
    address = next(
        (
            a
            for a, traced in session.reading.current.trace.arrays.items()
            if traced.axes == ("position", "unit")
        ),
        None,
    )
    if address is None:
        return
    stage = next(n for n, s in enumerate(session.reading.current.trace.stages) if address in s.results)
    session.focus.choose_stage(stage)
    state.order_picker.setCurrentIndex(1)
    qtbot.waitUntil(lambda: state.view.address == address)
    state.refresh()
    assert sorted(state.view.rows) == list(range(state.view.values.shape[0]))
    np.testing.assert_array_equal(
        state.view.values, session.reading.current.trace[address].array.T[list(state.view.rows)]
    )


@pytest.mark.slow
def test_pointing_at_a_column_of_the_source_leaves_the_position_of_the_translation(
    window: MainWindow, attending_run: Path, read_pair: Callable[..., Session], qtbot: QtBot
) -> None:
    session = read_pair(attending_run)
    window.show_perspective("inside")
    [state] = window.perspective.findChildren(StatePanel)
    trace = session.reading.current.trace
    for address, moves in (("encoder/layers/0/hidden", False), ("decoder/layers/0/hidden", True)):
        session.focus.choose_stage(next(n for n, s in enumerate(trace.stages) if address in s.results))
        qtbot.waitUntil(lambda address=address: state.view is not None and state.view.address == address)
        before = session.focus.shown_position
        state.findChild(HeatmapView).cell_hovered.emit(1, 0)
        assert (session.focus.shown_position != before) is moves
        state.findChild(HeatmapView).left.emit()
        place, position = 0 if moves else 3, session.focus.position
        state.findChild(HeatmapView).cell_clicked.emit(1, place)
        assert (session.focus.source, session.focus.position) == (3, 0 if moves else position)


@pytest.mark.slow
def test_a_click_on_the_curve_of_a_unit_of_the_encoder_pins_a_word_of_the_source(
    window: MainWindow, attending_run: Path, read_pair: Callable[..., Session], qtbot: QtBot
) -> None:
    session = read_pair(attending_run)
    window.show_perspective("inside")
    unit, position = bring_to_front(window, "unit_view", qtbot), session.focus.position
    session.focus.choose_cell(("encoder/layers/0/hidden", (0, 2)))
    qtbot.waitUntil(lambda: "encoder/layers/0/hidden[:, 2]" in unit.exported_arrays())
    curve = unit.findChild(PositionCurve)
    curve.part_hovered.emit(3)
    assert (session.focus.hovered_source, session.focus.hovered_position) == (3, None)
    curve.part_hovered.emit(-1)
    curve.part_clicked.emit(1)
    assert (session.focus.source, session.focus.hovered_source) == (1, None)
    assert session.focus.position == position


@pytest.mark.slow
def test_stages_of_an_encoder_are_those_at_the_pinned_word_of_the_source(
    window: MainWindow, attending_run: Path, read_pair: Callable[..., Session], qtbot: QtBot
) -> None:
    session = read_pair(attending_run)
    window.show_perspective("inside")
    [stages] = window.perspective.findChildren(StagePanel)
    trace, address = session.reading.current.trace, "encoder/layers/0/hidden"
    session.focus.choose_stage(next(n for n, s in enumerate(trace.stages) if address in s.results))
    assert len(trace) == 3  # fewer than the four tokens of the source
    for place in (3, 1):
        session.focus.choose_source(place)

        def shown(place: int = place) -> bool:
            return any(view.address == address and view.fixed == {"source": place} for view in stages.views)

        qtbot.waitUntil(shown)
        [view] = [view for view in stages.views if view.address == address and view.fixed["source"] == place]
        np.testing.assert_array_equal(view.values[0], trace[address].array[place])
    session.focus.choose_source(None)
    qtbot.waitUntil(lambda: any(view.fixed == {"source": 2} for view in stages.views))  # of the same number


@in_families("gru")
def test_a_dragged_value_changes_what_comes_later_and_one_undo_takes_it_back(
    inside: dict[str, Panel], session: Session, qtbot: QtBot
) -> None:
    state, trace = inside["state_view"], session.reading.current.trace
    address = "layers/0/hidden" if "layers/0/hidden" in trace.arrays else ""
    if not address:
        return
    before = trace["logits"].array
    session.focus.choose_stage(next(n for n, s in enumerate(trace.stages) if address in s.results))
    qtbot.waitUntil(lambda: state.view.address == address)
    for value in (0.4, 0.9):
        with qtbot.waitSignal(session.reading.changed):
            state.findChild(HeatmapView).cell_dragged.emit(2, 1, value)
    state.findChild(HeatmapView).drag_finished.emit()
    after = session.reading.current.trace
    assert after[address].array[1, 2] == pytest.approx(0.9)
    np.testing.assert_allclose(after["logits"].array[0], before[0], atol=1e-6)
    assert not np.allclose(after["logits"].array[1:], before[1:])
    with qtbot.waitSignal(session.reading.changed):
        session.surgery.undo()
    assert session.surgery.interventions == ()


@pytest.mark.slow
@in_families("rnn", "gru")
def test_the_hover_card_says_the_number_that_a_dragged_cell_has_now(
    inside: dict[str, Panel], session: Session, qtbot: QtBot
) -> None:
    state, trace = inside["state_view"], session.reading.current.trace
    if "layers/0/hidden" not in trace.arrays:
        return
    session.focus.choose_stage(next(n for n, s in enumerate(trace.stages) if "layers/0/hidden" in s.results))
    qtbot.waitUntil(lambda: state.view.address == "layers/0/hidden")
    heatmap, before = state.findChild(HeatmapView), float(trace["layers/0/hidden"].array[1, 2])
    qtbot.mouseClick(state.findChild(QPushButton, "drag_values_button"), Qt.MouseButton.LeftButton)
    place = heatmap.cell_rectangle(2, 1).center().toPoint()
    qtbot.mouseMove(heatmap, place - QPoint(0, 1))
    qtbot.mouseMove(heatmap, place)
    card = heatmap.window().findChild(HoverCard)
    qtbot.waitUntil(lambda: card.isVisible() and card.title == number(before))
    qtbot.mousePress(heatmap, Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseMove(heatmap, place - QPoint(0, 40))

    def dragged() -> float:
        return float(session.reading.current.trace["layers/0/hidden"].array[1, 2])

    qtbot.waitUntil(lambda: dragged() > before + 0.1)
    qtbot.waitUntil(lambda: card.title == number(dragged()))
    assert card.isVisible()
    assert card.title != number(before)
    qtbot.mouseRelease(heatmap, Qt.MouseButton.LeftButton, pos=place - QPoint(0, 40))


@pytest.mark.slow
def test_of_a_wide_softmax_cells_are_told_apart_that_a_straight_scale_would_show_alike(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    """Of sixty words each has about one sixtieth: on a scale from 0 to 1 all of them would be white."""
    text = tmp_path / "many.txt"
    text.write_text("\n".join(f"the w{n} sees the w{(7 * n) % 60}" for n in range(60)) * 3, encoding="utf-8")
    run = train("rnn", load_corpus(text, documents="line"), tmp_path / "run", steps=2, width=8, batch=2)
    window.show_perspective("inside")
    session.library.open(run.folder)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the w1 sees the")
    qtbot.waitUntil(lambda: session.reading.current is not None)
    stages = session.reading.current.trace.stages
    session.focus.choose_stage(next(n for n, stage in enumerate(stages) if "probabilities" in stage.results))
    state = next(panel for panel in window.perspective.panels if panel.objectName() == "state_view")
    qtbot.waitUntil(lambda: state.view is not None and state.view.address == "probabilities")
    heatmap, values = state.findChild(HeatmapView), state.view.values
    assert 0.001 < np.nanmin(values) < np.nanmax(values) < 0.1
    picture = heatmap.grab().toImage()
    ratio = picture.devicePixelRatio()

    def color(row: int, column: int) -> tuple[int, int, int]:
        place = heatmap.cell_rectangle(row, column).topLeft() + QPointF(2, 2)
        return picture.pixelColor((place * ratio).toPoint()).getRgb()[:3]

    plain = current_theme().share_none.getRgb()[:3]
    cells = [(row, 0) for row in range(values.shape[0])]
    away = [sum(abs(a - b) for a, b in zip(color(*cell), plain, strict=True)) for cell in cells]
    straight = [sum(abs(a - b) for a, b in zip(linear(values[cell]), plain, strict=True)) for cell in cells]
    assert max(away) > 3 * max(straight)


def linear(share: float) -> tuple[int, int, int]:
    """The colour of a share on a straight scale from 0 to 1."""
    return tuple(int(part) for part in current_theme().share_map[round(255 * float(share))][:3])


@pytest.mark.slow
def test_a_narrow_panel_says_how_large_the_matrix_is_and_can_be_edited(
    session: Session, read: Session, qtbot: QtBot
) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    holder.resize(800, 400)
    panel = StatePanel(session)
    panel.setParent(holder)
    holder.show()
    panel.setGeometry(0, 0, 600, 360)
    qtbot.waitUntil(lambda: panel.view is not None and panel.is_up_to_date)
    rows, columns = panel.view.values.shape
    card, edit = panel.findChild(Card), panel.findChild(QPushButton, "drag_values_button")

    def title_at(width: int) -> str:
        panel.setGeometry(0, 0, width, 360)
        qtbot.waitUntil(lambda: panel.is_up_to_date)
        return card.title if edit.isVisible() and not panel.order_picker.isVisible() else ""

    assert f"{rows} × {columns}" in [title_at(width) for width in range(500, 240, -10)]
