import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from pytestqt.qtbot import QtBot

from lmviz.app.workers.reading_worker import ReadingWorker
from lmviz.models.interruption import look_up


@pytest.fixture
def reader(qapp: QCoreApplication) -> Iterator[ReadingWorker]:
    reader = ReadingWorker()
    reader.start()
    yield reader
    reader.stop()
    reader.join()


class Heard:
    """Collects answers and failures."""

    def __init__(self, reader: ReadingWorker) -> None:
        self.reader = reader
        self.answers: list[object] = []
        self.faults: list[BaseException] = []

    def ask(self, key: str, work: object) -> None:
        self.reader.ask(key, work, self.answers.append, self.faults.append)


def test_the_newest_request_under_a_key_wins(reader: ReadingWorker, qtbot: QtBot) -> None:
    heard, gate, worked = Heard(reader), threading.Event(), []
    heard.ask("other", gate.wait)
    for number in range(20):
        heard.ask("prefix", lambda number=number: worked.append(number) or number)
    gate.set()
    qtbot.waitUntil(lambda: 19 in heard.answers)
    assert heard.answers == [True, 19]
    assert worked == [19], "what has been overtaken in the queue is not even begun"


def test_an_answer_that_was_overtaken_while_it_was_worked_on_never_arrives(
    reader: ReadingWorker, qtbot: QtBot
) -> None:
    heard, begun, gate = Heard(reader), threading.Event(), threading.Event()

    def stale() -> str:
        begun.set()
        gate.wait()
        return "stale"

    heard.ask("prefix", stale)
    begun.wait()
    heard.ask("prefix", lambda: "fresh")
    gate.set()
    heard.ask("after", lambda: "after")  # answered last, when a stale answer would have arrived
    qtbot.waitUntil(lambda: "after" in heard.answers)
    assert heard.answers == ["fresh", "after"]


def test_an_answer_already_on_its_way_is_dropped_when_the_key_is_silenced(
    reader: ReadingWorker, qtbot: QtBot
) -> None:
    heard, done = Heard(reader), threading.Event()
    heard.ask("a", lambda: "never")
    heard.ask("b", done.set)
    done.wait()  # both have been worked on, and nothing was delivered yet
    reader.silence("a")
    qtbot.waitUntil(lambda: bool(heard.answers))
    assert heard.answers == [None]


def test_a_newer_request_keeps_the_place_of_the_one_it_replaces(reader: ReadingWorker, qtbot: QtBot) -> None:
    heard, gate = Heard(reader), threading.Event()
    heard.ask("first", gate.wait)
    heard.ask("a", lambda: "a1")
    heard.ask("b", lambda: "b")
    heard.ask("a", lambda: "a2")
    gate.set()
    qtbot.waitUntil(lambda: len(heard.answers) == 3)
    assert heard.answers == [True, "a2", "b"], "whoever types fast must not starve the others"


def test_a_failure_reaches_whoever_asked_and_the_thread_goes_on(reader: ReadingWorker, qtbot: QtBot) -> None:
    heard = Heard(reader)
    heard.ask("a", lambda: 1 / 0)
    heard.ask("b", lambda: "fine")
    qtbot.waitUntil(lambda: bool(heard.answers))
    assert isinstance(heard.faults[0], ZeroDivisionError)
    assert heard.answers == ["fine"]


def test_answers_arrive_in_the_thread_of_the_window(reader: ReadingWorker, qtbot: QtBot) -> None:
    threads: list[int] = []
    reader.ask(
        "a", threading.get_ident, lambda worker: threads.extend((worker, threading.get_ident())), print
    )
    qtbot.waitUntil(lambda: bool(threads))
    assert threads[0] != threads[1] == threading.get_ident()


def test_after_stopping_the_work_in_hand_ends_and_nothing_is_answered(
    qapp: QCoreApplication, reader: ReadingWorker, qtbot: QtBot
) -> None:
    stopped, begun, gate, worked = ReadingWorker(), threading.Event(), threading.Event(), []
    stopped.start()
    heard = Heard(stopped)
    heard.ask("a", lambda: begun.set() or gate.wait())
    heard.ask("b", lambda: worked.append("never"))
    begun.wait()
    stopped.stop()
    assert stopped.is_alive(), "stopping itself does not wait"
    gate.set()
    stopped.join()
    later = Heard(reader)
    later.ask("later", lambda: "later")
    qtbot.waitUntil(lambda: bool(later.answers))  # what the stopped one has sent came before
    assert heard.answers == worked == []


def test_the_thread_holds_nothing_of_those_who_asked(reader: ReadingWorker, qtbot: QtBot) -> None:
    begun, gate = threading.Event(), threading.Event()
    destroyed: list[int] = []

    class Asking(QObject):
        def take(self, answer: object) -> None:
            raise AssertionError("it is gone")

    asking = Asking()
    asking.destroyed.connect(lambda: destroyed.append(threading.get_ident()))
    reader.ask("a", lambda: begun.set() or gate.wait(), asking.take, print)
    begun.wait()
    reader.silence("a")
    del asking
    assert destroyed == [threading.get_ident()], "in the window's thread, while the work goes on"
    gate.set()


class Panic(BaseException):
    """What the tokenizers' Rust raises: no Exception."""


def panic() -> None:
    raise Panic("index out of bounds")


def test_a_panic_reaches_whoever_asked_and_the_thread_goes_on(reader: ReadingWorker, qtbot: QtBot) -> None:
    heard = Heard(reader)
    heard.ask("a", panic)
    heard.ask("b", lambda: "fine")
    qtbot.waitUntil(lambda: bool(heard.answers))
    assert isinstance(heard.faults[0], Panic)


def test_work_that_nobody_waits_for_ends_where_it_looks_up(reader: ReadingWorker, qtbot: QtBot) -> None:
    heard, begun, ended = Heard(reader), threading.Event(), threading.Event()

    def endless() -> None:
        try:
            while True:
                look_up(0.25)
                begun.set()
        finally:
            ended.set()

    heard.ask("prefix", endless)
    begun.wait()
    assert reader.progress("prefix") == 0.25
    assert reader.progress("other") is None
    heard.ask("prefix", lambda: "newer")
    qtbot.waitUntil(lambda: heard.answers == ["newer"])
    assert ended.is_set()
    assert reader.progress("prefix") is None
    assert heard.faults == []


@pytest.mark.parametrize("leave", ["silence", "stop"])
def test_work_also_ends_when_it_is_silenced_or_the_reader_stops(reader: ReadingWorker, leave: str) -> None:
    heard, begun, ended = Heard(reader), threading.Event(), threading.Event()

    def endless() -> None:
        try:
            while True:
                look_up()
                begun.set()
        finally:
            ended.set()

    heard.ask("prefix", endless)
    begun.wait()
    reader.silence("prefix") if leave == "silence" else reader.stop()
    assert ended.wait(20)
