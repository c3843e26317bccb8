"""Three lenses beside one another: fitted from the window, and true to what they were fitted to."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from covering import others_slow
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.inside.lenses import COLUMNS, LensesPanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.base.errors import LmvizError
from lmviz.inspection.logit_lens import logit_lens
from lmviz.readouts.fitting import carrier
from lmviz.readouts.passages import read_passages
from tests.app.conftest import wait_for_reading

ONLY_PANELS = ("lenses",)
FEW = 4


@pytest.mark.parametrize("passages", others_slow((50, FEW), FEW))
def test_a_lens_is_fitted_on_the_open_text_and_read_beside_the_logit_lens(
    window: MainWindow, session: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, passages: int
) -> None:
    monkeypatch.setattr("lmviz.readouts.passages.read_passages", partial(read_passages, count=passages))
    session.text.open("stories")
    session.library.open("stories-transformer")
    qtbot.waitUntil(lambda: session.library.model is not None and session.text.corpus is not None)
    session.reading.set_prefix("Maya put the brown stone in the barrel. Then she went home and")
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("lenses_view")
    [panel] = window.findChildren(LensesPanel)
    qtbot.waitUntil(lambda: panel.found is not None)
    assert set(panel.found.read) == {"logit"}
    qtbot.mouseClick(panel.findChild(QPushButton, "fit_tuned_lens"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.findChild(QPushButton, "stop_fitting_lens").isVisible())
    assert not panel.findChild(QPushButton, "fit_jacobian_lens").isEnabled()  # one at a time
    qtbot.waitUntil(lambda: not session.lenses.is_busy, timeout=120_000)
    moment = session.library.model, session.library.step
    fitted = session.lenses.fitted(moment, "tuned")
    assert fitted is not None
    assert fitted.passages == passages
    qtbot.waitUntil(lambda: panel.found.fitted.get("tuned") is fitted)

    reading, position = session.reading.current, session.reading.position
    model = session.work.cache.model(session.library.model.folder, session.library.step)
    expected = logit_lens(model, reading.trace, 3, [position], after_layers=True, carried=carrier(fitted))
    exported = panel.exported_arrays()
    assert np.array_equal(exported["tuned_ids"], expected.ids[:, 0])
    assert np.array_equal(exported["tuned_ranks"], expected.ranks[:, 0])
    assert exported["tuned_ranks"][-1] == 1
    assert np.allclose(exported["tuned_divergence"], [fitted.divergence[place] for place in fitted.places])
    sentence = panel.findChild(QLabel, "lenses_sentence").text()
    assert sentence.startswith("By the fitted map, the state says")
    assert "at the end. Read directly:" in sentence
    qtbot.waitUntil(lambda: panel.findChild(QPushButton, "fit_jacobian_lens").isEnabled())

    known: dict[str, object] = {}
    exec(panel.recipe(), known)  # - what the window hands out to be run
    assert np.array_equal(known["lens"].ids[:, 0], exported["logit_ids"])  # type: ignore[attr-defined]

    session.library.choose_step(session.library.model.snapshots[2])  # fitted to that step is nothing
    qtbot.waitUntil(lambda: set(panel.found.read) == {"logit"})


@pytest.mark.slow
def test_fitting_can_be_stopped_and_what_was_found_stays(
    window: MainWindow, session: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr("lmviz.readouts.passages.read_passages", partial(read_passages, count=400))
    session.text.open("stories")
    session.library.open("stories-transformer")
    qtbot.waitUntil(lambda: session.library.model is not None and session.text.corpus is not None)
    session.reading.set_prefix("Maya put")
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("lenses_view")
    [panel] = window.findChildren(LensesPanel)
    qtbot.waitUntil(lambda: panel.found is not None)
    moment = session.library.model, session.library.step
    qtbot.mouseClick(panel.findChild(QPushButton, "fit_jacobian_lens"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.lenses.fitted(moment, "jacobian") is not None, timeout=120_000)
    qtbot.waitUntil(lambda: "jacobian" in panel.found.read)
    qtbot.mouseClick(panel.findChild(QPushButton, "stop_fitting_lens"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not session.lenses.is_busy)
    assert 1 <= session.lenses.fitted(moment, "jacobian").passages < 400
    assert "jacobian" in panel.found.read


@pytest.mark.slow
def test_one_state_is_carried_without_the_matrix(
    window: MainWindow, session: Session, transformer_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    session.text.open(text_file)
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None and session.text.corpus is not None)
    session.reading.set_prefix("the cows eat the")
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("lenses_view")
    [panel] = window.findChildren(LensesPanel)
    qtbot.waitUntil(lambda: panel.found is not None)
    qtbot.mouseClick(panel.findChild(QPushButton, "read_lens_column"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.found.column is not None and not session.work.jobs)
    qtbot.waitUntil(lambda: "jacobian_ids" in panel.exported_arrays())
    model = session.work.cache.model(transformer_run, session.library.step)
    expected = lmviz.lens_column(
        model, session.text.corpus, session.reading.current.trace, count=3, passages=COLUMNS
    )
    qtbot.waitUntil(lambda: panel.found.column.passages == COLUMNS)
    assert np.array_equal(panel.exported_arrays()["jacobian_ids"], expected.ids[:, 0])
    assert panel.exported_arrays()["jacobian_probabilities"] == pytest.approx(
        expected.probabilities[:, 0], abs=1e-5
    )


@pytest.mark.slow
def test_a_failure_of_fitting_is_said_until_it_is_fitted_anew(
    window: MainWindow,
    session: Session,
    transformer_run: Path,
    text_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    def fail(*given: object, **settings: object) -> None:
        raise LmvizError("It cannot be fitted, says a test.")

    session.text.open(text_file)
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None and session.text.corpus is not None)
    session.reading.set_prefix("the cows eat the")
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("lenses_view")
    [panel] = window.findChildren(LensesPanel)
    qtbot.waitUntil(lambda: panel.found is not None)
    with monkeypatch.context() as broken:
        broken.setattr("lmviz.readouts.passages.read_passages", fail)
        qtbot.mouseClick(panel.findChild(QPushButton, "fit_tuned_lens"), Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: bool(panel.complaint))
        qtbot.waitUntil(lambda: not session.lenses.is_busy)
    assert panel.complaint == "It cannot be fitted, says a test."

    def offered() -> list[QPushButton]:
        buttons = panel.findChildren(QPushButton, "fit_tuned_lens")
        return [button for button in buttons if button.isVisible() and button.isEnabled()]

    qtbot.waitUntil(lambda: panel.is_up_to_date and bool(offered()))
    qtbot.mouseClick(offered()[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel.complaint)
