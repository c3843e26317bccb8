"""A button that is only its words, such as the actions of a card."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton


class LinkButton(QPushButton):
    """`LinkButton(name, text, description)`: the description is for assistive tools."""

    def __init__(self, name: str, text: str, description: str) -> None:
        super().__init__(text)
        self.setObjectName(name)
        self.setAccessibleName(description)
        self.setProperty("role", "link")


if __name__ == "__main__":
    from lmviz.app.widgets.base.demo import show

    show("Actions", "", lambda: LinkButton("clear", "clear", "let go of all branches"), (120, 40))
