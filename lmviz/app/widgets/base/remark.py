"""What stands out in a picture, as a sentence above it, with a link to it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.building import row
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.plain import Label

MOST_LINES = 2


class Remark(QWidget):
    """`Remark(name, word="", description="")`: `say(sentence, is_elsewhere=False)`; signal `followed()`.

    Where what is said is elsewhere, a link of the `word` goes there, if there is one. What lies below does
    not move with each sentence: room once taken is kept, of one line at least, until the width changes.
    """

    followed = Signal()

    def __init__(self, name: str, word: str = "", description: str = "") -> None:
        super().__init__()
        self.setObjectName(name)
        self._said = Label(wraps=True)
        self._link = LinkButton(f"{name}_link", word, description)
        self._link.clicked.connect(self.followed)
        row((self._said, 1), self._link, on=self, gap=8)
        theme_switch().theme_changed.connect(self._begin_with_a_line)
        self._begin_with_a_line()
        self.say("")

    @property
    def sentence(self) -> str:
        """What is said; empty where nothing stands out."""
        return self._said.text()

    def say(self, sentence: str, is_elsewhere: bool = False) -> None:
        """Show a sentence, or none."""
        self._said.setText(sentence)
        self._link.setVisible(bool(self._link.text()) and is_elsewhere and bool(sentence))
        self._keep_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._begin_with_a_line()
            self._keep_room()

    def _begin_with_a_line(self) -> None:
        self._said.setMinimumHeight(self._said.fontMetrics().lineSpacing())

    def _keep_room(self) -> None:
        needed = self._said.heightForWidth(self._said.width()) if self.sentence else 0
        most = MOST_LINES * self._said.fontMetrics().lineSpacing()
        self._said.setMinimumHeight(max(self._said.minimumHeight(), min(needed, most)))
