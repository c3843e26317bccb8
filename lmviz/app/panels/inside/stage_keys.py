"""The arrow keys of Inside belong to the stages and the words, also after a click into a picture."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def leave_arrow_keys(panel: QWidget, *pictures: QWidget) -> None:
    """Let a click give the focus to the panel, which has no use for arrow keys, and Tab to its pictures."""
    panel.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    for picture in pictures:
        picture.setFocusPolicy(Qt.FocusPolicy.TabFocus)
