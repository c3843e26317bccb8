"""Quality by length: measured once, drawn with its band, and the worst sentence of a length opened."""

from pathlib import Path

import numpy as np
import pytest
from benches.compare import LONG, bring_to_front, click, open_all
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.training import load_corpus, open_model
from lmviz.app.panels.compare.quality_by_length import EXACT, SAMPLES, QualityByLengthPanel
from lmviz.app.session.comparison import names_of
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.plots.legend import Legend
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.judged_pairs import judged_pairs
from lmviz.decoding.quality_by_length import LengthQuality, quality_by_length
from lmviz.inspection.interventions import replace
from lmviz.training.run import Run

ONLY_PANELS = ("quality_by_length",)

READ = {"tokenizer": "characters", "task": "translation", "validation": 0.5}
"""How the text of the small translators is read here: half of it is held out."""


def source_of(run: Path) -> str:
    return str(Run.open(run).description.corpus["sources"][0])


@pytest.fixture
def view(
    window: MainWindow, session: Session, translator_run: Path, attending_run: Path, qtbot: QtBot
) -> QualityByLengthPanel:
    """The panel with two translators compared, and their text open."""
    window.show_perspective("compare")
    open_all(session, qtbot, translator_run, attending_run)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(source_of(translator_run), **READ)
    first = session.library.models[0]
    session.comparison.choose([(first, first.snapshots[-1])])
    return bring_to_front(window, "quality_by_length_view", qtbot)


@pytest.fixture
def measured(view: QualityByLengthPanel, window: MainWindow, session: Session, qtbot: QtBot) -> None:
    click(window, "quality_button", qtbot)
    qtbot.waitUntil(lambda: len(view.plot.curves) == 2 and not session.work.jobs, timeout=LONG)


def core(run: Path) -> dict[int, LengthQuality]:
    corpus = load_corpus(source_of(run), **READ)
    return dict(quality_by_length(open_model(run), judged_pairs(corpus), corpus.target_tokenizer))


@pytest.mark.usefixtures("measured")
def test_curves_are_what_the_core_measures_and_can_be_measured_again(
    view: QualityByLengthPanel,
    window: MainWindow,
    session: Session,
    translator_run: Path,
    attending_run: Path,
    qtbot: QtBot,
) -> None:
    assert [curve.name for curve in view.plot.curves] == list(names_of(session.comparison.moments))
    box = view.findChild(QComboBox, "quality_measure_box")
    for kind in ("bleu", "exact_match"):
        for curve, run in zip(view.plot.curves, (translator_run, attending_run), strict=True):
            expected = core(run)
            assert curve.x.tolist() == list(expected)
            parts = [getattr(quality, kind) for quality in expected.values()]
            for drawn, wanted in ((curve.y, "value"), *zip(curve.band, ("low", "high"), strict=True)):
                assert drawn.tolist() == pytest.approx([100 * getattr(part, wanted) for part in parts])
        box.setCurrentText(EXACT)
        qtbot.waitUntil(lambda: view.is_up_to_date)
    assert view.plot.marked == (Run.open(translator_run).description.longest_source,)
    button = window.findChild(QPushButton, "quality_button")
    assert button.text() == "Measure again"
    click(window, "quality_button", qtbot)
    qtbot.waitUntil(lambda: button.text() == "Cancel")
    qtbot.waitUntil(lambda: button.text() == "Measure again", timeout=LONG)


@pytest.mark.slow
@pytest.mark.usefixtures("measured")
def test_a_click_on_a_name_hides_its_curve(view: QualityByLengthPanel, qtbot: QtBot) -> None:
    first, second = (curve.name for curve in view.plot.curves)
    legend = view.findChild(Legend)
    for left in ([second], [first, second]):
        place = next(area for entry, area in legend.places() if entry.name == first)
        QTest.mouseClick(legend, Qt.MouseButton.LeftButton, pos=place.center().toPoint())
        qtbot.waitUntil(lambda left=left: [curve.name for curve in view.plot.curves] == left)


@pytest.mark.slow
@pytest.mark.usefixtures("measured")
def test_a_click_opens_the_worst_sentence_of_the_model_of_that_curve(
    view: QualityByLengthPanel, session: Session, translator_run: Path, qtbot: QtBot
) -> None:
    curve, expected = view.plot.curves[0], core(translator_run)
    compared = session.comparison.moments
    length = max(expected)
    other = view.plot.curves[1].at(length)
    place = view.plot.place_of(length, curve.at(length) - (1 if other >= curve.at(length) else -1))
    QTest.mouseClick(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
    worst = expected[length].worst
    assert session.library.model.folder == translator_run.resolve()
    assert session.comparison.moments == compared
    assert (session.reading.source, session.reading.prefix) == (worst.source, worst.written)
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy)
    assert session.reading.current.trace.sequences["source"].tokens[-1] == "⟨end⟩"
    assert worst.wanted in view.findChild(QWidget, "wanted_translation").accessibleName()
    QTest.keyClick(view.plot, Qt.Key.Key_Left)  # of the model that is shown now
    before = list(expected)[list(expected).index(length) - 1]
    assert session.reading.source == expected[before].worst.source


@pytest.mark.slow
def test_a_click_leads_to_the_alignment_of_the_worst_sentence(
    view: QualityByLengthPanel, window: MainWindow, session: Session, attending_run: Path, qtbot: QtBot
) -> None:
    session.comparison.choose([])  # the shown model alone, which is the one with attention
    click(window, "quality_button", qtbot)
    qtbot.waitUntil(lambda: len(view.plot.curves) == 1 and not session.work.jobs, timeout=LONG)
    expected = core(attending_run)
    length = max(expected)
    place = view.plot.place_of(length, view.plot.curves[0].at(length))
    QTest.mouseClick(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
    window.show_perspective("attention")
    alignment = bring_to_front(window, "alignment_view", qtbot)
    qtbot.waitUntil(lambda: alignment.shown.size > 0 and not session.reading.is_busy)
    worst, names = expected[length].worst, alignment.exported_names()
    assert names.columns == (*worst.source, "⟨end⟩")
    assert names.rows[: len(worst.written)] == tuple(worst.written)
    assert alignment.shown.shape == (len(worst.written) + 1, length + 1)
    drawn = session.reading.current.trace["attention/weights"].array
    np.testing.assert_array_equal(alignment.shown, drawn)


@pytest.mark.slow
@pytest.mark.usefixtures("measured")
def test_a_click_on_the_curve_of_a_model_just_closed_opens_nothing(
    view: QualityByLengthPanel, session: Session
) -> None:
    curve, read = view.plot.curves[0], session.reading.source
    for model in session.library.models:
        session.library.close(model)
    place = view.plot.place_of(curve.x[0], curve.y[0])
    QTest.mouseClick(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert session.reading.source == read
    assert session.library.model is None


@pytest.mark.slow
def test_before_anything_is_measured_the_panel_says_what_it_would_draw(
    view: QualityByLengthPanel, window: MainWindow, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: not view.plot.isVisible())
    click(window, "quality_samples_button", qtbot)
    qtbot.waitUntil(lambda: len(view.plot.curves) == 2, timeout=LONG)
    assert view.plot.isVisible()


@pytest.mark.slow
def test_measuring_can_be_cancelled_and_begun_again(
    view: QualityByLengthPanel, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    button = window.findChild(QPushButton, "quality_button")
    qtbot.waitUntil(button.isEnabled)
    click(window, "quality_button", qtbot)
    qtbot.waitUntil(lambda: button.text() == "Cancel")
    click(window, "quality_button", qtbot)
    qtbot.waitUntil(lambda: not session.work.jobs and button.text() == "Measure", timeout=LONG)
    click(window, "quality_button", qtbot)
    qtbot.waitUntil(lambda: len(view.plot.curves) == 2, timeout=LONG)


@pytest.mark.slow
def test_without_translators_the_four_of_the_lecture_are_offered(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    window.show_perspective("compare")
    open_all(session, qtbot, lstm_run)
    view = bring_to_front(window, "quality_by_length_view", qtbot)
    click(window, "quality_samples_button", qtbot)
    qtbot.waitUntil(
        lambda: {model.name for model, _ in session.comparison.moments} == set(SAMPLES), timeout=LONG
    )
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=4 * LONG)  # which is written first
    assert session.text.corpus.name == "twin"
    qtbot.waitUntil(lambda: view.plot.marked == (15, 30))
    assert window.findChild(QPushButton, "quality_button").isEnabled()


@pytest.mark.slow
@pytest.mark.usefixtures("measured")
def test_the_curves_leave_as_numbers_and_as_python(
    view: QualityByLengthPanel,
) -> None:
    arrays = view.exported_arrays()
    assert list(arrays) == [curve.name for curve in view.plot.curves]
    scope: dict = {}
    exec(view.recipe(), scope)
    for array, found in zip(arrays.values(), scope["quality"], strict=True):
        expected = [[length, item.count, item.bleu.value] for length, item in found.items()]
        np.testing.assert_allclose(array[:, :3], expected, rtol=1e-6)
    assert view.exported_names().columns[0] == "length"


@pytest.mark.slow
@pytest.mark.usefixtures("measured")
def test_a_changed_model_is_said_to_be_measured_as_it_was_trained(
    view: QualityByLengthPanel, session: Session, qtbot: QtBot
) -> None:
    assert not any(", as trained" in curve.name for curve in view.plot.curves)
    session.surgery.add(replace("decoder/layers/0/hidden", 0.5))
    present = session.comparison.moments.index(session.comparison.present)
    named = [place == present for place in range(2)]
    qtbot.waitUntil(lambda: [", as trained" in curve.name for curve in view.plot.curves] == named)
    assert any("without the changes" in line.text for line in view.findChildren(MutedLine))
    session.surgery.undo()
    qtbot.waitUntil(lambda: not any(", as trained" in curve.name for curve in view.plot.curves))


@pytest.mark.slow
def test_an_export_that_failed_keeps_no_model_from_being_measured(
    view: QualityByLengthPanel, window: MainWindow, qtbot: QtBot
) -> None:
    qtbot.waitUntil(window.findChild(QPushButton, "quality_button").isEnabled)
    view.complain("It cannot be written.", "export")
    click(window, "quality_button", qtbot)
    qtbot.waitUntil(lambda: len(view.plot.curves) == 2, timeout=LONG)
    assert view.complaint == "It cannot be written."
