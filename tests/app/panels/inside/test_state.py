"""The State panel: sorted rows keep their names, and a value that is dragged changes the reading."""

import numpy as np
import pytest
from covering import in_families
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session


@in_families("rnn", "lstm")
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


@in_families("rnn", "gru")
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
            state.heatmap.cell_dragged.emit(2, 1, value)
    state.heatmap.drag_finished.emit()
    after = session.reading.current.trace
    assert after[address].array[1, 2] == pytest.approx(0.9)
    np.testing.assert_allclose(after["logits"].array[0], before[0], atol=1e-6)
    assert not np.allclose(after["logits"].array[1:], before[1:])
    with qtbot.waitSignal(session.reading.changed):
        session.surgery.undo()
    assert session.surgery.interventions == ()
