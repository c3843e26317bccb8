"""What a person does again and again leaves the window as it was: in objects, threads, files and memory.

`test_growth.py` runs each in a process of its own: what other tests have left of their windows, which a new
theme reaches as well, is not counted then, nor what the allocator makes of a gigabyte with holes.
"""

import gc
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPixmapCache
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import getCppPointer, isValid

from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions
from tests.app.conftest import wait_for_reading

PERSPECTIVES = tuple(row.name for row in shown_perspectives())
TRAINING = TrainingOptions(steps=2, batch=2, length=8, snapshots=2, validate_every=0)
LATE = 3  # objects that may be made when they are first used, such as the lines of an icon
LARGEST_GROWTH = 4 * 2**20  # bytes for that many times; what the allocator takes and gives varies by less
ROUNDS = 3  # as it may take some more once, as for a thread that comes at another moment


class Habits:
    """What is done again and again to a window that shows a reading."""

    def __init__(self, window: MainWindow, text_file: Path, qtbot: QtBot) -> None:
        self._window, self._session, self._text_file, self._qtbot = window, window.session, text_file, qtbot
        self._names = PERSPECTIVES
        self.switch(len(PERSPECTIVES))

    def switch(self, times: int) -> None:
        for number in range(times):
            self.show(self._names[number % len(self._names)])

    def show(self, name: str) -> None:
        self._window.show_perspective(name)
        QApplication.processEvents()
        panels = self._window.perspective.panels
        self._qtbot.waitUntil(lambda: any(panel.is_in_sight for panel in panels))

    def change_theme(self, times: int) -> None:
        for number in range(times):
            self._window.set_theme(("dark", "light")[number % 2])
            QApplication.processEvents()

    def train(self, times: int) -> None:
        """Train a small model; what it opens is closed again, for an open model may have its place."""
        session = self._session
        if session.text.corpus is None:
            with self._qtbot.waitSignal(session.text.changed):
                session.text.open(self._text_file, documents="line")
        for _ in range(times):
            session.training.start("lstm", FAMILIES["lstm"].configuration(width=8), TRAINING)
            self._qtbot.waitUntil(self._trained)
            session.library.close(session.library.model)

    def _trained(self) -> bool:
        training, model = self._session.training.state, self._session.library.model
        assert training.phase != "failed", training.sentence
        return training.phase == "finished" and model is not None and model.folder == training.folder

    def scrub(self, times: int) -> None:
        """Go through the snapshots and type meanwhile, waiting for each to be read."""
        session = self._session
        for number in range(times):
            snapshots = session.library.model.snapshots
            session.reading.set_prefix("the cows eat grass".rsplit(" ", number % 4)[0])
            session.library.choose_step(snapshots[number % len(snapshots)])
            wait_for_reading(session, self._qtbot)

    def give_a_lecture(self, times: int) -> None:
        """Train, look around and go back in time, as one would for hours."""
        for _ in range(times):
            self.train(1)
            self.switch(len(self._names))
            self.scrub(8)

    def run_jobs(self, times: int) -> None:
        session, answers = self._session, []
        for number in range(times):
            session.work.start_job("a job", lambda report, number=number: number, answers.append, print)
        self._qtbot.waitUntil(lambda: not session.work.jobs)
        assert sorted(answers) == list(range(times))

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Let the reading thread do nothing meanwhile.

        A tuple that it is making cannot be finished when somebody else has seen it, as `gc.get_objects` does.
        """
        stands, may_go_on = threading.Event(), threading.Event()

        def stand() -> None:
            stands.set()
            may_go_on.wait()

        self._session.work.ask("stand still", stand, lambda _: None, pytest.fail)
        stands.wait()
        try:
            yield
        finally:
            may_go_on.set()


Habit = Callable[[Habits, int], None]
MANY_TIMES: dict[Habit, int] = {
    Habits.switch: 100,
    Habits.change_theme: 100,
    Habits.train: 100,
    Habits.run_jobs: 100,
    Habits.give_a_lecture: 30,
}


@pytest.fixture
def habits(window: MainWindow, read: Session, text_file: Path, qtbot: QtBot) -> Habits:
    return Habits(window, text_file, qtbot)


def collect() -> None:
    QApplication.processEvents()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()


def qt_objects(habits: Habits) -> Counter[str]:
    """How many there are of each kind, whether in a tree of Qt's or known to Python alone."""
    collect()
    trees = [QApplication.instance(), *QApplication.topLevelWidgets()]
    in_trees = [*trees, *(thing for tree in trees for thing in tree.findChildren(QObject))]
    # type() and not isinstance: some lazy modules import things when asked for their class
    with habits.standing_still():
        known = [thing for thing in gc.get_objects() if issubclass(type(thing), QObject) and isValid(thing)]
    found = {getCppPointer(thing)[0]: thing for thing in in_trees + known}.values()
    return Counter(f"{thing.metaObject().className()} {thing.objectName()}".strip() for thing in found)


def threads_and_files() -> tuple[int, int]:
    """How many threads run, and how many files, pipes and sockets are open where Linux tells it."""
    files = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    return threading.active_count(), files


def memory() -> int:
    """The bytes of its own that the process has in memory, without the pixmaps that Qt keeps, up to 10 MB.

    Pages of files, as of libraries, come and go as Linux likes: some machines put away what is not used.
    """
    collect()
    QPixmapCache.clear()
    resident, of_files = map(int, Path("/proc/self/statm").read_text().split()[1:3])
    return (resident - of_files) * os.sysconf("SC_PAGE_SIZE")


def wait_until_no_more_than(
    before: Counter[str], running: tuple[int, int], habits: Habits, qtbot: QtBot
) -> None:
    """Some go only after a while, such as those of a job whose end has not arrived yet."""

    def check() -> None:
        now = qt_objects(habits)
        assert now.total() <= before.total() + LATE, now - before
        assert all(n <= m for n, m in zip(threads_and_files(), running, strict=True)), running

    qtbot.waitUntil(check)


@pytest.mark.slow
def test_the_window_does_not_grow(habits: Habits, qtbot: QtBot) -> None:
    """Each habit is followed often enough that a single object a time, or a round, would be too many."""
    for habit, first, times in (
        (Habits.switch, len(PERSPECTIVES), (LATE + 1) * len(PERSPECTIVES)),
        (Habits.train, 2, LATE + 1),
        (Habits.run_jobs, 10, 10 * (LATE + 1)),
        (Habits.change_theme, 2, LATE + 1),
        (Habits.scrub, 8, 4 * (LATE + 1)),
    ):
        habit(habits, first)
        before, running = qt_objects(habits), threads_and_files()
        habit(habits, times)
        wait_until_no_more_than(before, running, habits, qtbot)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("habit", "times"),
    [pytest.param(habit, times, id=habit.__name__) for habit, times in MANY_TIMES.items()],
)
def test_neither_the_window_nor_its_memory_grows_with_many_times(
    habit: Habit, times: int, habits: Habits, qtbot: QtBot
) -> None:
    habit(habits, times)  # until every cache is as full as it becomes
    before, running, sizes = qt_objects(habits), threads_and_files(), [memory()]
    grown = LARGEST_GROWTH
    while grown >= LARGEST_GROWTH and len(sizes) <= ROUNDS:  # a leak grows in every round
        habit(habits, times)
        wait_until_no_more_than(before, running, habits, qtbot)
        sizes.append(memory())
        grown = sizes[-1] - sizes[-2]
    assert grown < LARGEST_GROWTH, sizes
