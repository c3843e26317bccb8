"""Teacher forcing: the costs that the core finds, of a language model and of a translation."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches.sample import Bench
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.session.session import Session
from lmviz.app.widgets.plots.legend import Legend
from lmviz.app.widgets.plots.surprisal_plot import SurprisalPlot
from lmviz.app.window.main_window import MainWindow
from lmviz.base.errors import LmvizError
from lmviz.decoding.histories import read_both_ways
from lmviz.inspection.interventions import zero
from lmviz.models.given_source import GivenSource


def test_both_histories_of_the_text_are_the_core_s(bench: Bench) -> None:
    panel = bench.bring("teacher_forcing_view")
    bench.wait(lambda: panel.histories is not None)
    wanted = read_both_ways(bench.model, "the cows")
    assert panel.histories.own == wanted.own
    assert panel.histories.after_own == pytest.approx(wanted.after_own)
    given: dict[str, Any] = {}
    exec(panel.recipe(), given)
    assert given["found"].after_right == pytest.approx(panel.histories.after_right, abs=1e-5)
    if wanted.parted is not None:
        assert f"From “{wanted.right[wanted.parted]}” on" in panel.said


@pytest.mark.slow
def test_a_click_on_a_name_hides_its_curve(bench: Bench) -> None:
    panel = bench.bring("teacher_forcing_view")
    bench.wait(lambda: panel.histories is not None)
    legend, plot = panel.findChild(Legend), panel.findChild(SurprisalPlot)
    whole = plot.description()
    for is_whole in (False, True):
        QTest.mouseClick(legend, Qt.MouseButton.LeftButton, pos=legend.places()[1][1].center().toPoint())
        assert [entry.shown for entry, _ in legend.places()] == [True, is_whole]
        assert (plot.description() == whole) is is_whole


@pytest.mark.slow
def test_a_change_of_the_model_changes_what_it_would_write(bench: Bench) -> None:
    panel = bench.bring("teacher_forcing_view")
    bench.wait(lambda: panel.histories is not None)
    before = panel.histories
    bench.session.surgery.add(zero("layers/0/hidden"))
    bench.wait(lambda: panel.histories is not before)
    wanted = read_both_ways(bench.changed, "the cows")
    assert panel.histories.after_right == pytest.approx(wanted.after_right, abs=1e-5)
    assert panel.histories.after_right != pytest.approx(before.after_right, abs=1e-3)


@pytest.mark.slow
def test_after_a_failure_nothing_of_the_text_before_is_drawn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = bench.bring("teacher_forcing_view")
    bench.wait(lambda: panel.histories is not None and panel.said != "")

    def fail(*_: object) -> None:
        raise LmvizError("It cannot be read.")

    monkeypatch.setattr("lmviz.app.panels.sample.teacher_forcing.read_both_ways", fail)
    bench.session.surgery.add(zero("layers/0/hidden"))
    bench.wait(lambda: panel.complaint == "It cannot be read.")
    assert not panel.findChild(SurprisalPlot).isVisible()
    assert panel.said == ""
    assert not panel.exported_arrays()


@pytest.mark.slow
def test_of_a_translation_both_read_the_same_source(
    window: MainWindow, read_pair: Callable[..., Session], attending_run: Path, qtbot: QtBot
) -> None:
    session = read_pair(attending_run, "abc", "cb")
    window.show_perspective("sample")
    panel = next(each for each in window.perspective.panels if each.objectName() == "teacher_forcing_view")
    panel.parentWidget().raise_()
    qtbot.waitUntil(lambda: panel.histories is not None)
    wanted = read_both_ways(GivenSource.reading(lmviz.open_model(attending_run), "abc"), "cb")
    assert panel.histories.right == ("c", "b")
    assert panel.histories.after_own == pytest.approx(wanted.after_own, nan_ok=True)
    before = panel.histories
    session.reading.set_source("ca")
    qtbot.waitUntil(lambda: panel.histories is not before)
    other = read_both_ways(GivenSource.reading(lmviz.open_model(attending_run), "ca"), "cb")
    assert panel.histories.after_right == pytest.approx(other.after_right)
    given: dict[str, Any] = {}
    exec(panel.recipe(), given)
    assert given["found"].after_right == pytest.approx(other.after_right, abs=1e-5)
