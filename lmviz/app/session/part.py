"""The base of every part of a session: a QObject with signals, and one way to report errors."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Part(QObject):
    """One part of the session.

    A part gets the parts that it needs in its constructor. Its properties are read-only and its verbs
    change them; a signal without arguments follows each change. `failed` carries the sentence about a
    verb or a question that could not be done; the panel or strip that shows the part shows the sentence.
    """

    failed = Signal(str)
