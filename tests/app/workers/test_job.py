import threading
import time
from collections.abc import Callable, Iterator

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QObject
from pytestqt.qtbot import QtBot

from lmviz.app.workers.job import Job


@pytest.fixture
def start(qapp: QCoreApplication) -> Iterator[Callable[..., Job]]:
    jobs: list[Job] = []

    def start(work: Callable[..., object]) -> Job:
        jobs.append(Job("a job", work))
        return jobs[-1]

    yield start
    for job in jobs:
        job.cancel()
        job.join()


def test_what_a_function_returns_is_the_result(start: Callable[..., Job], qtbot: QtBot) -> None:
    job, seen = start(lambda report: report(0.5) or "done"), []
    job.progressed.connect(seen.append)
    with qtbot.waitSignal(job.succeeded) as caught:
        job.start()
    assert seen == [0.5]
    assert caught.args == ["done"]


def test_what_a_generator_yields_is_progress_or_partial_and_what_it_returns_is_the_result(
    start: Callable[..., Job], qtbot: QtBot
) -> None:
    def work(report: object) -> Iterator[object]:
        yield 0.25
        yield ["one"]
        yield ["one", "two"]
        return "all"

    job, seen = start(work), []
    job.progressed.connect(seen.append)
    job.partial_changed.connect(seen.append)
    with qtbot.waitSignal(job.succeeded) as caught:
        job.start()
    assert caught.args == ["all"]
    assert seen[0] == 0.25
    assert seen[-1] == ["one", "two"], "the last partial result always arrives"


def test_a_fast_generator_does_not_flood_the_window(start: Callable[..., Job], qtbot: QtBot) -> None:
    def work(report: object) -> Iterator[float]:
        for number in range(20_000):
            yield number / 20_000

    job, seen = start(work), []
    job.progressed.connect(seen.append)
    began = time.monotonic()
    with qtbot.waitSignal(job.succeeded):
        job.start()
    assert len(seen) <= 2 + (time.monotonic() - began) / 0.05


def test_progress_holds_no_partial_result_up(start: Callable[..., Job], qtbot: QtBot) -> None:
    """What is found just after progress was told arrives while the work goes on."""
    seen: list[object] = []
    arrived = threading.Event()

    def work(report: Callable[[float], None]) -> Iterator[object]:
        time.sleep(0.1)
        report(0.5)
        yield "first"
        assert arrived.wait(20), "the first result waits for the end"
        return

    job = start(work)
    job.partial_changed.connect(seen.append)
    job.partial_changed.connect(lambda _: arrived.set())
    with qtbot.waitSignal(job.succeeded):
        job.start()
    assert seen == ["first"]


def test_a_cancelled_job_says_nothing_more_and_its_generator_is_closed(
    start: Callable[..., Job], qtbot: QtBot
) -> None:
    closed: list[bool] = []

    def work(report: object) -> Iterator[float]:
        try:
            while True:
                yield 0.5
                time.sleep(0.001)
        finally:
            closed.append(True)

    job, heard = start(work), []
    for signal in (job.succeeded, job.failed):
        signal.connect(heard.append)
    with qtbot.waitSignal(job.progressed):
        job.start()
    with qtbot.waitSignal(job.ended):
        job.cancel()
    assert closed == [True]
    assert heard == []


def test_a_function_that_reports_stops_where_it_reports(start: Callable[..., Job], qtbot: QtBot) -> None:
    def work(report: Callable[[float], None]) -> None:
        while True:
            report(0.1)
            time.sleep(0.001)

    job = start(work)
    with qtbot.waitSignal(job.progressed):
        job.start()
    with qtbot.waitSignal(job.ended):
        job.cancel()


def test_a_failure_is_handed_over(start: Callable[..., Job], qtbot: QtBot) -> None:
    job = start(lambda report: 1 / 0)
    with qtbot.waitSignal(job.failed) as caught:
        job.start()
    assert isinstance(caught.args[1], ZeroDivisionError)


def test_a_panic_of_a_library_is_handed_over_too(start: Callable[..., Job], qtbot: QtBot) -> None:
    class Panic(BaseException):
        pass

    def work(report: object) -> None:
        raise Panic

    job = start(work)
    with qtbot.waitSignal(job.failed) as caught:
        job.start()
    assert isinstance(caught.args[1], Panic)


def test_a_result_on_its_way_is_dropped_when_the_job_is_cancelled(
    start: Callable[..., Job], qtbot: QtBot
) -> None:
    done, heard = threading.Event(), []
    job = start(lambda report: done.set())
    job.succeeded.connect(heard.append)
    with qtbot.waitSignal(job.ended):
        job.start()
        done.wait()
        job.join()  # its result has been sent, and nothing was delivered yet
        job.cancel()
    assert heard == []


def test_a_job_that_has_ended_is_deleted(start: Callable[..., Job], qtbot: QtBot) -> None:
    job = start(lambda report: "done")
    with qtbot.waitSignal(job.destroyed):
        job.start()
    assert not job.is_alive()
    job.cancel()  # whoever still holds it may say so


def test_a_job_that_was_destroyed_while_it_worked_says_nothing(
    start: Callable[..., Job], qtbot: QtBot
) -> None:
    gate, heard, parent = threading.Event(), [], QObject()
    doomed = Job("a job", lambda report: gate.wait(), parent)
    doomed.succeeded.connect(heard.append)
    doomed.start()
    shiboken6.delete(parent)
    gate.set()
    doomed.join()
    later = start(lambda report: "done")
    with qtbot.waitSignal(later.succeeded):  # what the first has sent came before
        later.start()
    assert heard == []


def test_the_thread_does_not_keep_the_job(qapp: QCoreApplication) -> None:
    gate, destroyed = threading.Event(), []
    job = Job("a job", lambda report: gate.wait())
    job.destroyed.connect(lambda: destroyed.append(threading.get_ident()))
    job.start()
    thread = next(thread for thread in threading.enumerate() if thread.name == "a job")
    del job
    assert destroyed == [threading.get_ident()], "in the window's thread, while the work goes on"
    gate.set()
    thread.join()
