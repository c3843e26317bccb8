"""The walk through the stages, for every family: what is drawn is the trace."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from covering import in_families
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from small_models import small_settings

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.text.equation import EquationView
from lmviz.app.window.main_window import MainWindow
from lmviz.families import open_run_model
from lmviz.inspection.equations import one_line
from lmviz.inspection.explain import explain
from lmviz.training.run import Run

ONLY_PANELS = ("picture", "stage", "state")


@pytest.mark.slow
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


@in_families("window", "transformer")
def test_every_stage_draws_its_taps_as_the_trace_has_them(
    inside: dict[str, Panel], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    trace, stage_panel, state = session.reading.current.trace, inside["stage_view"], inside["state_view"]
    following = window.findChild(QPushButton, "stage_next")
    for number, stage in enumerate(trace.stages):
        if number:
            qtbot.mouseClick(following, Qt.MouseButton.LeftButton)
        assert session.focus.stage == number
        qtbot.waitUntil(lambda stage=stage: state.view.address == stage.results[0])
        qtbot.waitUntil(lambda stage=stage: set(stage.results) <= {v.address for v in stage_panel.views})
        for view in (state.view, *stage_panel.views):
            array = trace[view.address].array
            for row in range(view.values.shape[0]):
                for column in range(view.values.shape[1]):
                    np.testing.assert_equal(view.values[row, column], array[view.index(row, column)])
        for view, strip in zip(stage_panel.views, stage_panel.strips.strips, strict=True):
            np.testing.assert_array_equal(view.values[0], strip.values)
    qtbot.mouseClick(window.findChild(QPushButton, "stage_previous"), Qt.MouseButton.LeftButton)
    assert session.focus.stage == len(trace.stages) - 2


@in_families("ngram")
def test_python_gives_the_numbers_that_are_drawn(
    inside: dict[str, Panel], session: Session, qtbot: QtBot
) -> None:
    trace, last = session.reading.current.trace, len(session.reading.current.trace.stages) - 1
    for stage in (0, last // 2, last):
        session.focus.choose_stage(stage)
        address = trace.stages[stage].results[0]
        qtbot.waitUntil(lambda address=address: inside["state_view"].view.address == address)
        for name in ("picture_view", "state_view", "stage_view"):
            found: dict[str, Panel] = {}
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


@pytest.mark.slow
@in_families("window", "lstm")
def test_a_stage_shows_numbers_of_the_pinned_cell_or_of_one_that_it_makes(
    inside: dict[str, Panel], session: Session, run: Path, qtbot: QtBot
) -> None:
    trace, equation = session.reading.current.trace, inside["stage_view"].findChild(EquationView)
    shapes = [trace[stage.results[0]].array.shape for stage in trace.stages]
    cell = (trace.stages[0].results[0], tuple(size - 1 for size in shapes[0]))
    session.focus.choose_cell(cell)
    expected = one_line(explain(open_run_model(Run.open(run)), trace, *cell))
    qtbot.waitUntil(lambda: equation.numbers.endswith(expected))
    other = next(n for n, shape in enumerate(shapes) if shape != shapes[0])
    session.focus.choose_stage(other)
    place = inside["stage_view"].operation
    qtbot.waitUntil(lambda: place.is_dashed and not equation.numbers.endswith(expected))


@pytest.mark.slow
@in_families("rnn", "transformer")
def test_the_next_stage_fades_in_and_the_next_word_does_not(
    inside: dict[str, Panel], session: Session, qtbot: QtBot
) -> None:
    strips = inside["stage_view"].strips
    qtbot.waitUntil(lambda: len(strips.views) > 0)
    session.focus.choose_stage(1)
    qtbot.waitUntil(lambda: strips.is_crossfading)
    qtbot.waitUntil(lambda: not strips.is_crossfading)
    inside["stage_view"].refresh()
    assert not strips.is_crossfading


@pytest.mark.slow
@in_families("transformer")
def test_strips_and_steps_back_are_told_apart_by_their_names(
    inside: dict[str, Panel], session: Session, qtbot: QtBot
) -> None:
    stage_panel, trace = inside["stage_view"], session.reading.current.trace
    for number in range(len(trace.stages)):
        session.focus.choose_stage(number)
        stage_panel.refresh()
        names = [strip.label for strip in stage_panel.strips.strips]
        assert len(set(names)) == len(names), names


@in_families("lstm")
def test_one_key_shows_and_hides_the_numbers_but_where_text_is_typed(
    inside: dict[str, Panel], window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    equation = inside["stage_view"].findChild(EquationView)
    window.activateWindow()
    inside["state_view"].findChild(HeatmapView).setFocus()
    qtbot.waitUntil(inside["state_view"].findChild(HeatmapView).hasFocus)
    qtbot.keyClick(inside["state_view"].findChild(HeatmapView), Qt.Key.Key_N)
    assert not equation.numbers_shown
    window.prefix_bar.edit.setFocus()
    qtbot.keyClick(window.prefix_bar.edit, Qt.Key.Key_N)
    assert not equation.numbers_shown
    assert session.reading.prefix.endswith("n")
