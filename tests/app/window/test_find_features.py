"""Finding features from the window: the plan, the curves, pausing, going on, and what is kept."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.session.finding_features import FINISHED, PAUSED, RUNNING
from lmviz.app.session.session import Session
from lmviz.app.window import find_features_dialog
from lmviz.app.window.find_features_dialog import FindFeaturesDialog
from lmviz.app.window.main_window import MainWindow
from lmviz.features.kept import kept_features
from lmviz.features.recipe import FeatureRecipe
from lmviz.looks.look import Look
from lmviz.text.corpus import load_corpus

TAP = "layers/0/residual2"
SHORT = FeatureRecipe(size=12, k=3, tokens=40 * 64, batch=64, seed=1)
LONG = FeatureRecipe(size=12, k=3, tokens=400_000, batch=64, seed=1)


@pytest.fixture
def run(
    window: MainWindow, session: Session, transformer_run: Path, text_file: Path, tmp_path: Path, qtbot: QtBot
) -> Path:
    """The folder of a run that is open with its text."""
    folder = shutil.copytree(transformer_run, tmp_path / "run")
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(folder)
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    return folder


def opened_dialog(window: MainWindow, qtbot: QtBot) -> FindFeaturesDialog:
    [action] = [each for each in window.commands.all() if each.text().startswith("Find features")]
    action.trigger()
    [dialog] = window.findChildren(FindFeaturesDialog)
    return dialog


def test_features_are_found_beside_the_run_and_opened(
    window: MainWindow, session: Session, run: Path, qtbot: QtBot
):
    dialog = opened_dialog(window, qtbot)
    session.features.finding.choose(SHORT, TAP)
    qtbot.waitUntil(lambda: "of memory" in dialog.plan_label.text())
    qtbot.waitUntil(dialog.start_button.isEnabled)
    dialog.start_button.click()
    qtbot.waitUntil(lambda: session.features.finding.phase == FINISHED)
    [folder] = kept_features(run)
    assert folder.path.parent == run / "features"
    again = lmviz.find_features(run, session.text.corpus, TAP, size=12, k=3, tokens=40 * 64, batch=64, seed=1)
    np.testing.assert_array_equal(folder.dictionary().encoder, again.encoder)
    qtbot.waitUntil(lambda: session.features.dictionary is not None)
    np.testing.assert_array_equal(session.features.dictionary.encoder, again.encoder)
    assert folder.path in session.features.offers()
    shown = dialog.card.look
    assert shown.arrays["explained"][-1] == folder.history().rows[-1][2]
    assert again.worth.sentence in shown.parts[0].text
    assert f"of {again.size} never are on" in shown.parts[0].text
    dialog.stable_button.click()
    qtbot.waitUntil(
        lambda: session.features.finding.stability is not None and not session.features.finding.is_testing
    )
    expected = lmviz.stability(run, session.text.corpus, again)
    np.testing.assert_array_equal(
        session.features.finding.stability.matched.cosines, expected.matched.cosines
    )
    assert expected.sentence in dialog.card.look.parts[0].text
    dialog.close()


@pytest.mark.slow
def test_a_pause_keeps_what_it_goes_on_from_and_stopping_keeps_what_was_learned(
    window: MainWindow, session: Session, run: Path, qtbot: QtBot
):
    finding = session.features.finding
    dialog = opened_dialog(window, qtbot)
    finding.choose(LONG, TAP)
    finding.begin()
    qtbot.waitUntil(lambda: finding.progress is not None and finding.progress.step > 0)
    dialog.pause_button.click()
    qtbot.waitUntil(lambda: finding.phase == PAUSED)
    [folder] = kept_features(run)
    assert folder.can_go_on
    assert dialog.start_button.text() == "Continue"
    before = finding.progress.step
    dialog.start_button.click()
    qtbot.waitUntil(lambda: finding.progress.step > before)
    assert finding.phase == RUNNING
    dialog.stop_button.click()
    qtbot.waitUntil(lambda: finding.phase == FINISHED)
    assert folder.dictionary().tokens < LONG.tokens
    assert not folder.can_go_on
    dialog.close()


@pytest.mark.slow
def test_why_nothing_is_found_is_said_beside_the_button(
    window: MainWindow, session: Session, run: Path, qtbot: QtBot
):
    finding = session.features.finding
    dialog = opened_dialog(window, qtbot)
    finding.choose(SHORT, "nowhere")
    qtbot.waitUntil(lambda: "No tap is called 'nowhere'" in dialog.plan_label.text())
    assert not dialog.start_button.isEnabled()
    finding.choose(SHORT, TAP)
    qtbot.waitUntil(lambda: "of memory" in dialog.plan_label.text())
    with qtbot.waitSignal(finding.failed):
        finding.choose(SHORT, "nowhere")
        finding.begin()
    qtbot.waitUntil(lambda: "No tap is called 'nowhere'" in dialog.plan_label.text())
    dialog.close()


@pytest.mark.slow
def test_what_cannot_be_found_is_said_before(window: MainWindow, session: Session, qtbot: QtBot):
    dialog = opened_dialog(window, qtbot)
    assert "Open a model" in dialog.plan_label.text()
    assert not dialog.start_button.isEnabled()
    dialog.close()


@pytest.mark.slow
def test_features_of_another_program_are_opened_where_they_belong_and_refused_elsewhere(
    window: MainWindow, session: Session, run: Path, tmp_path: Path, qtbot: QtBot
):
    width = lmviz.open_model(run).configuration.width
    both = np.concatenate([np.eye(width), -np.eye(width)]).astype(np.float32)
    nothing = np.zeros(width, np.float32)
    right = lmviz.Dictionary("relu", TAP, both, np.zeros(2 * width, np.float32), both, nothing)
    folder = lmviz.save_features(right, tmp_path / "sae", "saelens")
    with qtbot.waitSignal(session.features.taken):
        session.features.open_file(folder / "cfg.json")
    assert session.features.dictionary.tap == TAP
    assert session.features.dictionary.worth.recovered == pytest.approx(1, abs=0.05)
    wider = np.pad(both, ((0, 0), (0, 2)))
    wrong = lmviz.Dictionary("relu", TAP, wider, right.encoder_bias, wider, np.zeros(width + 2, np.float32))
    folder = lmviz.save_features(wrong, tmp_path / "wide", "saelens")
    with qtbot.waitSignal(session.features.failed) as said:
        session.features.open_file(folder)
    assert f"states of {width + 2} channels" in said.args[0]


def test_features_of_a_model_of_characters_are_said_of_these(
    session: Session, text_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
):
    lmviz.train("ngram", load_corpus(text_file, "characters"), tmp_path / "letters", order=2)
    monkeypatch.setattr(find_features_dialog, "finding_look", lambda *_, **__: Look(instead="Each word."))
    dialog = FindFeaturesDialog(session.features.finding, None)
    qtbot.addWidget(dialog)
    assert dialog.card.look.instead == "Each word."
    session.library.open(tmp_path / "letters")
    qtbot.waitUntil(lambda: dialog.card.look.instead == "Each character.")
