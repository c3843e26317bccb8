"""The sentence in the middle of an empty view, which says what to do."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.base.plain import Label


class EmptyText(Label):
    """`EmptyText(sentence="")`: `set_text(sentence)`, muted and wrapped."""

    def __init__(self, sentence: str = "", parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setProperty("role", "muted")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.set_text(sentence)

    def set_text(self, sentence: str) -> None:
        """Say something else."""
        self.setText(sentence)
