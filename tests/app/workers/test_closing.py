import threading
import time
from collections.abc import Iterator

import pytest

from lmviz.app.workers.closing import wait_for
from lmviz.app.workers.threads import BackgroundThread

SHORT = 0.2  # seconds


@pytest.fixture
def stuck() -> Iterator[list[BackgroundThread]]:
    """Three threads that nobody can stop before the test is over."""
    gate = threading.Event()
    threads = [BackgroundThread(name, gate.wait) for name in ("counting", "reading", "training")]
    for thread in threads:
        thread.start()
    yield threads
    gate.set()
    for thread in threads:
        thread.join()


def test_all_threads_together_are_waited_for_only_once(
    stuck: list[BackgroundThread], capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    began = time.monotonic()
    assert wait_for(stuck, SHORT) == ("counting", "reading", "training")
    assert SHORT <= time.monotonic() - began < 2 * SHORT
    for said in (capsys.readouterr().err, caplog.text):
        assert all(f"“{thread.name}”" in said for thread in stuck)
        assert "0.2 seconds" in said


def test_only_what_still_runs_is_given_up(
    stuck: list[BackgroundThread], capsys: pytest.CaptureFixture[str]
) -> None:
    ended = BackgroundThread("ended", lambda: time.sleep(SHORT / 4))
    ended.start()
    assert wait_for([stuck[0], ended], SHORT) == ("counting",)
    assert "ended" not in capsys.readouterr().err
