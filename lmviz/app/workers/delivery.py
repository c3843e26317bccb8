"""Delivers values from threads to the window's thread, through the one Qt object that threads use.

A thread must never hold, call into or destroy a Qt object that can go away while the thread runs. So a
thread is given a plain function that holds its receiver weakly: the function puts the value into a queue
and emits a signal without arguments. The signal belongs to an object that lives as long as the application.
The receiver is looked up in the window's thread, and what comes for a destroyed one is dropped.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar
from weakref import WeakMethod

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from shiboken6 import isValid

T = TypeVar("T")


def deliver_to(receiver: Callable[[T], None]) -> Callable[[T], None]:
    """A function for any thread to call; the window's thread then calls `receiver` with the same value.

    `receiver` is a method, which this does not keep alive. Values arrive one in each turn of the event
    loop, in the order in which they were sent. Call `deliver_to` itself in the window's thread.
    """
    global _deliveries
    if _deliveries is None or not isValid(_deliveries):
        _deliveries = _Deliveries(QCoreApplication.instance())
    return _deliveries.to(WeakMethod(receiver))


class _Deliveries(QObject):
    """Values on their way, each with the method that will be called with it."""

    _sent = Signal()

    def __init__(self, application: QCoreApplication | None) -> None:
        super().__init__(application)
        self._waiting: deque[tuple[WeakMethod[Callable[[Any], None]], Any]] = deque()
        self._sent.connect(self._deliver_one, Qt.ConnectionType.QueuedConnection)

    def to(self, receiver: WeakMethod[Callable[[T], None]]) -> Callable[[T], None]:
        """The function for the thread."""

        def send(value: T) -> None:
            self._waiting.append((receiver, value))
            with contextlib.suppress(RuntimeError):  # the application has ended: there is no receiver
                self._sent.emit()

        return send

    def _deliver_one(self) -> None:
        weak_receiver, value = self._waiting.popleft()  # one signal was emitted for each value
        receiver = weak_receiver()
        if isinstance(receiver, MethodType) and isValid(receiver.__self__):
            receiver(value)


_deliveries: _Deliveries | None = None
