import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
import torch
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from lmviz.app.training_worker import TrainingWorker
from lmviz.training.progress import Progress

STEPS = 50_000


class Lesson:
    """A training of a single number, which can be looked at while it goes on."""

    def __init__(self) -> None:
        self.weight = torch.zeros(1)
        self.closed = False
        self.model = SimpleNamespace(state=lambda: {"weight": self.weight})
        self.progress = self._learn()

    def _learn(self) -> Iterator[Progress]:
        try:
            for step in range(STEPS):
                self.weight.fill_(step)
                yield Progress(step=step, steps=STEPS)
        finally:
            self.closed = True


@pytest.fixture
def lesson() -> Lesson:
    return Lesson()


@pytest.fixture
def start(lesson: Lesson, qapp: QCoreApplication) -> Iterator[Callable[..., TrainingWorker]]:
    workers: list[TrainingWorker] = []

    def start(steps: float = float("inf"), begin: Callable[[], object] = lambda: lesson) -> TrainingWorker:
        workers.append(TrainingWorker(begin, steps))
        workers[-1].start()
        return workers[-1]

    yield start
    for worker in workers:
        worker.stop()
        worker.wait()


def newest(worker: TrainingWorker, seen: list[Progress]) -> int:
    seen += worker.take_progress()
    return seen[-1].step if seen else -1


def test_one_step_is_one_step_after_the_state_before_the_first(
    start: Callable[..., TrainingWorker], qtbot: QtBot
) -> None:
    worker, seen = start(steps=1), []
    qtbot.waitUntil(lambda: newest(worker, seen) == 1)
    qtbot.wait(30)
    assert newest(worker, seen) == 1
    worker.step()
    qtbot.waitUntil(lambda: newest(worker, seen) == 2)
    qtbot.wait(30)
    assert newest(worker, seen) == 2
    assert worker.is_paused


def test_pausing_holds_and_going_on_goes_on(start: Callable[..., TrainingWorker], qtbot: QtBot) -> None:
    worker, seen = start(), []
    qtbot.waitUntil(lambda: newest(worker, seen) > 5)
    worker.pause()
    qtbot.wait(20)
    held = newest(worker, seen)
    qtbot.wait(30)
    assert newest(worker, seen) == held
    worker.go_on()
    qtbot.waitUntil(lambda: newest(worker, seen) > held)
    assert [progress.step for progress in seen] == list(range(len(seen))), "nothing is lost on the way"


def test_a_pause_is_never_lost_however_it_falls(start: Callable[..., TrainingWorker], qtbot: QtBot) -> None:
    worker, seen = start(), []
    for _ in range(30):
        worker.go_on()
        worker.pause()
    qtbot.wait(20)
    held = newest(worker, seen)
    qtbot.wait(20)
    assert newest(worker, seen) == held


@pytest.mark.parametrize("paused", [True, False])
def test_stopping_closes_the_generator_running_or_paused(
    start: Callable[..., TrainingWorker], lesson: Lesson, qtbot: QtBot, paused: bool
) -> None:
    worker = start(steps=1 if paused else float("inf"))
    qtbot.waitUntil(lambda: worker.has_begun)
    with qtbot.waitSignal(worker.finished):
        worker.stop()
    assert lesson.closed
    assert worker.fault is None


def test_the_weights_of_the_moment_come_as_a_copy(
    start: Callable[..., TrainingWorker], lesson: Lesson, qtbot: QtBot
) -> None:
    worker = start(steps=3)
    qtbot.waitUntil(lambda: lesson.weight.item() == 3)
    worker.want_state()
    taken: list[tuple[int, dict[str, torch.Tensor]]] = []
    qtbot.waitUntil(lambda: bool(taken.append(worker.take_state()) or taken[-1]))
    step, state = taken[-1]
    worker.go_on()
    qtbot.waitUntil(lambda: lesson.weight.item() > 3)
    assert (step, state["weight"].item()) == (3, 3)


def test_whatever_is_raised_is_kept_as_the_fault(start: Callable[..., TrainingWorker], qtbot: QtBot) -> None:
    def begin() -> None:
        raise MemoryError(threading.current_thread().name)

    worker = start(begin=begin)
    qtbot.waitUntil(worker.isFinished)
    assert isinstance(worker.fault, MemoryError)
    assert not worker.has_begun
