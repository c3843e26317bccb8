"""How many cores torch uses in a thread, and how much of the processor the thread may ask for."""

import os
import sys
import threading

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from lmviz.app.workers import threads
from lmviz.app.workers.threads import compute_with, leave_half_of_the_cores, lower_priority
from lmviz.base.machine_memory import FreeMemory


def test_half_of_the_cores_are_left_alone_and_never_are_there_more() -> None:
    import torch

    seen = []

    def work() -> None:
        compute_with(None)
        seen.append(torch.get_num_threads())
        compute_with(2 * seen[0] + 2)
        leave_half_of_the_cores()
        seen.append(torch.get_num_threads())
        compute_with(1)
        leave_half_of_the_cores()
        seen.append(torch.get_num_threads())

    before = torch.get_num_threads()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [seen[0], max(1, seen[0] // 2), 1]
    assert torch.get_num_threads() == before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no priority of its own")
def test_a_thread_in_the_background_gives_way_to_the_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[tuple[int, int, int]] = []
    monkeypatch.setattr(os, "setpriority", lambda *values: given.append(values))
    thread = threading.Thread(target=lower_priority)
    thread.start()
    native = thread.native_id
    thread.join()
    window = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert given == [(os.PRIO_PROCESS, native, min(window + 10, 19))]


def test_free_memory_is_given_back_in_a_thread_of_its_own(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[str] = []
    monkeypatch.setattr(threads, "COLLECT_EVERY", 1)
    monkeypatch.setattr(
        FreeMemory, "give_back", lambda self: given_back.append(threading.current_thread().name)
    )
    owner = QObject()
    collector = threads.GarbageCollector(owner)
    qtbot.waitUntil(lambda: len(given_back) >= 2)
    assert threading.main_thread().name not in given_back
    collector.deleteLater()
