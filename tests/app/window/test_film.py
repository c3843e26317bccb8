"""The film of a training takes the same time whatever it shows, and can be slowed, sped up and repeated."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QVariantAnimation
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix import crossfade
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.window.film import SECONDS, Film
from lmviz.app.window.main_window import MainWindow

LONG = 30_000


class Clock:
    """A clock that only goes when it is told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def opened(session: Session, lstm_run: Path, qtbot: QtBot) -> Session:
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("the cows")
    qtbot.waitUntil(lambda: session.reading.current is not None, timeout=LONG)
    return session


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def film(opened: Session, clock: Clock) -> Film:
    film = Film(opened, opened, clock)
    yield film
    film.stop()


def run(film: Film, session: Session, clock: Clock, qtbot: QtBot, until: float, by: float = 0.1) -> set[int]:
    """Let seconds pass; the steps that were seen."""
    seen = {session.library.step}
    end = clock.now + until
    while clock.now < end and film.is_playing:
        clock.now += by
        qtbot.waitUntil(lambda: not session.reading.is_busy, timeout=LONG)
        film.advance()
        seen.add(session.library.step)
    return seen


@pytest.mark.parametrize(("speed", "lasts"), [(1.0, SECONDS), (0.5, 2 * SECONDS), (2.0, SECONDS / 2)])
def test_it_shows_every_snapshot_in_the_time_it_has(
    film: Film, opened: Session, clock: Clock, qtbot: QtBot, speed: float, lasts: float
) -> None:
    assert 8 <= SECONDS <= 12
    film.set_speed(speed)
    began = clock.now
    film.play()
    assert opened.library.step == opened.library.model.snapshots[0]
    seen = run(film, opened, clock, qtbot, 30)
    assert seen == set(opened.library.model.snapshots)
    assert not film.is_playing
    assert clock.now - began == pytest.approx(lasts, abs=0.4)


def test_where_there_is_no_time_for_all_some_are_left_out(
    film: Film, opened: Session, clock: Clock, qtbot: QtBot
) -> None:
    film.play()
    seen = run(film, opened, clock, qtbot, 12, by=4.0)
    assert len(seen) < len(opened.library.model.snapshots)
    assert opened.library.step == opened.library.model.snapshots[-1]


def test_it_begins_again_where_it_is_to(film: Film, opened: Session, clock: Clock, qtbot: QtBot) -> None:
    film.set_loops(True)
    film.play()
    run(film, opened, clock, qtbot, SECONDS)
    assert opened.library.step == opened.library.model.snapshots[-1]
    run(film, opened, clock, qtbot, 2)
    assert film.is_playing
    assert opened.library.step == opened.library.model.snapshots[0]


def test_it_goes_on_from_the_snapshot_that_is_shown(film: Film, opened: Session) -> None:
    middle = opened.library.model.snapshots[2]
    opened.library.choose_step(middle)
    film.play()
    assert opened.library.step == middle


def test_the_button_says_speed_and_repetition_and_stops_with_the_film(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    controls, button = window.transport.time, window.findChild(QToolButton, "film_speed_button")
    controls.toggle_film()
    assert controls.film.is_playing
    assert button.text() == "1×"
    button.menu().aboutToShow.emit()
    chosen = {action.text(): action for action in button.menu().actions()}
    chosen["2× · 5 s"].trigger()
    chosen["Begin again at the end"].toggle()
    assert (controls.film.speed, controls.film.loops) == (2.0, True)
    assert button.text() == "2× ↻"
    controls.film.stop()
    assert not controls.film_button.isChecked()


@pytest.mark.slow
def test_bars_fade_from_one_snapshot_to_the_next(
    window: MainWindow,
    opened: Session,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    drawn: Callable[[], None],
) -> None:
    begun: list[bool] = []
    shown = BarsView.set_bars

    def watch(self: BarsView, *arguments: object, **named: object) -> None:
        begun.append(bool(named.get("crossfade")))
        shown(self, *arguments, **named)

    window.show_perspective("train")
    drawn()
    monkeypatch.setattr(BarsView, "set_bars", watch)
    opened.library.choose_step(opened.library.model.snapshots[0])
    qtbot.waitUntil(lambda: opened.reading.has_stepped, timeout=LONG)
    qtbot.waitUntil(lambda: True in begun, timeout=LONG)
    begun.clear()
    opened.reading.set_prefix("the hens eat")
    qtbot.waitUntil(lambda: bool(begun), timeout=LONG)
    assert not any(begun), "another text is no later moment of the same"


@pytest.mark.slow
def test_the_bars_of_the_next_word_are_drawn_between_two_snapshots(
    film: Film,
    opened: Session,
    window: MainWindow,
    clock: Clock,
    drawn: Callable[[], None],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SHORTEST", "SUCCESSIVE"):  # however soon one picture follows the other, it fades
        monkeypatch.setattr(crossfade, name, 0)
    window.show_perspective("attention")
    drawn()
    bars = next(found for found in window.findChildren(BarsView) if found.isVisible())
    film.play()
    qtbot.waitUntil(lambda: not opened.reading.is_busy, timeout=LONG)
    drawn()
    run(film, opened, clock, qtbot, 5.0, by=1.0)
    film.stop()  # it would choose its own snapshot again
    qtbot.waitUntil(lambda: not opened.reading.is_busy, timeout=LONG)
    drawn()
    fading, states = bars.findChild(QVariantAnimation), QVariantAnimation.State
    # as it begins: on a busy machine it may be over before anybody looks
    fading.stateChanged.connect(lambda now, _: fading.pause() if now == states.Running else None)
    opened.library.choose_step(opened.library.model.snapshots[0])
    qtbot.waitUntil(lambda: fading.state() == states.Paused, timeout=LONG)
    pictures = []
    for share in (0.0, 0.5, 1.0):
        fading.setCurrentTime(round(share * fading.duration()) - (share == 1.0))
        pictures.append(bars.grab().toImage())
    fading.stop()
    first, between, last = pictures
    assert first != last
    assert between not in (first, last)
