"""A placeholder: a sentence, and a button that starts what is missing."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.plain import caption


class Invitation(QWidget):
    """`Invitation(button_name)`: `invite(sentence, offer="")`; without an offer there is no button.

    Signal: `accepted()`.
    """

    accepted = Signal()

    def __init__(self, button_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sentence = EmptyText()
        self._sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._button = QPushButton()
        self._button.setObjectName(button_name)
        self._button.clicked.connect(self.accepted)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(14)
        column.addStretch(1)
        column.addWidget(self._sentence)
        column.addWidget(self._button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)

    @property
    def button(self) -> QPushButton:
        """The button, which is hidden where nothing is offered."""
        return self._button

    def text(self) -> str:
        """The sentence."""
        return self._sentence.text()

    def set_text(self, sentence: str) -> None:
        """Say something else, and offer what was offered."""
        self._sentence.set_text(sentence)

    def invite(self, sentence: str, offer: str = "") -> None:
        """Set the sentence and the label of the button."""
        self.set_text(sentence)
        self._sentence.set_leads_on(bool(offer))
        self._button.setVisible(bool(offer))
        self._button.setText(caption(offer))
