"""The Inside perspective for every family: what is drawn is the trace, what is said is its arithmetic."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from covering import in_families
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from small_models import small_settings

from lmviz.app.panels.shared.why import WhyPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.diagrams.picture import Spot
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.text.breadcrumbs import Breadcrumbs
from lmviz.app.widgets.text.equation import EquationView
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES, open_run_model
from lmviz.inspection.equations import one_line
from lmviz.inspection.explain import explain
from lmviz.inspection.logit_lens import logit_lens, residual_norms
from lmviz.training.run import Run

LONG = 30_000


@pytest.fixture(scope="module", params=list(FAMILIES))
def run(request: pytest.FixtureRequest, make_run: Callable[..., Path]) -> Path:
    """A small run of each family."""
    return make_run(request.param, 3, **small_settings(request.param))


@pytest.fixture
def inside(window: MainWindow, session: Session, run: Path, qtbot: QtBot) -> dict[str, object]:
    """The panels of the Inside perspective, with a prefix read."""
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.text == "the cows eat",
        timeout=LONG,
    )
    window.show_perspective("inside")
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    qtbot.waitUntil(lambda: panels["state_view"].view is not None, timeout=LONG)
    return panels


def test_another_family_opens_at_the_stage_of_the_same_name_or_the_first(
    window: MainWindow, session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    folders = [make_run(name, 3, **small_settings(name)) for name in ("transformer", "ngram", "lstm")]

    def open_run(folder: Path) -> list[str]:
        session.library.open(folder)
        qtbot.waitUntil(
            lambda: (
                session.reading.current is not None
                and session.reading.current.model.folder == folder.resolve()
            ),
            timeout=LONG,
        )
        return [stage.title for stage in session.reading.current.trace.stages]

    session.reading.set_prefix("the cows eat")
    window.show_perspective("inside")
    titles = open_run(folders[0])
    session.focus.choose_stage(titles.index("Softmax"))
    titles = open_run(folders[2])
    assert titles[session.focus.stage] == "Softmax"
    gate = next(n for n, title in enumerate(titles) if "gate" in title.casefold())
    session.focus.choose_stage(gate)
    open_run(folders[1])
    assert session.focus.stage == 0
    session.focus.choose_stage(1)
    open_run(folders[0])
    assert session.focus.stage == 0


def test_the_unrolled_picture_scrolls_to_the_chosen_position(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    window.show_perspective("inside")
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("the cows eat grass " * 8)
    view = next(found for found in window.perspective.panels if found.objectName() == "picture_view").unrolled

    def is_in_sight(position: int) -> bool:
        return view.visibleRegion().contains(view.cell_rectangle(position, 0).center().toPoint())

    qtbot.waitUntil(lambda: session.reading.position > 20 and is_in_sight(session.reading.position))
    last = session.reading.position
    session.focus.choose_position(0)
    qtbot.waitUntil(lambda: is_in_sight(0) and not is_in_sight(last))
    session.focus.choose_position(last - 2)
    qtbot.waitUntil(lambda: is_in_sight(last - 2) and not is_in_sight(0))


def test_every_stage_draws_its_taps_as_the_trace_has_them(
    inside: dict[str, object], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    trace, stage_panel, state = session.reading.current.trace, inside["stage_view"], inside["state_view"]
    following = window.findChild(QPushButton, "stage_next")
    for number, stage in enumerate(trace.stages):
        if number:
            qtbot.mouseClick(following, Qt.MouseButton.LeftButton)
        assert session.focus.stage == number
        qtbot.waitUntil(lambda stage=stage: state.view.address == stage.results[0], timeout=LONG)
        qtbot.waitUntil(
            lambda stage=stage: set(stage.results) <= {v.address for v in stage_panel.views}, timeout=LONG
        )
        for view in (state.view, *stage_panel.views):
            array = trace[view.address].array
            for row in range(view.values.shape[0]):
                for column in range(view.values.shape[1]):
                    np.testing.assert_equal(view.values[row, column], array[view.index(row, column)])
        for view, strip in zip(stage_panel.views, stage_panel.strips.strips, strict=True):
            np.testing.assert_array_equal(view.values[0], strip.values)
    qtbot.mouseClick(window.findChild(QPushButton, "stage_previous"), Qt.MouseButton.LeftButton)
    assert session.focus.stage == len(trace.stages) - 2


@in_families("ngram", "transformer")
def test_python_gives_the_numbers_that_are_drawn(
    inside: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    trace, last = session.reading.current.trace, len(session.reading.current.trace.stages) - 1
    for stage in (0, last // 2, last):
        session.focus.choose_stage(stage)
        address = trace.stages[stage].results[0]
        qtbot.waitUntil(lambda address=address: inside["state_view"].view.address == address, timeout=LONG)
        for name in ("picture_view", "state_view", "stage_view"):
            found: dict[str, object] = {}
            exec(inside[name].recipe(), found)
            values, drawn = found.get("values"), inside[name].exported_arrays()
            if name == "state_view":
                values = {address: values}
            if values is None:
                assert [item.title for item in found["stages"]] == [item.title for item in trace.stages]
                continue
            assert values.keys() == drawn.keys()
            for key, array in drawn.items():
                np.testing.assert_allclose(values[key].reshape(array.shape), array, atol=1e-6)


@in_families("window", "lstm")
def test_a_stage_shows_numbers_of_the_pinned_cell_or_of_one_that_it_makes(
    inside: dict[str, object], session: Session, run: Path, qtbot: QtBot
) -> None:
    trace, equation = session.reading.current.trace, inside["stage_view"].findChild(EquationView)
    shapes = [trace[stage.results[0]].array.shape for stage in trace.stages]
    cell = (trace.stages[0].results[0], tuple(size - 1 for size in shapes[0]))
    session.focus.choose_cell(cell)
    expected = one_line(explain(open_run_model(Run.open(run)), trace, *cell))
    qtbot.waitUntil(lambda: equation.numbers.endswith(expected), timeout=LONG)
    other = next(n for n, shape in enumerate(shapes) if shape != shapes[0])
    session.focus.choose_stage(other)
    place = inside["stage_view"].operation
    qtbot.waitUntil(lambda: place.is_dashed and not equation.numbers.endswith(expected), timeout=LONG)


def test_a_pinned_unit_is_followed_from_stage_to_stage(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.text == "the cows eat",
        timeout=LONG,
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
            qtbot.waitUntil(lambda text=f"unit 4:  {expected}": equation.numbers == text, timeout=LONG)


@in_families("rnn", "transformer")
def test_the_next_stage_fades_in_and_the_next_word_does_not(
    inside: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    strips = inside["stage_view"].strips
    qtbot.waitUntil(lambda: len(strips.views) > 0, timeout=LONG)
    session.focus.choose_stage(1)
    qtbot.waitUntil(lambda: strips.is_crossfading, timeout=LONG)
    qtbot.waitUntil(lambda: not strips.is_crossfading, timeout=LONG)
    inside["stage_view"].refresh()
    assert not strips.is_crossfading


def is_explained(why: WhyPanel, cell: tuple[str, tuple[int, ...]]) -> bool:
    return why.shown is not None and (why.shown.address, why.shown.index) == cell


@in_families("ngram", "lstm")
def test_hovering_a_cell_says_why_it_has_its_value(
    inside: dict[str, object], session: Session, run: Path, qtbot: QtBot
) -> None:
    state, why = inside["state_view"], inside["why_view"]
    session.focus.choose_stage(1)
    address = session.reading.current.trace.stages[1].results[0]
    qtbot.waitUntil(lambda: state.view.address == address, timeout=LONG)
    heatmap = state.heatmap
    column = state.view.values.shape[1] - 1
    place = heatmap.cell_rectangle(0, column).center()
    qtbot.mouseMove(heatmap, QPoint(1, 1))
    qtbot.mouseMove(heatmap, place.toPoint() if hasattr(place, "toPoint") else place)
    cell = (address, state.view.index(0, column))
    qtbot.waitUntil(lambda: session.focus.hovered_cell == cell, timeout=LONG)
    qtbot.waitUntil(
        lambda: why.shown is not None and (why.shown.address, why.shown.index) == cell, timeout=LONG
    )
    model = open_run_model(Run.open(run))
    expected = explain(model, session.reading.current.trace, *cell)
    assert why.shown.index == expected.index
    assert why.shown.value == pytest.approx(expected.value)
    assert why.shown.evaluate() == pytest.approx(expected.value, rel=1e-3, abs=1e-5)


@in_families("window", "gru")
def test_a_click_pins_and_an_operand_leads_back(
    inside: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    trace, why = session.reading.current.trace, inside["why_view"]
    cell = ("probabilities", (len(trace.tokens) - 1, 2))
    session.focus.choose_cell(cell)
    qtbot.waitUntil(
        lambda: why.shown is not None and (why.shown.address, why.shown.index) == cell, timeout=LONG
    )
    factor = why.shown.terms[0].factors[0]
    with qtbot.waitSignal(session.focus.cell_changed):
        why.follow_operand(factor.source, tuple(int(i) for i in factor.indices[0]))
    assert session.focus.cell == (factor.source, tuple(int(i) for i in factor.indices[0]))
    assert factor.source in trace.stages[session.focus.stage].results
    session.focus.release()
    assert session.focus.cell is None


@in_families("rnn", "transformer")
def test_what_a_pinned_cell_came_from_is_lit_and_the_rest_fades(
    inside: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    trace, state, strips = session.reading.current.trace, inside["state_view"], inside["stage_view"].strips
    assert state.heatmap.lights is None
    assert strips.lights == ()
    session.focus.choose_stage(len(trace.stages) - 1)
    last = len(trace.tokens) - 1
    qtbot.waitUntil(lambda: state.view.address == "probabilities", timeout=LONG)
    token = state.view.rows[1]
    session.focus.choose_cell(("probabilities", (last, token)))
    qtbot.waitUntil(lambda: state.heatmap.lights is not None, timeout=LONG)
    lit = state.heatmap.lights
    assert lit[1, last] == 3
    assert (lit[1, :last] == 2).all()
    assert not np.delete(lit, 1, axis=0)[:, :last].any()
    operands = trace.stages[-1].operands
    views = [view.address for view in inside["stage_view"].views]
    assert all(strips.lights[views.index(address)].any() for address in operands if address in views)
    session.focus.release()
    assert state.heatmap.lights is None
    assert strips.lights == ()


@in_families("gru", "transformer")
def test_the_lens_says_what_each_layer_would_predict_and_leads_to_its_stage(
    inside: dict[str, object], session: Session, run: Path, qtbot: QtBot
) -> None:
    lens, trace = inside["lens_view"], session.reading.current.trace
    session.focus.choose_position(2)
    lens.set_in_front(True)
    lens.refresh()
    qtbot.waitUntil(lambda: lens.lens is not None and lens.lens.positions == (2,), timeout=LONG)
    expected = logit_lens(open_run_model(Run.open(run)), trace, 3, [2])
    assert lens.lens.places == expected.places
    np.testing.assert_array_equal(lens.lens.ids, expected.ids)
    np.testing.assert_allclose(lens.lens.probabilities, expected.probabilities, atol=1e-5)
    places, norms = residual_norms(trace)
    assert lens.norms == pytest.approx(dict(zip(places, norms[:, 2], strict=True)))
    lens.findChild(HeatmapView).cell_clicked.emit(0, 0)
    assert expected.places[0] in trace.stages[session.focus.stage].results


@in_families("ngram", "rnn")
def test_the_picture_says_where_one_is(inside: dict[str, object], session: Session, qtbot: QtBot) -> None:
    picture, trace = inside["picture_view"], session.reading.current.trace
    if any(stage.by_position for stage in trace.stages):
        unrolled = picture.unrolled
        place = unrolled.cell_rectangle(1, 0).topLeft().toPoint() + QPoint(4, 4)
        qtbot.mouseClick(unrolled, Qt.MouseButton.LeftButton, pos=place)
        assert session.focus.position == 1
        assert trace.stages[session.focus.stage].place == "layers/0"
    elif picture.ladder.isVisible():
        qtbot.waitUntil(lambda: not picture.ladder.rectangle(Spot("rung 2")).isEmpty(), timeout=LONG)
        place = picture.ladder.rectangle(Spot("rung 2")).topLeft().toPoint() + QPoint(3, 3)
        qtbot.mouseClick(picture.ladder, Qt.MouseButton.LeftButton, pos=place)
        assert trace.stages[session.focus.stage].place == "orders/2"


@in_families("rnn", "lstm")
def test_sorting_by_similarity_moves_rows_but_keeps_their_names(
    inside: dict[str, object], session: Session, qtbot: QtBot
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
    qtbot.waitUntil(lambda: state.view.address == address, timeout=LONG)
    state.refresh()
    assert sorted(state.view.rows) == list(range(state.view.values.shape[0]))
    np.testing.assert_array_equal(
        state.view.values, session.reading.current.trace[address].array.T[list(state.view.rows)]
    )


@in_families("rnn", "gru")
def test_a_dragged_value_changes_what_comes_later_and_one_undo_takes_it_back(
    inside: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    state, trace = inside["state_view"], session.reading.current.trace
    address = "layers/0/hidden" if "layers/0/hidden" in trace.arrays else ""
    if not address:
        return
    before = trace["logits"].array
    session.focus.choose_stage(next(n for n, s in enumerate(trace.stages) if address in s.results))
    qtbot.waitUntil(lambda: state.view.address == address, timeout=LONG)
    for value in (0.4, 0.9):
        with qtbot.waitSignal(session.reading.changed, timeout=LONG):
            state.heatmap.cell_dragged.emit(2, 1, value)
    state.heatmap.drag_finished.emit()
    after = session.reading.current.trace
    assert after[address].array[1, 2] == pytest.approx(0.9)
    np.testing.assert_allclose(after["logits"].array[0], before[0], atol=1e-6)
    assert not np.allclose(after["logits"].array[1:], before[1:])
    with qtbot.waitSignal(session.reading.changed, timeout=LONG):
        session.surgery.undo()
    assert session.surgery.interventions == ()


def test_the_picture_of_another_family_can_be_scrolled_to_its_end(
    window: MainWindow, session: Session, make_run: Callable[..., Path], lstm_run: Path, qtbot: QtBot
) -> None:
    text = "the cows eat grass and " * 6
    session.library.open(make_run("ngram", 3, order=2))
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix(text)
    window.show_perspective("inside")
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.text == text,
        timeout=LONG,
    )
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.reading.current.trace.family == "lstm", timeout=LONG)
    panel = next(panel for panel in window.perspective.panels if panel.objectName() == "picture_view")
    needed = panel.unrolled.minimumSizeHint
    qtbot.waitUntil(lambda: panel.unrolled.width() == needed().width() > panel.width(), timeout=LONG)


@in_families("window", "transformer")
def test_strips_and_steps_back_are_told_apart_by_their_names(
    inside: dict[str, object], session: Session, qtbot: QtBot
) -> None:
    stage_panel, trace = inside["stage_view"], session.reading.current.trace
    for number in range(len(trace.stages)):
        session.focus.choose_stage(number)
        stage_panel.refresh()
        names = [strip.label for strip in stage_panel.strips.strips]
        assert len(set(names)) == len(names), names


def test_the_way_back_is_told_in_words(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.text == "the cows eat",
        timeout=LONG,
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
    qtbot.waitUntil(lambda: way.accessibleDescription() == expected, timeout=LONG)


@in_families("lstm")
def test_one_key_shows_and_hides_the_numbers_but_where_text_is_typed(
    inside: dict[str, object], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    equation = inside["stage_view"].findChild(EquationView)
    window.activateWindow()
    inside["state_view"].heatmap.setFocus()
    qtbot.waitUntil(inside["state_view"].heatmap.hasFocus, timeout=LONG)
    qtbot.keyClick(inside["state_view"].heatmap, Qt.Key.Key_N)
    assert not equation.numbers_shown
    window.prefix_bar.edit.setFocus()
    qtbot.keyClick(window.prefix_bar.edit, Qt.Key.Key_N)
    assert not equation.numbers_shown
    assert session.reading.prefix.endswith("n")
