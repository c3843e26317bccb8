"""The logit lens over the text: words in cells that can be read, at every layer of a deep model."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QLabel
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.lens_over_text import LensOverTextPanel
from lmviz.app.session.lenses import Lenses
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.lens_sentence import all_settled_in_words, settled_in_words
from lmviz.inspection.logit_lens import logit_lens
from lmviz.models.address import Address
from lmviz.readouts.fitting import carrier
from tests.app.conftest import wait_for_reading

ONLY_PANELS = ("lens_over_text",)


def test_each_cell_is_the_likeliest_word_there(window: MainWindow, session: Session, qtbot: QtBot) -> None:
    session.library.open("stories-transformer")
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("Maya put the brown stone in the barrel. Then she went home and")
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("lens_over_text_view")
    [panel] = window.findChildren(LensOverTextPanel)
    last = len(session.reading.encoding) - 1
    qtbot.waitUntil(lambda: panel.lens is not None and panel.lens.positions[-1] == last)
    lens, trace = panel.lens, session.reading.current.trace
    layers = [Address.parse(place).layer for place in lens.places]
    assert layers == [None, *range(len(layers) - 1)]
    model = session.work.cache.model(session.library.model.folder, session.library.step)
    whole = logit_lens(model, trace, 1, list(lens.positions))
    rows = [whole.places.index(place) for place in lens.places]
    exported = panel.exported_arrays()
    assert np.array_equal(exported["ids"], whole.ids[rows, :, 0])
    assert np.allclose(exported["of_final"], whole.of_final[rows], atol=1e-6)
    assert np.allclose(exported["of_final"][-1], exported["probabilities"][-1])  # the model's own answer

    assert np.array_equal(exported["settled"], lens.settled)
    said = panel.findChild(QLabel, "lens_over_text_sentence").accessibleName()
    final = session.reading.current.answer(int(lens.ids[-1, -1, 0]))
    assert said == f"“{final}” {settled_in_words(lens, -1)} {all_settled_in_words(lens)}"

    known: dict[str, object] = {}
    exec(panel.recipe(), known)  # - what the window hands out to be run
    assert np.array_equal(known["lens"].ids, lens.ids)  # type: ignore[attr-defined]

    session.focus.choose_position(0)
    qtbot.waitUntil(lambda: 0 in panel.lens.positions)
    before = panel.lens
    session.focus.choose_position(1)
    qtbot.waitUntil(lambda: panel.is_up_to_date)
    assert panel.lens is before  # both are in sight
    final = session.reading.current.answer(int(panel.lens.ids[-1, 1, 0]))
    said = panel.findChild(QLabel, "lens_over_text_sentence").accessibleName()
    assert said.startswith(f"“{final}” {settled_in_words(panel.lens, 1)}")


@pytest.mark.slow
def test_of_a_tagger_it_speaks_of_labels_and_of_one_layer_it_says_nothing(
    window: MainWindow, session: Session, label_runs: dict[str, Path], qtbot: QtBot
) -> None:
    session.library.open(label_runs["tagger"])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the bat made noise")
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("lens_over_text_view")
    [panel] = window.findChildren(LensOverTextPanel)
    qtbot.waitUntil(lambda: panel.lens is not None and "final label" in panel.card.aside)
    assert len(panel.lens.places) == 1
    assert not panel.findChild(QLabel, "lens_over_text_sentence").isVisible()


@pytest.mark.slow
def test_of_characters_it_does_not_speak_of_words(
    window: MainWindow, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    session.library.open("shakespeare-transformer")
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("To be")
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("lens_over_text_view")
    [panel] = window.findChildren(LensOverTextPanel)
    qtbot.waitUntil(lambda: panel.lens is not None)
    drawn()
    said = panel.findChild(QLabel, "lens_over_text_sentence").accessibleName()
    assert "the likeliest character" in said
    assert "5 characters shown" in said
    assert "final character" in panel.card.aside


@pytest.mark.slow
def test_states_are_read_by_the_chosen_lens_which_is_kept_beside_the_run(
    window: MainWindow, session: Session, transformer_run: Path, text_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    run = tmp_path / "run"
    shutil.copytree(transformer_run, run)
    session.text.open(text_file)
    session.library.open(run)
    qtbot.waitUntil(lambda: session.library.model is not None and session.text.corpus is not None)
    session.reading.set_prefix("the cows eat the")
    wait_for_reading(session, qtbot)
    window.perspective.bring_forward("lens_over_text_view")
    [panel] = window.findChildren(LensOverTextPanel)
    qtbot.waitUntil(lambda: panel.lens is not None)
    moment, direct = (session.library.model, session.library.step), panel.lens
    choices = panel.findChild(QComboBox, "lens_kind_picker")
    choices.setCurrentIndex(1)
    choices.activated.emit(1)
    qtbot.waitUntil(lambda: session.lenses.file(moment, "tuned") is not None)
    fitted = session.lenses.fitted(moment, "tuned")
    qtbot.waitUntil(lambda: panel.asked is not None and panel.asked.about[1] is fitted)
    model = session.work.cache.model(run, session.library.step)
    expected = logit_lens(
        model,
        session.reading.current.trace,
        1,
        list(panel.lens.positions),
        after_layers=True,
        carried=carrier(fitted),
    )
    exported = panel.exported_arrays()
    assert exported["of_final"] == pytest.approx(expected.of_final)
    assert not np.allclose(exported["of_final"], direct.of_final)
    qtbot.waitUntil(lambda: panel.card.aside.startswith("tuned lens, fitted on"))
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["lens"].of_final == pytest.approx(exported["of_final"], abs=1e-6)  # type: ignore[attr-defined]

    later = Lenses(session.work, session.text)  # as when the program is started again
    later.look_for(moment)
    qtbot.waitUntil(lambda: later.fitted(moment, "tuned") is not None)
    again = later.fitted(moment, "tuned")
    assert again is not fitted
    assert all(np.array_equal(again.maps[place], fitted.maps[place]) for place in fitted.maps)
