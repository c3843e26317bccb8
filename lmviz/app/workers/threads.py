"""Settings that let threads, torch and Qt work together in one process.

The reasons were measured. If the cyclic garbage collector runs in a worker, it destroys Qt objects there
and the process crashes. A worker that holds the interpreter for the usual 5 ms makes the window stutter. A
worker with lower priority does not delay the window. If two threads each spread small matrices over all
cores, they wait for each other: a trace of a sample model during a training took 800 ms instead of 16.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from lmviz.base.machine_memory import FreeMemory

SWITCH_INTERVAL = 0.0005  # seconds; Python's own is 0.005
COLLECT_EVERY = 2000  # milliseconds
FULL_COLLECTION_EVERY = 30  # young collections between two full ones
GIVE_BACK_EVERY = 5  # collections after which free memory is given back: a long text leaves gigabytes


def prepare_interpreter() -> None:
    """Before any worker starts: no collection by chance, and short turns for every thread."""
    gc.disable()
    sys.setswitchinterval(SWITCH_INTERVAL)


def lower_priority() -> None:
    """Give the calling thread, and those it starts, a lower priority than the window, if possible."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        own = os.getpriority(os.PRIO_PROCESS, thread)  # lower already where lmviz was started with nice
        os.setpriority(os.PRIO_PROCESS, thread, min(own + 10, 19))


def compute_with(cores: int | None) -> None:
    """How many cores torch uses in the calling thread, and in no other; None is as many as it would.

    Imports torch.
    """
    import torch

    global _all_cores
    with _deciding:
        _all_cores = _all_cores or torch.get_num_threads()  # before anybody has changed it
    torch.set_num_threads(cores or _all_cores)


def leave_half_of_the_cores() -> None:
    """Have torch use at most half of the cores in the calling thread. Imports torch.

    For many small products one after the other: all of torch's threads wait for that whose core is taken,
    each time. While another program was busy, reading one more token took 405 ms on two cores, 53 on one.
    """
    import torch

    torch.set_num_threads(max(1, min(torch.get_num_threads(), (_all_cores or 1) // 2)))


_deciding = threading.Lock()
_all_cores = 0


class BackgroundThread(threading.Thread):
    """A thread of lmviz. The end of the process does not wait for it: `closing.wait_for` does, for a while.

    What it runs must hold no Qt object; it sends what it has to say through `delivery.deliver_to`.
    """

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        super().__init__(name=name, target=work, daemon=True)


class GarbageCollector(QObject):
    """Collects cyclic garbage in the window's thread, where Qt objects may be destroyed.

    Now and then it looks through everything. Memory that is free is given back to the system more often, in a
    thread of its own: that may take a tenth of a second.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.forget_imports()
        self._collections = 0
        self._free = FreeMemory()
        self._giving_back: BackgroundThread | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)
        self._timer.start(COLLECT_EVERY)

    def forget_imports(self) -> None:
        """Take everything that lives now out of later collections: after a large import.

        Some thousand small objects are garbage by then, and stay: to find them stops the window for an
        eighth of a second, just when a person begins to type.
        """
        gc.freeze()

    def _collect(self) -> None:
        self._collections += 1
        whole = self._collections % FULL_COLLECTION_EVERY == 0
        gc.collect(2 if whole else 1)
        is_giving_back = self._giving_back is not None and self._giving_back.is_alive()
        if self._collections % GIVE_BACK_EVERY == 0 and not is_giving_back:
            self._giving_back = BackgroundThread("free memory", self._give_back)
            self._giving_back.start()

    def _give_back(self) -> None:
        self._free.give_back()
