"""A button that leaves the keyboard where it is when it is clicked."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton


class QuietButton(QPushButton):
    """`QuietButton(name, text, role, description)`: only the Tab key leads the keyboard to it.

    `role` is one of the style sheet's, such as "link" or "primary"; the description is for assistive tools.
    """

    def __init__(self, name: str, text: str = "", role: str = "", description: str = "") -> None:
        super().__init__(text)
        self.setObjectName(name)
        self.setProperty("role", role)
        self.setAccessibleName(description)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
