"""A line to type in that says when it has no room for a whole text."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget


class TextLine(QLineEdit):
    """Like any line, it takes `maxLength()` characters, and leaves out what comes after them: Qt without a
    word, this one with the signal `shortened` and the sentence about it.
    """

    shortened = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.inputRejected.connect(self._say_shortened)  # of what is typed or pasted

    def setText(self, text: str | None) -> None:
        """Put a text there."""
        super().setText(text)
        if len(self.text()) < len(text or ""):
            self._say_shortened()

    def _say_shortened(self) -> None:
        most = f"{self.maxLength():,} characters"
        self.shortened.emit(f"A text that is typed has at most {most}: open a longer one under Corpus.")
