"""The base of every part of a session: a QObject with signals, and one way to report errors."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Part(QObject):
    """One part of the session.

    A part gets the parts that it needs in its constructor. Its properties are read-only and its verbs
    change them; a signal without arguments follows each change. `failed` carries the sentence about a
    verb or a question that could not be done; the panel or strip that shows the part shows the sentence.
    `begun` comes before something is tried anew, or once it is about something else: what failed before is
    past then, and only then. Whoever gives itself to `Work` as the one that asks need not say either.
    """

    begun = Signal()
    failed = Signal(str)

    def begin_anew(self) -> None:
        """Say that what failed before is past."""
        self.begun.emit()

    def say_failed(self, sentence: str) -> None:
        """Say what could not be done."""
        self.failed.emit(sentence)
