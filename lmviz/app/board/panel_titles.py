"""What a panel is called where something of it leaves the window, and the name of a file made from that."""

from __future__ import annotations

from lmviz.app.panels.panel import Panel


def title_of(panel: Panel) -> str:
    """What the panel's card says it is."""
    return panel.card.title if panel.card is not None else panel.objectName()


def file_name(title: str) -> str:
    """The words of a title, joined by dashes."""
    letters = "".join(letter if letter.isalnum() else " " for letter in title.lower())
    return "-".join(letters.split()) or "picture"
