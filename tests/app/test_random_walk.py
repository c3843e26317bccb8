"""A random walk through the real window: no exception, no hang, no thread left behind.

In the suite it takes a fixed number of steps, and few of them in every check.
`LMVIZ_RANDOM_WALK_SECONDS=300` walks that long instead, and `LMVIZ_RANDOM_WALK_SEED` from another beginning.
"""

import gc
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from owners import can_be_told, items_known, wrong_owners
from patience import patience
from PySide6.QtCore import QEvent, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from walker import Walker

from lmviz.app.opening.settings import Settings
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.app.workers.watchdog import LateStacks

ACTIONS_OF_A_WINDOW = 400
HANG = 15.0  # seconds in which the window's thread did not come round, on a machine with nothing else to do


class Watchdog:
    """Notices when the window's thread does not come round."""

    def __init__(self) -> None:
        self.doing: Callable[[], str] = str
        self.stood_at = ""
        self.longest = (0.0, "")
        self._stacks = LateStacks(HANG)
        self._last = time.monotonic()
        self._timer = QTimer()
        self._timer.timeout.connect(self._come_round)
        self._timer.start(50)

    def stop(self) -> None:
        """Watch no longer."""
        self._timer.stop()
        self._stacks.stop()

    def _come_round(self) -> None:
        now = time.monotonic()
        self.longest = max(self.longest, ((now - self._last) / patience(), self.doing()))
        self._last = now
        self.stood_at += self._stacks.take()


def wrong_things(folder: Path) -> list[Path]:
    """What a person drops by mistake: nothing of it can be opened, and some of it has no end."""
    (folder / "empty").mkdir(parents=True)
    contents = {
        "empty.txt": b"",
        "blank.txt": b" \n" * 50,
        "broken.txt": b"\xff\xfe\x00text",
        "letter.doc": b"\xd0\xcf\x11\xe0" * 900,
        "one/run.json": b"[]",
        "two/config.json": b"{",
        "three/weights.safetensors": b"\xff" * 90,
        "model.arpa": b"\\data\\\n",
    }
    for name, content in contents.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    found = [folder / name for name in (*contents, "empty", "missing")]
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")
        found += [folder / "pipe", Path("/dev/zero")]
    return found


@pytest.fixture
def watchdog(qapp: QApplication) -> Iterator[Watchdog]:
    watchdog = Watchdog()
    yield watchdog
    watchdog.stop()


@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("nothing_outside")
@pytest.mark.parametrize(
    ("windows", "actions"), [(1, 50), pytest.param(3, 100, marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_a_random_walk_ends_well(
    watchdog: Watchdog,
    text_file: Path,
    lstm_run: Path,
    transformer_run: Path,
    windows: int,
    actions: int,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    seconds = float(os.environ.get("LMVIZ_RANDOM_WALK_SECONDS", "0"))
    seed = int(os.environ.get("LMVIZ_RANDOM_WALK_SEED", "0"))
    began = time.monotonic()
    # Copies, for what is walked through may train on.
    runs = [Path(shutil.copytree(run, tmp_path / run.name)) for run in (lstm_run, transformer_run)]
    good = (text_file, *runs)
    walker = Walker(seed, (*good, *wrong_things(tmp_path / "wrong")))
    watchdog.doing = lambda: walker.doing
    settings = Settings(tmp_path / "settings.json")
    opened, actions = 0, ACTIONS_OF_A_WINDOW if seconds else actions
    while time.monotonic() - began < seconds if seconds else opened < windows:
        session = Session(tmp_path / "runs")
        window = MainWindow(session, settings)
        said: list[str] = []
        session.work.any_failed.connect(said.append)
        walker.window = window
        window.beginning.welcome(tmp_path)
        window.painted.connect(window.build_ahead)
        window.show()
        session.start()
        session.text.open(text_file, documents="line")
        session.library.open(walker.random.choice(runs))
        try:
            for _ in range(actions):
                walker.step()
            assert not can_be_told() or not wrong_owners()
            assert not can_be_told() or not items_known()
            walker.doing = "closing"
        finally:
            window.close()  # or its threads would take the process, and the report, with them
        window.deleteLater()
        del walker.window, window, session  # or each theme would be put on every window there ever was
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        assert not [sentence for sentence in said if "did not expect" in sentence]
        opened += 1
    watchdog.stop()
    assert watchdog.longest[0] < HANG, f"{watchdog.longest}\n{watchdog.stood_at}"
