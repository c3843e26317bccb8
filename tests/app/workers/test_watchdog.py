"""The watchdog says where the window stood, and only then."""

import logging
import time
from collections.abc import Iterator

import pytest
from programs import run_python
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from lmviz.app.workers.watchdog import Watchdog

LONGEST = 0.2  # seconds


@pytest.fixture
def watchdog(qtbot: QtBot) -> Iterator[Watchdog]:
    watchdog = Watchdog(longest=LONGEST)
    yield watchdog
    watchdog.stop()


def stand_still() -> None:
    time.sleep(3 * LONGEST)


def test_a_long_turn_is_logged_with_where_it_stood(
    watchdog: Watchdog, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), qtbot.waitSignal(watchdog.noticed) as noticed:
        QTimer.singleShot(0, stand_still)
    took, stacks = noticed.args
    assert took > LONGEST
    assert "in stand_still" in stacks
    assert stacks in caplog.text


def test_a_window_that_waits_for_a_person_stands_nowhere(watchdog: Watchdog, qtbot: QtBot) -> None:
    told: list[float] = []
    watchdog.noticed.connect(lambda took, stacks: told.append(took))
    qtbot.wait(round(3000 * LONGEST))
    assert [took for took in told if took > 2 * LONGEST] == []  # a busy machine may be late


CHANGING = """
import sys, time
from lmviz.app.workers.watchdog import LateStacks
work = "def f(n):\\n return n if n < 1 else f(n - 1) + sum(x for x in range(n))\\nf(40)"
stacks, until, written = LateStacks(0.002), time.monotonic() + float(sys.argv[1]), 0
while time.monotonic() < until:
    for number in range(15):
        exec(compile(work, "x" * 50 + str(number), "exec"), {})
    written += bool(stacks.take())
print(written)
"""


@pytest.mark.slow  # a minute; `faulthandler.dump_traceback_later` ended one process of three in 20 seconds
def test_frames_that_change_meanwhile_do_not_end_the_process() -> None:
    done = run_python(CHANGING, "60", seconds=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
