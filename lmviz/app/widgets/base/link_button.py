"""A button without a frame, such as the actions of a card."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton


class LinkButton(QPushButton):
    """`LinkButton(name, text, description)`: the description is for assistive tools."""

    def __init__(self, name: str, text: str, description: str) -> None:
        super().__init__(text)
        self.setObjectName(name)
        self.setAccessibleName(description)
        self.setProperty("role", "link")
