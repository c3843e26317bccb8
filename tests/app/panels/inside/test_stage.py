"""Stages: a sentence about the word, and the operation of the chosen cell in its numbers."""

from pathlib import Path

import numpy as np
import pytest
from covering import in_families
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from told import words_of

from lmviz.app.panels.inside.stage import StagePanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.diagrams.stage_timeline import StageTimeline
from lmviz.app.window.main_window import MainWindow
from lmviz.families import open_run_model
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.backward_sentence import backward_sentence
from lmviz.inspection.explain import explain
from lmviz.inspection.stage_sentence import plain, stage_sentence
from lmviz.inspection.strongest import strongest_cell
from lmviz.inspection.views import likeliest_answers, strip
from lmviz.training.run import Run

ONLY_PANELS = ("stage",)


@pytest.fixture
def panel(window: MainWindow, session: Session, run: Path, qtbot: QtBot) -> StagePanel:
    """The stages of a small model of each family, with a prefix read."""
    session.library.open(run)
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy)
    window.show_perspective("inside")
    [found] = [panel for panel in window.perspective.panels if isinstance(panel, StagePanel)]
    qtbot.waitUntil(lambda: words_of(found, "stage_sentence") != "")
    return found


def drawn(panel: StagePanel, qtbot: QtBot) -> None:
    """Wait until the panel has drawn what is looked at, the numbers of a cell included."""
    panel.catch_up()
    qtbot.waitUntil(lambda: not panel.is_behind)


def strongest(session: Session, stage: int) -> tuple[str, tuple[int, ...]]:
    trace, position = session.reading.current.trace, session.reading.position
    address, head = trace.stages[stage].results[0], session.attention.head[1]
    view = strip(trace, address, position, head, likeliest_answers(trace, position))
    return address, view.index(*strongest_cell(view, position))


@in_families("transformer")
def test_each_stage_says_what_it_does_to_the_word_and_draws_its_strongest_cell(
    panel: StagePanel, session: Session, run: Path, qtbot: QtBot
) -> None:
    reading, model = session.reading.current, open_run_model(Run.open(run))
    label = panel.findChild(QLabel, "stage_sentence")
    for number, stage in enumerate(reading.trace.stages):
        session.focus.choose_stage(number)
        drawn(panel, qtbot)
        head, position = session.attention.head[1], session.reading.position
        token = reading.model.tokenizer.token
        expected = plain(stage_sentence(reading.trace, number, position, head, token))
        assert words_of(panel, "stage_sentence") == expected
        assert label.isVisible()
        assert set(stage.results) <= {view.address for view in panel.views}
        if reading.trace[stage.results[0]].scale == "token":
            assert panel.operation.picture is None
            continue
        value = explain(model, reading.trace, *strongest(session, number)).value
        qtbot.waitUntil(
            lambda value=value: (
                panel.operation.picture is not None
                and panel.operation.picture.value == pytest.approx(value, rel=1e-3, abs=1e-6)
            ),
        )
        assert panel.operation.is_dashed


@in_families("lstm")
def test_the_operation_is_that_of_the_pinned_cell_and_an_operand_leads_back(
    panel: StagePanel, session: Session, run: Path, qtbot: QtBot
) -> None:
    trace = session.reading.current.trace
    stages = [stage.results[0] for stage in trace.stages]
    session.focus.choose_stage(stages.index("logits"))
    cell = ("logits", (1, 2))
    session.focus.choose_cell(cell)
    found = explain(open_run_model(Run.open(run)), trace, *cell)
    view = panel.operation
    qtbot.waitUntil(lambda: view.picture is not None and not view.is_dashed)
    assert view.is_walking, "its operands run to the cell"
    assert panel.operation.picture.value == pytest.approx(found.value, rel=1e-3)
    band = view.picture.blocks[0].bands[0]
    assert band.source in trace.arrays
    last = len(band.values) - 1

    def point_at_last() -> bool:
        """Once everything has its place."""
        QTest.mouseMove(view, view.rect().bottomLeft())
        QTest.mouseMove(view, view.cell_rectangle(0, 0, last).center().toPoint())
        return session.focus.hovered_cell == operand

    operand = (band.source, band.index(last))
    qtbot.waitUntil(point_at_last)
    assert session.focus.explained_cell == cell, "it is an operand of the pinned cell"
    np.testing.assert_allclose(band.values[-1], trace[operand[0]].array[operand[1]], rtol=1e-3)
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.cell_rectangle(0, 0, last).center().toPoint())
    assert session.focus.cell == operand
    assert operand[0] in trace.stages[session.focus.stage].results


@pytest.mark.slow
def test_a_cell_pinned_while_another_reading_waits_to_be_drawn_is_not_asked_of_the_old_one(
    window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    session.library.open(transformer_run)
    session.reading.set_prefix("the cows")
    qtbot.waitUntil(lambda: session.reading.current is not None)
    window.show_perspective("inside")
    [panel] = [panel for panel in window.perspective.panels if isinstance(panel, StagePanel)]
    qtbot.waitUntil(lambda: words_of(panel, "stage_sentence") != "")
    window.show_perspective("train")  # where the stages are not drawn
    session.reading.set_prefix("the cows eat grass the cows eat")
    qtbot.waitUntil(lambda: session.reading.current.trace.text.startswith("the cows eat grass"))
    cell = ("probabilities", (6, 3))
    session.focus.choose_cell(cell)
    session.focus.choose_cell(None)
    session.focus.choose_cell(cell)
    window.show_perspective("inside")
    session.focus.choose_stage(len(session.reading.current.trace.stages) - 1)
    qtbot.waitUntil(lambda: panel.operation.picture is not None and panel.is_up_to_date)


@pytest.mark.parametrize("run", ["transformer"], indirect=True)
def test_without_a_model_nothing_of_the_last_one_stays(
    panel: StagePanel, session: Session, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: panel.operation.picture is not None)
    session.library.close(session.library.model)
    qtbot.waitUntil(lambda: panel.operation.picture is None)
    assert (words_of(panel, "stage_sentence"), panel.views) == ("", ())


@pytest.mark.slow
@in_families("window", "gru", "transformer")
def test_with_gradients_the_strips_show_them_and_play_walks_back_from_the_last_stage(
    panel: StagePanel, session: Session, run: Path, qtbot: QtBot
) -> None:
    if session.library.model.family == "ngram":
        session.gradients.show(True)
        panel.catch_up()
        assert all(not view.address.startswith("gradient/") for view in panel.views)
        return
    found = gradient(open_run_model(Run.open(run)), "the cows eat", "loss@-1")
    session.focus.choose_position(2)
    session.gradients.show(True)
    qtbot.waitUntil(lambda: session.gradients.current is not None)
    for stage in range(len(found.trace.stages)):
        session.focus.choose_stage(stage)
        drawn(panel, qtbot)
        assert panel.views
        for view in panel.views:
            if not view.address.startswith("gradient/"):
                assert view.address not in found
                continue
            index = view.index(0, 0)
            assert view.scale == "signed"
            assert float(view.values[0, 0]) == pytest.approx(
                float(found[view.address].array[index]), rel=1e-3, abs=1e-6
            )
        expected = plain(backward_sentence(session.gradients.current, stage, 2, "loss of “eat”"))
        assert words_of(panel, "stage_sentence") == expected
    timeline, last = panel.findChild(StageTimeline), len(found.trace.stages) - 1
    session.focus.choose_stage(0)
    drawn(panel, qtbot)
    timeline.play()
    assert timeline.stage == last, "played again it begins with the last stage"
    session.gradients.show(False)
    drawn(panel, qtbot)
    timeline.play()
    assert timeline.stage == 0
    timeline.pause()
    assert not any(view.address.startswith("gradient/") for view in panel.views)
