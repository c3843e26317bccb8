import threading

import shiboken6
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from lmviz.app.workers.delivery import deliver_to


class Receiver(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.received: list[tuple[object, int]] = []

    def take(self, value: object) -> None:
        self.received.append((value, threading.get_ident()))


def in_a_thread(*calls: object) -> None:
    """Make the calls, one after the other, in another thread, and wait for it."""
    thread = threading.Thread(target=lambda: [send(value) for send, value in calls])
    thread.start()
    thread.join()


def test_values_arrive_in_the_thread_of_the_window_in_their_order(qtbot: QtBot) -> None:
    receiver = Receiver()
    send = deliver_to(receiver.take)
    in_a_thread(*((send, number) for number in range(100)))
    assert receiver.received == []
    qtbot.waitUntil(lambda: len(receiver.received) == 100)
    assert receiver.received == [(number, threading.get_ident()) for number in range(100)]


def test_what_comes_for_one_that_is_gone_is_dropped(qtbot: QtBot) -> None:
    first, deleted, last = Receiver(), Receiver(), Receiver()
    sends = [deliver_to(receiver.take) for receiver in (first, deleted, last)]
    del first  # nothing holds it any more
    shiboken6.delete(deleted)  # Qt has destroyed it, while Python still knows it
    in_a_thread(*((send, "late") for send in sends))
    qtbot.waitUntil(lambda: bool(last.received))
    assert deleted.received == []


def test_what_a_receiver_raises_leaves_the_others_their_values(qtbot: QtBot) -> None:
    class Failing(QObject):
        def take(self, value: object) -> None:
            raise ValueError(value)

    failing, receiver = Failing(), Receiver()
    with qtbot.captureExceptions() as caught:
        in_a_thread((deliver_to(failing.take), "bad"), (deliver_to(receiver.take), "good"))
        qtbot.waitUntil(lambda: bool(receiver.received))
    assert [kind for kind, _, _ in caught] == [ValueError]
