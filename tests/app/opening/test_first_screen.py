"""The first launch: a stored trace on screen, the welcome strip, and the tour that waits for the person."""

import runpy
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.opening.first_screen import load_first_screen
from lmviz.app.opening.settings import Settings
from lmviz.app.opening.tour_steps import STEPS
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.inspection.attention import farthest_looking_head
from lmviz.inspection.interventions import scale
from lmviz.inspection.traced_array import TracedArray
from lmviz.places import shipped
from lmviz.training.options import TrainingOptions

LONG = 20_000
PREFIX = "the cows eat grass"


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory, make_run: Callable[..., Path]) -> Path:
    """A folder of sample models: one small Transformer, with a stored trace beside it."""
    folder = tmp_path_factory.mktemp("samples")
    run = make_run("transformer", 4, width=8, heads=2, layers=1, context=16)
    shutil.copytree(run, folder / "transformer")
    writer = runpy.run_path(str(shipped("sample_models") / "first_screen.py"))
    writer["write_first_screen"](folder / "transformer", folder / "first_screen.npz", PREFIX)
    return folder


@pytest.fixture
def sleeping(tmp_path: Path, qtbot: QtBot, samples: Path) -> MainWindow:
    """The window as it is first painted: its session has not been started, so nothing can be computed."""
    session = Session(tmp_path / "runs")
    window = MainWindow(session, Settings(tmp_path / "settings.json"))
    qtbot.addWidget(window)
    window.beginning.welcome(samples)
    window.show_settled()
    yield window
    session.close()


def panel(window: MainWindow, name: str) -> QWidget:
    return next(found for found in window.findChildren(QWidget, name) if found.isVisible())


def press(window: MainWindow, qtbot: QtBot, name: str) -> None:
    qtbot.mouseClick(panel(window, name), Qt.MouseButton.LeftButton)


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


@pytest.mark.parametrize("damage", ["missing", "cut short", "another vocabulary", "no such step"])
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
    if not (shipped("sample_models") / "first_screen.npz").exists():
        pytest.skip("no sample models in this checkout")
    first = load_first_screen()
    assert first is not None
    tokens, names = first.trace.tokens, first.model.tokenizer.tokens()
    predicted = names[int(first.trace["logits"].array[-1].argmax())]
    layer, head = farthest_looking_head(first.trace)
    looked_at = first.trace[f"layers/{layer}/attention/weights"].array[head, -1].argmax()
    assert tokens[looked_at] == predicted, "the head looks at what is said again"
    assert (shipped("sample_models") / "first_screen.npz").stat().st_size < 300_000


def test_the_strip_leads_on_and_stays_away_when_sent_away(
    sleeping: MainWindow, samples: Path, qtbot: QtBot
) -> None:
    press(sleeping, qtbot, "welcome_look")
    assert sleeping.perspective.name == "inside"
    sleeping.session.start()
    press(sleeping, qtbot, "welcome_train")
    assert sleeping.perspective.name == "train"
    qtbot.waitUntil(lambda: sleeping.session.text.corpus is not None, timeout=LONG)
    strip = sleeping.beginning.strip
    qtbot.mouseClick(strip.findChild(QToolButton, "welcome_dismiss"), Qt.MouseButton.LeftButton)
    assert not strip.isVisible()
    sleeping.beginning.welcome(samples)
    assert not strip.isVisible()


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


@pytest.fixture
def touring(sleeping: MainWindow, qtbot: QtBot) -> Callable[[int], None]:
    """A tour that has begun; call it with the number of a step to wait until the tour points there."""
    sleeping.session.start()
    press(sleeping, qtbot, "welcome_tour")
    tour, light = sleeping.beginning.tour, sleeping.beginning.tour.spotlight

    def at(number: int) -> None:
        step = STEPS[number]
        qtbot.waitUntil(lambda: tour.step is step and light.sentence == step.sentence, timeout=LONG)
        assert light.control.objectName() == step.control
        assert light.control.isVisible()

    return at


def turn_to(window: MainWindow, qtbot: QtBot, at: Callable[[int], None], number: int) -> None:
    """Press "next" until the tour is at a step."""
    for passed in range(number):
        at(passed)
        press(window, qtbot, "tour_next")
    at(number)


def test_the_tour_waits_for_the_person_at_every_step(
    sleeping: MainWindow, touring: Callable[[int], None], qtbot: QtBot
) -> None:
    tour, light = sleeping.beginning.tour, sleeping.beginning.tour.spotlight
    assert len(STEPS) == 10
    touring(0)
    qtbot.waitUntil(lambda: sleeping.session.work.is_ready and not sleeping.session.reading.is_busy)
    touring(0)
    assert not any(timer.isActive() for timer in tour.findChildren(QTimer)), "time alone takes it nowhere"
    qtbot.keyClicks(sleeping.prefix_bar.edit, " the")
    touring(1)
    frame = light.geometry()
    middle = light.control.mapTo(sleeping, light.control.rect().center())
    assert frame.contains(middle)
    assert not light.card.geometry().contains(middle), "the card leaves free what it speaks of"
    for number in range(1, len(STEPS) - 1):
        touring(number)
        press(sleeping, qtbot, "tour_next")
    touring(9)
    assert sleeping.perspective.name == "train"
    with qtbot.waitSignal(tour.ended):
        press(sleeping, qtbot, "tour_next")
    assert not light.isVisible()
    assert tour.step is None


def test_only_what_a_step_asks_for_completes_it(
    sleeping: MainWindow, touring: Callable[[int], None], qtbot: QtBot
) -> None:
    session = sleeping.session
    turn_to(sleeping, qtbot, touring, 1)
    done = panel(sleeping, "tour_card").findChild(QLabel, "tour_done")
    qtbot.keyClicks(sleeping.prefix_bar.edit, " the")
    assert not done.isVisible(), "typing is not the bar that was asked for"
    bars = panel(sleeping, "next_word_view").findChild(BarsView)
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.tokens[-1] == "the"
    )
    bars.bar_clicked.emit(0)
    assert done.isVisible()
    touring(2)
    session.focus.choose_position(1)
    assert not done.isVisible(), "one has to let go of it again"
    qtbot.keyClick(sleeping.prefix_bar.edit, Qt.Key.Key_Escape)
    assert done.isVisible(), "and Escape did, instead of ending the tour"
    for number in range(2, 5):
        touring(number)
        press(sleeping, qtbot, "tour_next")
    touring(5)
    session.library.choose_step(session.library.model.snapshots[0])
    assert not done.isVisible()
    session.library.choose_step(session.library.model.snapshots[-1])
    assert done.isVisible()
    for number in range(5, 8):
        touring(number)
        press(sleeping, qtbot, "tour_next")
    touring(8)
    session.surgery.add(scale("logits", 0.5))
    assert not done.isVisible(), "the branches were told to have changed, but nothing was written"
    qtbot.waitUntil(lambda: panel(sleeping, "sample_step_button").isEnabled(), timeout=LONG)
    press(sleeping, qtbot, "sample_step_button")
    qtbot.waitUntil(done.isVisible, timeout=LONG)
    touring(9)


def test_one_can_go_back_in_the_tour(
    sleeping: MainWindow, touring: Callable[[int], None], qtbot: QtBot
) -> None:
    touring(0)
    assert not sleeping.findChild(QPushButton, "tour_back").isVisible()
    turn_to(sleeping, qtbot, touring, 6)
    assert sleeping.perspective.name == "inside"
    press(sleeping, qtbot, "tour_back")
    touring(5)
    assert sleeping.perspective.name == "attention"


def test_whoever_goes_somewhere_else_is_shown_the_way_back(
    sleeping: MainWindow, touring: Callable[[int], None], qtbot: QtBot
) -> None:
    turn_to(sleeping, qtbot, touring, 3)
    light = sleeping.beginning.tour.spotlight
    sleeping.show_perspective("compare")
    way_back = sleeping.findChild(QPushButton, "tour_return")
    qtbot.waitUntil(way_back.isVisible)
    assert not light.isVisible(), "there is nothing to point at"
    qtbot.mouseClick(way_back, Qt.MouseButton.LeftButton)
    touring(3)
    assert sleeping.perspective.name == "attention"
    qtbot.waitUntil(lambda: light.isVisible() and not way_back.isVisible())


def test_the_tour_begins_with_a_model_that_has_what_it_speaks_of(
    sleeping: MainWindow, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    session = sleeping.session
    session.start()
    for model in session.library.models:
        session.library.close(model)
    session.library.open(make_run("ngram", 3, order=2))
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("")
    sleeping.beginning.start_tour()
    qtbot.waitUntil(lambda: session.library.model.family == "transformer", timeout=LONG)
    assert session.reading.prefix == PREFIX
    qtbot.waitUntil(lambda: panel(sleeping, "attention_view").shown.size > 0, timeout=LONG)


def test_escape_leaves_the_tour_where_nothing_is_pinned(
    sleeping: MainWindow, touring: Callable[[int], None], qtbot: QtBot
) -> None:
    touring(0)
    sleeping.session.focus.choose_position(1)
    qtbot.keyClick(sleeping.prefix_bar.edit, Qt.Key.Key_Escape)
    touring(0)
    qtbot.keyClick(sleeping.prefix_bar.edit, Qt.Key.Key_Escape)
    assert sleeping.beginning.tour.step is None
    assert not sleeping.beginning.tour.spotlight.card.isVisible()


def test_the_tour_can_be_left_and_lets_the_pointer_through(sleeping: MainWindow, qtbot: QtBot) -> None:
    sleeping.beginning.start_tour()
    light = sleeping.beginning.tour.spotlight
    qtbot.waitUntil(lambda: light.control is not None)
    place = light.geometry().center()
    assert sleeping.childAt(QPoint(place)) is not light
    qtbot.mouseClick(light.card.findChild(QPushButton, "tour_end"), Qt.MouseButton.LeftButton)
    assert not light.isVisible()


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
