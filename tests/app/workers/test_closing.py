import importlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lmviz.app.workers import closing
from lmviz.app.workers.closing import wait_for
from lmviz.app.workers.threads import BackgroundThread

SHORT = 0.2  # seconds
ROUNDS = 5


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
    took: list[float] = []
    while len(took) < ROUNDS and min(took, default=math.inf) >= 2 * SHORT:  # other work may have held it up
        began = time.monotonic()
        assert wait_for(stuck, SHORT) == ("counting", "reading", "training")
        took.append(time.monotonic() - began)
    assert SHORT <= min(took) < 2 * SHORT
    for said in (capsys.readouterr().err, caplog.text):
        assert all(f"“{thread.name}”" in said for thread in stuck)
        assert "0.2 seconds" in said


def test_only_what_still_runs_is_given_up(
    stuck: list[BackgroundThread], capsys: pytest.CaptureFixture[str]
) -> None:
    ended = BackgroundThread("ended", lambda: None)
    ended.start()
    assert wait_for([stuck[0], ended], SHORT) == ("counting",)
    assert "ended" not in capsys.readouterr().err


@pytest.fixture
def slow_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Imports a module that takes longer than threads are waited for."""
    (tmp_path / "slow_to_import.py").write_text(f"import time\ntime.sleep({4 * SHORT})\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "slow_to_import", raising=False)
    return lambda: importlib.import_module("slow_to_import")


def test_a_thread_that_imports_is_waited_for(
    slow_import: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    thread = BackgroundThread("reading", slow_import)
    thread.start()
    assert wait_for([thread], SHORT) == ()
    assert not thread.is_alive()
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_thread_that_does_not_stop_after_its_import_is_given_up(
    slow_import: Callable[[], None], gate: threading.Event
) -> None:
    def work() -> None:
        slow_import()
        gate.wait()

    thread = BackgroundThread("reading", work)
    thread.start()
    assert wait_for([thread], SHORT) == ("reading",)
    gate.set()
    thread.join()


@pytest.mark.slow
def test_an_import_that_never_ends_is_given_up(
    slow_import: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "LONGEST_IMPORT", SHORT / 2)
    thread = BackgroundThread("reading", slow_import)
    thread.start()
    assert wait_for([thread], SHORT) == ("reading",)
    thread.join()
