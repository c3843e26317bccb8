"""A cell that is pointed at or pinned: why it has its value, what it came from, and the way back."""

from pathlib import Path

import numpy as np
import pytest
from covering import in_families
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.why import WhyPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.text.breadcrumbs import Breadcrumbs
from lmviz.app.widgets.text.equation import EquationView
from lmviz.app.window.main_window import MainWindow
from lmviz.families import open_run_model
from lmviz.inspection.equations import one_line
from lmviz.inspection.explain import explain
from lmviz.training.run import Run

ONLY_PANELS = ("stage", "state", "why")


def test_a_pinned_unit_is_followed_from_stage_to_stage(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.text == "the cows eat",
    )
    window.show_perspective("inside")
    stage_panel = next(panel for panel in window.perspective.panels if panel.objectName() == "stage_view")
    equation, model = stage_panel.findChild(EquationView), open_run_model(Run.open(lstm_run))
    index = (len(session.reading.current.trace.tokens) - 1, 3)
    session.focus.choose_cell(("layers/0/cell", index))
    for number, stage in enumerate(session.reading.current.trace.stages):
        if stage.place == "layers/0":
            session.focus.choose_stage(number)
            expected = one_line(explain(model, session.reading.current.trace, stage.results[0], index))
            qtbot.waitUntil(lambda text=f"unit 4:  {expected}": equation.numbers == text)


@in_families("lstm")
def test_hovering_a_cell_says_why_it_has_its_value(
    inside: dict[str, Panel], session: Session, run: Path, qtbot: QtBot
) -> None:
    state, why = inside["state_view"], inside["why_view"]
    session.focus.choose_stage(1)
    address = session.reading.current.trace.stages[1].results[0]
    qtbot.waitUntil(lambda: state.view.address == address)
    heatmap = state.findChild(HeatmapView)
    column = state.view.values.shape[1] - 1
    place = heatmap.cell_rectangle(0, column).center()
    qtbot.mouseMove(heatmap, QPoint(1, 1))
    qtbot.mouseMove(heatmap, place.toPoint() if hasattr(place, "toPoint") else place)
    cell = (address, state.view.index(0, column))
    qtbot.waitUntil(lambda: session.focus.hovered_cell == cell)
    qtbot.waitUntil(lambda: is_explained(why, cell))
    model = open_run_model(Run.open(run))
    expected = explain(model, session.reading.current.trace, *cell)
    assert why.shown.index == expected.index
    assert why.shown.value == pytest.approx(expected.value)
    assert why.shown.evaluate() == pytest.approx(expected.value, rel=1e-3, abs=1e-5)


@pytest.mark.slow
@in_families("gru")
def test_a_click_pins_and_an_operand_leads_back(
    inside: dict[str, Panel], session: Session, qtbot: QtBot
) -> None:
    trace, why = session.reading.current.trace, inside["why_view"]
    cell = ("probabilities", (len(trace.tokens) - 1, 2))
    session.focus.choose_cell(cell)
    qtbot.waitUntil(lambda: is_explained(why, cell))
    factor = why.shown.terms[0].factors[0]
    with qtbot.waitSignal(session.focus.cell_changed):
        why.follow_operand(factor.source, tuple(int(i) for i in factor.indices[0]))
    assert session.focus.cell == (factor.source, tuple(int(i) for i in factor.indices[0]))
    assert factor.source in trace.stages[session.focus.stage].results
    session.focus.release()
    assert session.focus.cell is None


@pytest.mark.slow
@in_families("rnn")
def test_what_a_pinned_cell_came_from_is_lit_and_the_rest_fades(
    inside: dict[str, Panel], session: Session, qtbot: QtBot
) -> None:
    trace, state, strips = session.reading.current.trace, inside["state_view"], inside["stage_view"].strips
    assert state.findChild(HeatmapView).lights is None
    assert strips.lights == ()
    session.focus.choose_stage(len(trace.stages) - 1)
    last = len(trace.tokens) - 1
    qtbot.waitUntil(lambda: state.view.address == "probabilities")
    token = state.view.rows[1]
    session.focus.choose_cell(("probabilities", (last, token)))
    qtbot.waitUntil(lambda: state.findChild(HeatmapView).lights is not None)
    lit = state.findChild(HeatmapView).lights
    assert lit[1, last] == 3
    assert (lit[1, :last] == 2).all()
    assert not np.delete(lit, 1, axis=0)[:, :last].any()
    operands = trace.stages[-1].operands
    views = [view.address for view in inside["stage_view"].views]
    assert all(strips.lights[views.index(address)].any() for address in operands if address in views)
    session.focus.release()
    assert state.findChild(HeatmapView).lights is None
    assert strips.lights == ()


@pytest.mark.slow
def test_the_way_back_is_told_in_words(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.text == "the cows eat",
    )
    window.show_perspective("inside")
    why = next(panel for panel in window.perspective.panels if panel.objectName() == "why_view")
    last, cow = (
        len(session.reading.current.trace.tokens) - 1,
        session.library.model.tokenizer.encode("cows")[0],
    )
    session.focus.choose_cell(("probabilities", (last, int(cow))))
    session.focus.choose_cell(("layers/0/hidden", (last, 3)))
    way = why.findChild(Breadcrumbs)
    expected = "probabilities “cows” › hidden “eat” · 4"
    qtbot.waitUntil(lambda: way.accessibleDescription() == expected)


def is_explained(why: WhyPanel, cell: tuple[str, tuple[int, ...]]) -> bool:
    return why.shown is not None and (why.shown.address, why.shown.index) == cell
