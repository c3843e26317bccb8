"""How often the window looks into a training: as often as the training can bear."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session import library
from lmviz.app.session.live_weights import LIVE_AT_LEAST_EVERY, LIVE_EVERY, SHARE, LiveWeights, next_wait
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session


def waits(always: float, each: float, count: int = 30) -> list[float]:
    """The waits of a machine that spends a share of a core always, and some seconds on each look."""
    wait, found = LIVE_EVERY, []
    for _ in range(count):
        wait = next_wait(wait, always + each / wait)
        found.append(wait)
    return found


def test_a_machine_that_draws_quickly_looks_as_often_as_it_may() -> None:
    assert waits(0.02, 0.02)[-1] == LIVE_EVERY


def test_on_a_slower_machine_looks_take_no_more_than_their_share() -> None:
    always, each = 0.04, 0.06
    wait = waits(always, each)[-1]
    assert LIVE_EVERY < wait < LIVE_AT_LEAST_EVERY
    assert always + each / wait == pytest.approx(SHARE, rel=0.01)


def test_however_slow_the_machine_the_training_is_looked_into() -> None:
    assert waits(0.3, 1.0)[-1] == LIVE_AT_LEAST_EVERY


def test_one_long_computation_is_soon_forgotten() -> None:
    wait = next_wait(LIVE_EVERY, 1.0)
    assert wait == LIVE_AT_LEAST_EVERY
    for _ in range(10):
        wait = next_wait(wait, 0.02 + 0.02 / wait)
    assert wait == LIVE_EVERY


def test_snapshots_that_come_while_the_run_is_being_opened_are_shown(
    session: Session, lstm_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    """A training that ends at once is no more looked into afterwards."""
    folder, open_run = shutil.copytree(lstm_run, tmp_path / "run"), library._open
    later = sorted((folder / "snapshots").iterdir())[1:]
    kept = [path.rename(tmp_path / path.name) for path in later]

    def open_slowly(*given: object) -> OpenedModel:
        opened = open_run(*given)
        for path, place in zip(kept, later, strict=True):
            path.rename(place)
        return opened

    monkeypatch.setattr(library, "_open", open_slowly)
    live = LiveWeights(session.work, session.library, session.library.failed.emit)
    live.begin(folder)
    live.show_snapshots(folder)
    live.show_snapshots(folder)  # the last of them, while it is being opened
    qtbot.waitUntil(lambda: session.library.model is not None)
    qtbot.waitUntil(lambda: len(session.library.model.snapshots) == 1 + len(later))
    assert session.library.step == session.library.model.snapshots[-1]


class Learning:
    """A training that has weights of one step to show, and no more."""

    def __init__(self, step: int) -> None:
        self._step: int | None = step

    def want_state(self) -> None:
        """Nothing comes of it."""

    def take_state(self) -> tuple[int, dict[str, object]] | None:
        step, self._step = self._step, None
        return None if step is None else (step, {})


@pytest.fixture
def followed(session: Session, lstm_run: Path, tmp_path: Path, qtbot: QtBot) -> tuple[LiveWeights, Path]:
    """A run that is followed at step 4, and where the snapshot of its last step lies, which is 6."""
    folder = shutil.copytree(lstm_run, tmp_path / "run")
    before, last = sorted((folder / "snapshots").iterdir())[-2:]
    before.unlink()
    last.rename(tmp_path / last.name)
    live = LiveWeights(session.work, session.library, session.library.failed.emit)
    live.begin(folder)
    live.show_snapshots(folder)
    qtbot.waitUntil(lambda: session.library.model is not None)
    return live, tmp_path / last.name


def test_weights_that_come_late_do_not_take_the_place_of_newer_ones(
    session: Session,
    followed: tuple[LiveWeights, Path],
    gate: threading.Event,
    answered: Callable[[], None],
    qtbot: QtBot,
) -> None:
    """A copy of step 5 waits for the reading thread when the training ends with step 6."""
    (live, last), library = followed, session.library
    assert library.step == 4
    session.work.ask("held back", gate.wait, lambda _: None, pytest.fail)
    live.update_from(Learning(5))
    folder = library.model.folder
    last.rename(folder / "snapshots" / last.name)
    live.show_snapshots(folder)
    qtbot.waitUntil(lambda: library.step == 6)
    gate.set()
    answered()
    assert library.step == 6
