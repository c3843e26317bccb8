"""Buttons for some words, and a field to type another."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from lmviz.app.widgets.base.building import empty, named
from lmviz.app.widgets.base.flow import FlowLayout
from lmviz.app.widgets.base.plain import caption
from lmviz.text.tokenizer import visible

WIDEST = 150


class WordChoice(QWidget):
    """`WordChoice(edit_name)`: `offer(words)`; without words nothing can be typed either.

    Signal: `chosen(str)`, a word that was offered or what was typed.
    """

    chosen = Signal(str)

    def __init__(self, edit_name: str) -> None:
        super().__init__()
        self._row = FlowLayout(self)
        self._own = named(QLineEdit(), edit_name, "your own guess")
        self._own.setPlaceholderText("type your own…")
        self._own.setMaximumWidth(WIDEST)
        self._own.returnPressed.connect(lambda: self.chosen.emit(self._own.text()))
        self.offer(())

    @property
    def own(self) -> QLineEdit:
        """The line in which to type."""
        return self._own

    def offer(self, words: Sequence[str]) -> None:
        """Other words in place of those before."""
        self._row.removeWidget(self._own)
        empty(self._row)
        for word in words:
            button = QPushButton(caption(word.strip() or visible(word)))
            button.setProperty("guess", word)
            button.clicked.connect(lambda _=False, word=word: self.chosen.emit(word))
            self._row.addWidget(button)
        self._row.addWidget(self._own)
        self._own.setEnabled(bool(words))

    def clear(self) -> None:
        """Offer nothing, and forget what was typed."""
        self._own.clear()
        self.offer(())
