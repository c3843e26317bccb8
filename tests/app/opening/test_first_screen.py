"""The first launch: a stored trace on screen, and the welcome strip."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from benches.opening import LONG, PREFIX, panel, press
from covering import parametrize_few
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from lmviz.app.opening.beginning import load_first_screen
from lmviz.app.opening.settings import Settings
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.scrolling import QuietScrollArea
from lmviz.app.window.main_window import MainWindow
from lmviz.base.places import shipped
from lmviz.families import FAMILIES
from lmviz.inspection.attention import farthest_looking_head
from lmviz.inspection.traced_array import TracedArray
from lmviz.training.options import TrainingOptions


def test_attention_and_distribution_are_there_before_anything_is_computed(sleeping: MainWindow) -> None:
    session = sleeping.session
    assert not session.work.is_ready
    assert sleeping.perspective.name == "attention"
    assert sleeping.prefix_bar.edit.text() == PREFIX
    stored = session.reading.current.trace
    assert panel(sleeping, "next_word_view").distribution.logits.tolist() == pytest.approx(
        stored["logits"].array[-1]
    )
    layer, head = session.attention.head
    shown = panel(sleeping, "attention_view").shown
    assert np.array_equal(shown, stored[f"layers/{layer}/attention/weights"].array[head])
    assert len(panel(sleeping, "heads_view").badges) == 1


@pytest.mark.slow
def test_in_the_window_it_is_designed_for_surgery_is_seen_whole(sleeping: MainWindow, qtbot: QtBot) -> None:
    sleeping.resize(1440, 900)
    area = panel(sleeping, "surgery_view").findChild(QuietScrollArea)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0)


def test_it_becomes_live_without_a_jump(sleeping: MainWindow, qtbot: QtBot) -> None:
    session = sleeping.session
    stored, before = session.reading.current, panel(sleeping, "next_word_view").distribution
    session.start()
    qtbot.waitUntil(lambda: session.reading.current is not stored, timeout=LONG)
    assert session.reading.current.trace.tokens == stored.trace.tokens
    assert (session.library.model, session.library.step) == (stored.model, stored.step)
    qtbot.waitUntil(lambda: panel(sleeping, "next_word_view").distribution is not before)
    after = panel(sleeping, "next_word_view").distribution
    assert after.probabilities == pytest.approx(before.probabilities, abs=1e-6)
    with qtbot.waitSignal(session.reading.changed, timeout=LONG):
        qtbot.keyClicks(sleeping.prefix_bar.edit, " the")
    assert session.library.model.name == stored.model.name


def test_what_is_typed_before_torch_is_there_is_read_when_it_is(sleeping: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClicks(sleeping.prefix_bar.edit, " the hens")
    assert sleeping.session.reading.encoding.tokens[-2:] == ("the", "hens")
    sleeping.session.start()
    qtbot.waitUntil(lambda: sleeping.session.reading.current.trace.tokens[-1] == "hens", timeout=LONG)


@pytest.mark.slow
def test_every_perspective_can_be_looked_at_before_torch_is_there(
    sleeping: MainWindow, samples: Path, qtbot: QtBot
) -> None:
    for perspective in shown_perspectives():
        sleeping.show_perspective(perspective.name)
        qtbot.waitUntil(lambda: bool(sleeping.perspective.panels))
        for shown in sleeping.perspective.panels:
            shown.refresh()
            assert shown.complaint == ""
        assert not sleeping.grab().isNull()
    assert not sleeping.session.work.is_ready


@pytest.mark.slow
@parametrize_few("damage", ["missing", "cut short", "another vocabulary", "no such step"])
def test_without_a_stored_trace_that_fits_there_is_a_window_all_the_same(
    damage: str, samples: Path, tmp_path: Path, session: Session, settings: Settings, qtbot: QtBot
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(samples, folder)
    stored = folder / "first_screen.npz"
    if damage == "missing":
        stored.unlink()
    elif damage == "cut short":
        stored.write_bytes(stored.read_bytes()[:200])
    elif damage == "another vocabulary":
        found = load_first_screen(samples).trace
        short = TracedArray(found["logits"].array[:, :3].copy(), ("position", "token"), "signed")
        type(found)(**{**vars(found), "arrays": {**found.arrays, "logits": short}}).save(stored)
    else:
        shutil.rmtree(folder / "transformer" / "snapshots")
        (folder / "transformer" / "snapshots").mkdir()
    assert load_first_screen(folder) is None
    window = MainWindow(session, settings)
    qtbot.addWidget(window)
    window.beginning.welcome(folder)
    window.show_settled()
    assert session.reading.current is None
    assert window.beginning.strip.isVisible()


def test_the_shipped_screen_shows_a_thing_that_returns() -> None:
    first = load_first_screen()
    assert first is not None
    tokens, names = first.trace.tokens, first.model.tokenizer.tokens()
    predicted = names[int(first.trace["logits"].array[-1].argmax())]
    layer, head = farthest_looking_head(first.trace)
    looked_at = first.trace[f"layers/{layer}/attention/weights"].array[head, -1].argmax()
    assert tokens[looked_at] == predicted, "the head looks at what is said again"
    assert (shipped("sample_models") / "first_screen.npz").stat().st_size < 350_000


@pytest.mark.slow
def test_the_strip_leads_on_and_stays_away_when_sent_away(
    sleeping: MainWindow, samples: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    # what is open is saved after two seconds, and would be offered in place of the strip
    monkeypatch.setattr(Settings, "keep_session", lambda *_: None)
    strip = sleeping.beginning.strip
    press(sleeping, qtbot, "welcome_look")
    assert sleeping.perspective.name == "inside"
    assert not strip.isVisible(), "what it covers is what was asked for"
    sleeping.beginning.welcome(samples)
    assert strip.isVisible(), "it was not sent away"
    sleeping.session.start()
    press(sleeping, qtbot, "welcome_train")
    assert sleeping.perspective.name == "train"
    qtbot.waitUntil(lambda: sleeping.session.text.corpus is not None, timeout=LONG)
    sleeping.beginning.welcome(samples)
    assert strip.isVisible()
    sleeping.session.text.open("farm", tokenizer="characters")
    qtbot.waitUntil(lambda: not strip.isVisible(), timeout=LONG)
    sleeping.beginning.welcome(samples)
    qtbot.mouseClick(strip.findChild(QToolButton, "welcome_dismiss"), Qt.MouseButton.LeftButton)
    assert not strip.isVisible()
    sleeping.beginning.welcome(samples)
    assert not strip.isVisible()


@pytest.mark.slow
def test_what_is_over_does_not_come_back_with_an_enlarged_panel(
    sleeping: MainWindow, lstm_run: Path, qtbot: QtBot
) -> None:
    window, strip = sleeping, sleeping.beginning.strip
    window.toggle_enlarged()
    window.toggle_enlarged()
    assert strip.isVisible(), "nothing has been opened"
    window.toggle_enlarged()
    window.show_perspective(window.perspective.name)
    assert window.prefix_bar.isHidden()
    window.session.start()
    window.session.library.open(lstm_run)
    qtbot.waitUntil(lambda: len(window.session.library.models) == 2)
    window.toggle_enlarged()
    assert not window.prefix_bar.isHidden()
    assert not strip.isVisible()
    window.lessons.toggle()
    window.toggle_enlarged()
    assert not window.lessons.side.isVisible()
    window.lessons.close()
    window.toggle_enlarged()
    assert not window.lessons.side.isVisible()


@pytest.mark.slow
def test_only_what_differs_from_the_first_screen_is_offered_again(
    sleeping: MainWindow, samples: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    sleeping.close()
    for offered in (False, True):  # the first screen was left as it was, and then another prefix
        session = Session(tmp_path / "runs")
        window = MainWindow(session, sleeping.settings)
        qtbot.addWidget(window)
        window.beginning.welcome(samples)
        assert bool(window.notice.sentence) == offered
        session.reading.set_prefix("the hens see")
        window.close()


@pytest.mark.slow
def test_a_training_that_was_under_way_can_be_gone_on_with(
    tmp_path: Path, samples: Path, text_file: Path, options: TrainingOptions, qtbot: QtBot
) -> None:
    settings = Settings(tmp_path / "settings.json")
    session = Session(tmp_path / "runs")
    window = MainWindow(session, settings)
    qtbot.addWidget(window)
    session.start()
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)
    session.training.start("lstm", FAMILIES["lstm"].configuration(width=8), options)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("the hens")
    window.close()

    later = Session(tmp_path / "runs")
    again = MainWindow(later, settings)
    qtbot.addWidget(again)
    again.beginning.welcome(samples)
    again.show_settled()
    later.start()
    assert not again.beginning.strip.isVisible()
    assert "farm.txt" in again.notice.sentence
    again.notice.findChild(QPushButton).click()
    qtbot.waitUntil(lambda: "stopped at step" in again.notice.sentence, timeout=LONG)
    assert [model.family for model in later.library.models] == ["lstm"], "the first screen made room"
    assert later.reading.prefix == "the hens"
    again.notice.findChild(QPushButton).click()
    qtbot.waitUntil(lambda: later.training.state.phase == "running", timeout=LONG)
    again.close()
