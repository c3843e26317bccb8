import threading
import time
from collections.abc import Callable, Iterator

import pytest
import torch
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from lmviz.app.workers import training_worker
from lmviz.app.workers.training_worker import SHARE_FOR_COPIES, TrainingWorker
from lmviz.models.model import Model
from lmviz.training.progress import Progress

STEPS = 50_000


class Learner:
    """A model of which nothing but its state is asked."""

    reading_state = Model.reading_state


class Lesson:
    """A training of a single number, which can be looked at while it goes on."""

    def __init__(self) -> None:
        self.weight = torch.zeros(1)
        self.closed = False
        self.model = Learner()
        self.model.state = lambda: {"weight": self.weight}
        self.progress = self._learn()

    def _learn(self) -> Iterator[Progress]:
        try:
            for step in range(STEPS):
                self.weight.fill_(step)
                time.sleep(0.001)  # or it might end before what is tested
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
        worker.join()


def newest(worker: TrainingWorker, seen: list[Progress]) -> int:
    seen += worker.take_news()
    return seen[-1].step if seen else -1


def held_at(worker: TrainingWorker, qtbot: QtBot) -> int:
    """The step a worker that was told to pause waits at: from there it gives its weights."""
    taken: list[tuple[int, dict[str, torch.Tensor]] | None] = []
    worker.want_state()
    qtbot.waitUntil(lambda: bool(taken.append(worker.take_state()) or taken[-1]))
    return taken[-1][0]


def test_one_step_is_one_step_after_the_state_before_the_first(
    start: Callable[..., TrainingWorker], qtbot: QtBot
) -> None:
    worker, seen = start(steps=1), []
    qtbot.waitUntil(lambda: newest(worker, seen) >= 1)
    assert held_at(worker, qtbot) == 1
    worker.step()
    qtbot.waitUntil(lambda: newest(worker, seen) >= 2)
    assert held_at(worker, qtbot) == 2
    assert worker.is_paused
    worker.stop()
    worker.join()
    assert newest(worker, seen) == 2


def test_a_step_asked_for_as_soon_as_one_is_seen_is_taken(
    start: Callable[..., TrainingWorker], qtbot: QtBot
) -> None:
    seen, asked = threading.Event(), threading.Event()

    class Handed(Progress):
        """A state whose step is seen, and another one asked for, before the worker looks at it again."""

        @property
        def is_last(self) -> bool:
            seen.set()
            asked.wait()
            return super().is_last

    class Seen(Lesson):
        def _learn(self) -> Iterator[Progress]:
            yield Progress(step=0, steps=STEPS)
            yield Handed(step=1, steps=STEPS)
            for step in range(2, STEPS):
                yield Progress(step=step, steps=STEPS)

    worker = start(begin=Seen)
    seen.wait()
    assert worker.take_news()[-1].step == 1
    worker.pause()
    worker.step()
    asked.set()
    qtbot.waitUntil(lambda: [progress.step for progress in worker.take_news()] == [2])
    assert held_at(worker, qtbot) == 2


def test_pausing_holds_and_going_on_goes_on(start: Callable[..., TrainingWorker], qtbot: QtBot) -> None:
    worker, seen = start(), []
    qtbot.waitUntil(lambda: newest(worker, seen) > 5)
    worker.pause()
    begun = newest(worker, seen)
    held = held_at(worker, qtbot)
    assert held <= begun + 1, "the step in hand, and no other"
    assert newest(worker, seen) == held
    worker.go_on()
    qtbot.waitUntil(lambda: newest(worker, seen) > held + 1)
    assert [progress.step for progress in seen] == list(range(len(seen))), "nothing is lost on the way"


def test_a_pause_is_never_lost_however_it_falls(start: Callable[..., TrainingWorker], qtbot: QtBot) -> None:
    worker, seen = start(), []
    for _ in range(30):
        worker.go_on()
        worker.pause()
    held = held_at(worker, qtbot)
    worker.stop()
    worker.join()
    assert newest(worker, seen) == held


@pytest.mark.parametrize("paused", [True, False])
def test_stopping_closes_the_generator_running_or_paused(
    start: Callable[..., TrainingWorker], lesson: Lesson, qtbot: QtBot, paused: bool
) -> None:
    worker = start(steps=1 if paused else float("inf"))
    qtbot.waitUntil(lambda: worker.has_begun)
    worker.stop()
    worker.join()
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
    worker.join()
    assert isinstance(worker.fault, MemoryError)
    assert not worker.has_begun


def test_a_panic_of_a_library_is_a_fault_and_no_stop(
    start: Callable[..., TrainingWorker], qtbot: QtBot
) -> None:
    class Panic(BaseException):
        pass

    def begin() -> None:
        raise Panic

    worker = start(begin=begin)
    worker.join()
    assert isinstance(worker.fault, Panic)


def test_weights_of_one_step_are_copied_once(
    start: Callable[..., TrainingWorker], lesson: Lesson, qtbot: QtBot
) -> None:
    copied: list[int] = []
    lesson.model.state = lambda: copied.append(1) or {"weight": lesson.weight}
    worker = start(steps=3)
    qtbot.waitUntil(lambda: lesson.weight.item() == 3)
    worker.want_state()
    qtbot.waitUntil(lambda: worker.take_state() is not None)
    worker.want_state()
    worker.stop()
    worker.join()
    assert len(copied) == 1


def test_large_weights_are_not_copied(
    start: Callable[..., TrainingWorker], lesson: Lesson, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    lesson.model.state = lambda: looked.append(1) or {"weight": lesson.weight}
    monkeypatch.setattr(training_worker, "LARGEST_LIVE_STATE", lesson.weight.nbytes - 1)
    worker = start(steps=3)
    worker.want_state()
    qtbot.waitUntil(lambda: bool(looked))
    worker.stop()
    worker.join()
    assert worker.take_state() is None


def test_copying_takes_a_small_share_of_the_training(
    start: Callable[..., TrainingWorker], lesson: Lesson, qtbot: QtBot
) -> None:
    long, times = 0.01, []

    def state() -> dict[str, torch.Tensor]:
        times.append(time.monotonic())
        time.sleep(long)
        return {"weight": lesson.weight}

    def wants_again() -> bool:
        worker.want_state()
        return len(times) == 2

    lesson.model.state = state
    worker = start()
    qtbot.waitUntil(wants_again)
    assert times[1] - times[0] >= long / SHARE_FOR_COPIES
